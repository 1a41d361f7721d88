'use strict';
for (const table of document.querySelectorAll('table.sort')) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const value = (row, at) => {
    const cell = row.cells[at];
    const text = (cell.dataset.value || cell.textContent).trim();
    const number = parseFloat(text.replace(/[,<> ]/g, ''));
    return /^[<>]?\s*[-.\d]/.test(text) && Number.isFinite(number) ? number : text;
  };
  const compare = (x, y) => {
    if (typeof x === 'number' && typeof y === 'number') return x - y;
    if (typeof x !== typeof y) return typeof x === 'number' ? 1 : -1;
    return x.localeCompare(y);
  };
  const headings = Array.from(table.tHead.rows[0].cells);
  const names = headings.map((heading) => heading.textContent.trim());
  rows.forEach((row) => Array.from(row.cells).forEach((cell, at) => { cell.dataset.label = names[at]; }));
  table.classList.add('cards');
  if (rows.length > 1) headings.forEach((heading, at) => {
    if (!heading.textContent.trim()) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener('click', () => {
      const down = heading.getAttribute('aria-sort') !== 'descending';
      headings.forEach((other) => other.removeAttribute('aria-sort'));
      heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const keyed = rows.map((row) => [value(row, at), row]);
      keyed.sort((x, y) => (down ? compare(y[0], x[0]) : compare(x[0], y[0])));
      body.append(...keyed.map(([, row]) => row));
    });
  });
  if (rows.length > 12) {
    const box = table.closest('.scroll');
    const label = document.createElement('label');
    const input = document.createElement('input');
    label.className = 'filter';
    input.type = 'search';
    label.append('Filter: ', input);
    box.prepend(label);
    input.addEventListener('input', () => {
      const word = input.value.toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(word); });
    });
  }
}
const browse = document.querySelector('.browse');
if (browse) {
  const cards = Array.from(browse.children);
  const wrong = new Set();
  const seen = new Set();
  let at = 0;
  const make = (name, text) => { const one = document.createElement(name); one.textContent = text; return one; };
  const steps = make('div', '');
  steps.className = 'steps';
  const button = (text, act) => {
    const one = make('button', text);
    one.type = 'button';
    one.addEventListener('click', act);
    steps.append(one);
    return one;
  };
  const pairs = (isWrong) => cards.filter((card) => card.dataset.a && seen.has(card) && wrong.has(card) === isWrong);
  const save = (isWrong) => {
    const field = (text) => '"' + text.replace(/"/g, '""') + '"';
    const lines = pairs(isWrong).map((card) => field(card.dataset.a) + ',' + field(card.dataset.b));
    const link = make('a', '');
    link.href = URL.createObjectURL(new Blob(['id_a,id_b\n', ...lines.map((line) => line + '\n')], {type: 'text/csv'}));
    link.download = isWrong ? 'wrong.csv' : 'labels.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const previous = button('Previous (k)', () => show(at - 1));
  const next = button('Next (j)', () => show(at + 1));
  const place = make('span', '');
  const tick = document.createElement('input');
  tick.type = 'checkbox';
  const label = make('label', '');
  label.append(tick, ' looks wrong');
  steps.append(place, label);
  const right = button('', () => save(false));
  const other = button('', () => save(true));
  const show = (to) => {
    at = Math.min(Math.max(to, 0), cards.length - 1);
    cards[at].open = true;
    browse.replaceChildren(steps, cards[at]);
    seen.add(cards[at]);
    update();
  };
  const update = () => {
    const card = cards[at];
    tick.checked = wrong.has(card);
    tick.disabled = !card.dataset.a;
    previous.disabled = at === 0;
    next.disabled = at === cards.length - 1;
    place.textContent = (at + 1) + ' of ' + cards.length;
    for (const [one, isWrong, name] of [[right, false, 'labels.csv'], [other, true, 'wrong.csv']]) {
      const count = pairs(isWrong).length;
      one.textContent = 'Save ' + count + (isWrong ? ' wrong as ' : ' correct as ') + name;
      one.disabled = count === 0;
    }
  };
  tick.addEventListener('change', () => {
    if (tick.checked) wrong.add(cards[at]); else wrong.delete(cards[at]);
    update();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest && event.target.closest('input[type=search], textarea, select');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'j') show(at + 1);
    if (event.key === 'k') show(at - 1);
  });
  show(0);
}
