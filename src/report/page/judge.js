const browse = document.querySelector('.browse');
if (browse) {
  // The cards come with the most doubtful removal first.
  const cards = Array.from(browse.children);
  const facets = JSON.parse(browse.dataset.facets);
  const removals = Number(browse.dataset.removals);
  const store = 'dupsift labels ' + browse.dataset.run;
  const keys = new Map(cards.map((card) => [card, card.dataset.ids && JSON.stringify(JSON.parse(card.dataset.ids))]));
  const groups = new Map(cards.map((card) => [card, card.dataset.groups.split(',')]));
  const texts = new Map();
  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };

  // The labels by pair of ids. Labels of pairs that are not on the page come from an imported file and are exported again.
  let labels = new Map();
  let kept = true;
  const save = () => {
    try {
      localStorage.setItem(store, JSON.stringify(Array.from(labels)));
    } catch {
      kept = false;
    }
  };
  try {
    labels = new Map(JSON.parse(localStorage.getItem(store) || '[]'));
  } catch {
    kept = false;
  }
  save();

  const make = (name, text, parent) => {
    const one = document.createElement(name);
    one.textContent = text;
    if (parent) parent.append(one);
    return one;
  };
  const button = (text, parent, act) => {
    const one = make('button', text, parent);
    one.type = 'button';
    one.addEventListener('click', act);
    return one;
  };
  const labeled = (text, name) => {
    const label = make('label', text + ' ', tools);
    return make(name, '', label);
  };
  const tools = make('div', '');
  const steps = make('div', '');
  tools.className = steps.className = 'steps';
  const slot = make('div', '');
  const told = make('p', '');
  told.setAttribute('role', 'status');
  const files = make('div', '');
  files.className = 'steps';
  browse.replaceChildren(tools, steps, slot, told, files);

  let list = cards;
  let at = 0;
  const order = labeled('order', 'select');
  for (const name of ['most doubtful first', 'by chance']) make('option', name, order);
  const selects = facets.map((facet) => labeled(facet.name, 'select'));
  const search = labeled('search', 'input');
  search.type = 'search';
  const matches = (card, except) => selects.every((select, place) =>
    place === except || !select.value || groups.get(card)[place] === select.value)
    && textOf(card).includes(search.value.toLowerCase());
  const choose = () => {
    const ranked = order.selectedIndex === 0 ? cards : Array.from(cards).sort((x, y) => x.dataset.rank - y.dataset.rank);
    list = ranked.filter((card) => matches(card, -1));
    facets.forEach((facet, place) => {
      const others = cards.filter((card) => matches(card, place));
      const options = facet.groups.map((name, group) =>
        [String(group), name, others.filter((card) => groups.get(card)[place] === String(group)).length]);
      const value = selects[place].value;
      selects[place].replaceChildren(...[['', 'all', others.length], ...options].map(([group, name, count]) => {
        const option = make('option', name + ' (' + count + ')');
        option.value = group;
        return option;
      }));
      selects[place].value = value;
    });
    show(0);
  };
  for (const select of [order, ...selects]) select.addEventListener('change', choose);
  search.addEventListener('input', choose);

  const previous = button('Previous (k)', steps, () => show(at - 1));
  const next = button('Next (j)', steps, () => show(at + 1));
  const place = make('span', '', steps);
  const verdicts = [['right', 'y'], ['wrong', 'n'], ['unsure', 'u']].map(([label, key]) => {
    const one = button(label[0].toUpperCase() + label.slice(1) + ' (' + key + ')', steps, () => judge(label));
    return [label, key, one];
  });
  const show = (to) => {
    at = Math.min(Math.max(to, 0), list.length - 1);
    const card = list[at];
    if (card) {
      card.open = true;
      slot.replaceChildren(card);
    } else {
      at = 0;
      slot.replaceChildren(make('p', 'No removal matches.'));
    }
    update();
  };
  const judge = (label) => {
    const key = keys.get(list[at]);
    if (!key) return;
    let to = at;
    if (labels.get(key) === label) {
      labels.delete(key);
    } else {
      labels.set(key, label);
      const open = (card) => keys.get(card) && !labels.has(keys.get(card));
      const after = list.findIndex((card, place) => place > at && open(card));
      const any = after >= 0 ? after : list.findIndex(open);
      if (any >= 0) to = any;
    }
    save();
    show(to);
  };

  // Wilson's interval for a share, corrected for a finite population, as `dupsift evaluate` computes it.
  const interval = (hits, seen) => {
    const value = hits / seen;
    if (seen >= removals) return [value, value];
    const z = 1.959963984540054;
    const count = seen * (removals - 1) / (removals - seen);
    const square = z * z / count;
    const scale = 1 / (1 + square);
    const middle = (value + square / 2) * scale;
    const half = z * scale * Math.sqrt(value * (1 - value) / count + square / (4 * count));
    return [
      Math.min(Math.max(middle - half, hits / removals), value),
      Math.max(Math.min(middle + half, 1 - (seen - hits) / removals), value),
    ];
  };
  const number = (value) => value.toLocaleString('en-US');
  const update = () => {
    const key = keys.get(list[at]);
    previous.disabled = at <= 0;
    next.disabled = at >= list.length - 1;
    place.textContent = (list.length && at + 1) + ' of ' + list.length;
    for (const [label, , one] of verdicts) {
      one.disabled = !key;
      one.setAttribute('aria-pressed', String(Boolean(key) && labels.get(key) === label));
    }
    const judged = cards.filter((card) => labels.has(keys.get(card)));
    const count = (label) => judged.filter((card) => labels.get(keys.get(card)) === label).length;
    const [right, wrong, unsure] = ['right', 'wrong', 'unsure'].map(count);
    const others = labels.size - new Set(judged.map((card) => keys.get(card))).size;
    const parts = [];
    if (right + wrong === 0) {
      parts.push('Nothing is judged as right or wrong yet.');
    } else {
      const [low, high] = interval(right, right + wrong);
      parts.push(right + ' of ' + (right + wrong) + ' right: '
        + Math.floor(100 * low + 1e-9) + '% to ' + Math.ceil(100 * high - 1e-9) + '%.');
      const all = number(removals) + ' removed near-duplicates';
      if (right + wrong >= removals) {
        parts.push('These are all ' + all + '.');
      } else if (judged.every((card) => Number(card.dataset.rank) < judged.length)) {
        parts.push('This is the 95% interval for all ' + all + '.');
      } else {
        parts.push('The judged removals are no random choice. To estimate all ' + all
          + ', order them by chance, without a filter, and judge from the first one on.');
      }
    }
    if (unsure) parts.push(unsure + ' unsure.');
    if (others) parts.push(others + ' more labels are of pairs that are not on this page.');
    if (!kept) parts.push('This browser does not keep the labels: export them before you close the page.');
    told.textContent = parts.join(' ');
    out.textContent = 'Export ' + labels.size + ' as labels.csv';
    out.disabled = labels.size === 0;
  };

  const out = button('', files, () => {
    const field = (text) => '"' + text.replace(/"/g, '""') + '"';
    const lines = Array.from(labels, ([key, label]) => [...JSON.parse(key).map(field), label].join(',') + '\n');
    const link = make('a', '');
    link.href = URL.createObjectURL(new Blob(['id_a,id_b,label\n', ...lines], {type: 'text/csv'}));
    link.download = 'labels.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  });
  const rows = (text) => {
    const all = [];
    let row = [];
    for (const [whole, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/g)) {
      if (!whole && row.length === 0) break;
      row.push(quoted === undefined ? plain : quoted.replace(/""/g, '"'));
      if (end !== ',') {
        all.push(row);
        row = [];
      }
    }
    return all;
  };
  const words = {
    right: ['1', '1.0', 'true', 'yes', 'y', 'same', 'right', 'duplicate'],
    wrong: ['0', '0.0', 'false', 'no', 'n', 'different', 'wrong'],
    unsure: ['unsure'],
  };
  const bring = labeled('Import labels', 'input');
  files.append(bring.parentElement);
  bring.type = 'file';
  bring.accept = '.csv,text/csv';
  bring.addEventListener('change', async () => {
    if (!bring.files.length) return;
    const [header, ...lines] = rows((await bring.files[0].text()).replace(/^\uFEFF/, ''));
    const [a, b, label] = ['id_a', 'id_b', 'label'].map((name) => (header || []).indexOf(name));
    if (a < 0 || b < 0 || label < 0) {
      told.textContent = 'The file has no columns id_a, id_b and label.';
      return;
    }
    for (const line of lines) {
      const word = (line[label] || '').trim().toLowerCase();
      const name = Object.keys(words).find((one) => words[one].includes(word));
      if (name) labels.set(JSON.stringify([line[a], line[b]]), name);
    }
    bring.value = '';
    save();
    show(at);
  });

  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest && event.target.closest('input, textarea, select');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const verdict = verdicts.find(([, key]) => key === event.key);
    if (event.key === 'j') show(at + 1);
    else if (event.key === 'k') show(at - 1);
    else if (event.key === '/') search.focus();
    else if (verdict) judge(verdict[0]);
    else return;
    event.preventDefault();
    steps.scrollIntoView({block: 'nearest'});
  });
  choose();
}
