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
