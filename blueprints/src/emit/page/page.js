'use strict';
// The data, and the elements of the page.
const D = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const view = $('view'), popup = $('popup'), panel = $('panel'), menu = $('menu');
const [NAME, OWNER, RUNS, TOTAL, OWN, RECEIVERS, RETURNS, TESTS, LINES, FILE, LINE] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const esc = s => String(s).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const num = n => n.toLocaleString('en-US');
const time = ns => ns == null ? 'n/a' : ns < 1e3 ? ns + ' ns' : ns < 1e6 ? (ns / 1e3).toFixed(2) + ' µs'
  : ns < 1e9 ? (ns / 1e6).toFixed(2) + ' ms' : (ns / 1e9).toFixed(2) + ' s';
const owner = m => D.owners[D.methods[m][OWNER]];
const short = m => { const [, type] = owner(m), name = D.methods[m][NAME]; return type === 'fn' ? name : `${type}::${name}`; };
const path = m => [owner(m)[0], short(m)].filter(Boolean).join('::');

// Callers and callees of each method, and the box of each method.
const callers = D.methods.map(() => []), callees = D.methods.map(() => []), box = new Array(D.methods.length);
for (const [from, to, count, ns] of D.calls) { callees[from].push([to, count, ns]); callers[to].push([from, count, ns]); }
for (const list of [...callers, ...callees]) list.sort((a, b) => b[1] - a[1]);
D.nodes.forEach((n, at) => n[5].forEach(m => box[m] = at));
const byTime = D.nodes.map((_, at) => at).filter(at => D.nodes[at][5].length)
  .sort((a, b) => weight(b) - weight(a));
function weight(at) { const m = D.methods[D.nodes[at][5][0]]; return m[TOTAL] ?? m[RUNS]; }

// The picture: one string.
function draw() {
  const out = [`<svg role="img" xmlns="http://www.w3.org/2000/svg">${$('defs').innerHTML}<g id="all">`];
  for (const [x, y, w, h, kind, label, name] of D.frames)
    out.push(`<g class="fg"><title>${esc(name)}</title><rect class="f ${kind}" x="${x}" y="${y}" width="${w}" height="${h}"/>`,
      `<text class="ft" x="${x + 3}" y="${y + 9}">${esc(label)}</text></g>`);
  D.edges.forEach(([from, to, , kind], at) => {
    const [x, y, w, h] = D.nodes[from], [tx, ty, tw, th] = D.nodes[to];
    const a = x + w / 2, b = y + h, c = tx + tw / 2;
    const d = kind === 'tree' ? `M${a} ${b}L${c} ${ty}` : kind === 'cross' ? `M${a} ${b}C${a} ${b + 30} ${c} ${ty - 30} ${c} ${ty}`
      : `M${x + w} ${y + h / 2}C${x + w + 60} ${y + h / 2} ${tx + tw + 60} ${ty + th / 2} ${tx + tw} ${ty + th / 2}`;
    out.push(`<path class="e ${kind}" data-e="${at}" d="${d}"/>`);
  });
  D.nodes.forEach(([x, y, w, h, fill, , own, label], at) => {
    out.push(`<g class="n" data-n="${at}"><rect class="b ${fill}" x="${x}" y="${y}" width="${w}" height="${h}"/>`);
    if (own) out.push(`<rect class="own" x="${x}" y="${y + h - own}" width="2.5" height="${own}"/>`);
    if (label) out.push(`<text x="${x + w + 2}" y="${y + Math.min(h, 10) / 2 + 3}">${esc(label)}</text>`);
    out.push('</g>');
  });
  out.push('</g></svg>');
  view.innerHTML = out.join('');
}
draw();
const svg = view.firstElementChild, all = $('all'), boxes = [...all.querySelectorAll('.n')], lines = [...all.querySelectorAll('.e')];

// Zoom and pan.
let zoom = 1, left = 0, top_ = 0;
function place() { all.setAttribute('transform', `translate(${left} ${top_}) scale(${zoom})`); }
function fit() {
  const { width, height } = view.getBoundingClientRect(), [w, h] = D.size;
  zoom = Math.min((width - 24) / w, (height - 24) / h, 2);
  left = (width - w * zoom) / 2; top_ = Math.max(12, (height - h * zoom) / 2); place();
}
function zoomAt(x, y, by) {
  const next = Math.min(40, Math.max(.02, zoom * by)), k = next / zoom;
  left = x - (x - left) * k; top_ = y - (y - top_) * k; zoom = next; place();
}
view.addEventListener('wheel', e => {
  e.preventDefault();
  const r = view.getBoundingClientRect();
  zoomAt(e.clientX - r.left, e.clientY - r.top, Math.exp(-e.deltaY * .0015));
}, { passive: false });
let drag = null;
view.addEventListener('pointerdown', e => { if (e.button === 0) drag = { x: e.clientX, y: e.clientY, moved: false }; menu.hidden = true; });
addEventListener('pointermove', e => {
  if (!drag) return;
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  // A press that moved four pixels is no click.
  if (!drag.moved && Math.hypot(dx, dy) < 4) return;
  drag = { x: e.clientX, y: e.clientY, moved: true };
  left += dx; top_ += dy; place(); popup.hidden = true;
});
addEventListener('pointerup', e => {
  const was = drag; drag = null;
  if (was && !was.moved && e.button === 0) { const at = nodeOf(e.target); at == null ? focus(null) : focus(at); }
});

// What is known of a box.
const nodeOf = el => { const g = el?.closest?.('[data-n]'); return g ? +g.dataset.n : null; };
function neighbours(at) {
  const inside = new Set(D.nodes[at][5]), up = new Set(), down = new Set();
  for (const m of inside) {
    for (const [c] of callers[m]) if (!inside.has(c) && box[c] != null) up.add(box[c]);
    for (const [c] of callees[m]) if (!inside.has(c) && box[c] != null) down.add(box[c]);
  }
  return [up, down];
}
function describe(at) {
  const methods = D.nodes[at][5];
  if (!methods.length) return 'the whole program';
  const m = methods[0], d = D.methods[m];
  const out = [path(m), `${num(d[RUNS])} executions, ${d[RECEIVERS]} receivers`];
  if (d[TOTAL] != null) out.push(`total ${time(d[TOTAL])}, own ${time(d[OWN])}, ${time(Math.round(d[TOTAL] / Math.max(1, d[RUNS])))} a call`);
  if (d[RETURNS]) out.push(`returns: ${{ constant: 'always the same value for each receiver', self: 'its receiver', unit: 'nothing', varies: 'different values', 'not-comparable': 'values that cannot be compared' }[d[RETURNS]]}`);
  if (d[TESTS]) out.push(`in ${num(d[TESTS])} test${d[TESTS] === 1 ? '' : 's'}`);
  if (d[RUNS] === 0) out.push('never ran');
  const same = callees[m].filter(([c]) => d[RUNS] > 1 && D.methods[c][RUNS] === d[RUNS]).map(([c]) => short(c));
  if (same.length) out.push(`1:1 with ${same.slice(0, 4).join(', ')}${same.length > 4 ? ` and ${same.length - 4} more` : ''}`);
  if (methods.length > 1) out.push(`stands for ${methods.slice(1, 12).map(short).join(', ')}${methods.length > 12 ? ', …' : ''}`);
  out.push(`${d[LINES]} lines, ${D.files[d[FILE]]}:${d[LINE]}`);
  return out.join('\n');
}

// Marks a box with its callers and callees.
let focused = null;
function mark(at) {
  for (const el of all.querySelectorAll('.on,.here,.caller,.callee')) el.classList.remove('on', 'here', 'caller', 'callee', 'in', 'out');
  svg.classList.toggle('dim', at != null);
  if (at == null) return;
  const [up, down] = neighbours(at);
  boxes[at].classList.add('on', 'here');
  up.forEach(n => boxes[n].classList.add('on', 'caller'));
  down.forEach(n => boxes[n].classList.add('on', 'callee'));
  D.edges.forEach(([from, to], e) => {
    if (from === at || to === at) lines[e].classList.add('on', from === at ? 'out' : 'in');
  });
}
view.addEventListener('pointerover', e => {
  const at = nodeOf(e.target);
  if (at == null || drag?.moved) { popup.hidden = true; if (!searching) mark(focused); return; }
  if (!searching) mark(at);
  popup.textContent = describe(at);
  popup.hidden = false;
});
view.addEventListener('pointermove', e => {
  const w = popup.offsetWidth, h = popup.offsetHeight;
  popup.style.left = Math.min(e.clientX + 14, innerWidth - w - 6) + 'px';
  popup.style.top = (e.clientY + 18 + h > innerHeight ? e.clientY - h - 10 : e.clientY + 18) + 'px';
});
view.addEventListener('pointerleave', () => { popup.hidden = true; if (!searching) mark(focused); });

// The panel: callers above, callees below. Each entry focuses in turn.
function rows(list) {
  return list.slice(0, 40).map(([m, count, ns]) =>
    `<tr data-n="${box[m] ?? ''}"><td class="n">${num(count)}×</td><td>${esc(short(m))}</td><td class="n">${ns ? time(ns) : ''}</td></tr>`).join('')
    + (list.length > 40 ? `<tr><td></td><td>${list.length - 40} more</td></tr>` : '');
}
function focus(at) {
  focused = at; mark(at); panel.hidden = at == null;
  history.replaceState(null, '', at == null || !D.nodes[at][5].length ? '#' : '#' + encodeURIComponent(short(D.nodes[at][5][0])));
  if (at == null) return;
  const m = D.nodes[at][5][0];
  panel.innerHTML = m == null ? '<h2>the whole program</h2>' : `<h2>callers</h2><table>${rows(callers[m])}</table>`
    + `<h2>${esc(path(m))}</h2><div style="white-space:pre-line">${esc(describe(at).split('\n').slice(1).join('\n'))}</div>`
    + `<h2>callees</h2><table>${rows(callees[m])}</table>`;
  reveal(at);
}
function reveal(at) {
  const [x, y, w, h] = D.nodes[at], { width, height } = view.getBoundingClientRect();
  const sx = x * zoom + left, sy = y * zoom + top_;
  if (sx < 0 || sy < 0 || sx + w * zoom > width || sy + Math.min(h * zoom, height) > height) {
    left = width / 2 - (x + w / 2) * zoom; top_ = height / 3 - y * zoom; place();
  }
}
panel.addEventListener('click', e => { const n = e.target.closest('tr')?.dataset.n; if (n) focus(+n); });

// The list: the same boxes as a table.
function list() {
  focused = null; mark(null); panel.hidden = false;
  panel.innerHTML = `<h2>${byTime.length} boxes</h2><table>${byTime.map(at => {
    const m = D.nodes[at][5][0], d = D.methods[m];
    return `<tr data-n="${at}"><td>${esc(short(m))}</td><td class="n">${num(d[RUNS])}×</td><td class="n">${d[TOTAL] == null ? '' : time(d[TOTAL])}</td></tr>`;
  }).join('')}</table>`;
}

// Search dims what does not match.
let searching = false;
const search = $('search');
search.addEventListener('input', () => {
  const text = search.value.trim().toLowerCase();
  searching = text !== '';
  mark(null);
  if (!searching) { $('found').textContent = ''; mark(focused); return; }
  svg.classList.add('dim');
  let count = 0;
  D.nodes.forEach((n, at) => {
    const is = n[5].some(m => path(m).toLowerCase().includes(text));
    boxes[at].classList.toggle('on', is);
    if (is) count++;
  });
  $('found').textContent = `${num(count)} found`;
});
search.addEventListener('keydown', e => {
  if (e.key === 'Enter') { const first = byTime.find(at => boxes[at].classList.contains('on')); if (first != null) { search.blur(); focus(first); } }
});

// Right click.
view.addEventListener('contextmenu', e => {
  const at = nodeOf(e.target);
  if (at == null || !D.nodes[at][5].length) return;
  e.preventDefault();
  const m = D.nodes[at][5][0], d = D.methods[m];
  const entries = [
    ['focus', () => focus(at)],
    ['copy: behavioural blueprint from here', () => copy(`metaspy blueprint behavioural ${D.title} --from '${path(m)}' --html from.html`)],
    ['copy: its events', () => copy(`metaspy open ${D.title}   # then: / site:${path(m)}`)],
    ['copy: file and line', () => copy(`${D.files[d[FILE]]}:${d[LINE]}`)],
    ['open in VS Code', () => location.href = `vscode://file/${D.files[d[FILE]]}:${d[LINE]}`],
  ];
  menu.innerHTML = entries.map(([text], i) => `<button data-i="${i}">${esc(text)}</button>`).join('');
  menu.onclick = ev => { const i = ev.target.dataset.i; if (i != null) entries[i][1](); menu.hidden = true; };
  menu.style.left = e.clientX + 'px'; menu.style.top = e.clientY + 'px'; menu.hidden = false;
});
function copy(text) { navigator.clipboard?.writeText(text); popup.textContent = `copied: ${text}`; popup.hidden = false; }

// Keys.
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === search) { if (e.key === 'Escape') { search.value = ''; search.dispatchEvent(new Event('input')); search.blur(); } return; }
  const step = 60, { width, height } = view.getBoundingClientRect();
  const walk = by => { const at = byTime.indexOf(focused); focus(byTime[(at + by + byTime.length) % byTime.length]); };
  const go = lists => { const m = focused == null ? null : D.nodes[focused][5][0]; const next = m == null ? null : lists[m].find(([c]) => box[c] != null && box[c] !== focused); if (next) focus(box[next[0]]); };
  const keys = {
    '/': () => search.focus(), Escape: () => { menu.hidden = true; popup.hidden = true; focus(null); }, 0: fit,
    '+': () => zoomAt(width / 2, height / 2, 1.25), '=': () => zoomAt(width / 2, height / 2, 1.25), '-': () => zoomAt(width / 2, height / 2, .8),
    n: () => walk(1), p: () => walk(-1), t: theme, l: list,
    ArrowUp: () => focused == null ? (top_ += step, place()) : go(callers), ArrowDown: () => focused == null ? (top_ -= step, place()) : go(callees),
    ArrowLeft: () => { left += step; place(); }, ArrowRight: () => { left -= step; place(); },
  };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
function theme() {
  const root = document.documentElement, isDark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = isDark ? 'light' : 'dark';
}
$('theme').onclick = theme; $('fit').onclick = fit; $('list').onclick = list;

// Legend and notes.
$('footer').innerHTML = D.legend.map(([size, fill, text], at) => (size
  ? `<svg width="${size[0]}" height="${Math.min(size[1], 22)}"><rect class="b ${fill}" width="${size[0]}" height="${Math.min(size[1], 22)}"/></svg>` : at ? ' · ' : '') + esc(text)).join('')
  + '<br>' + D.notes.map(esc).join('; ') + '<br>/ search · n p by time · ↑ ↓ caller, callee · l list · t theme · 0 fit · + − zoom · right click: more';
fit();
addEventListener('resize', () => focused == null && fit());
const wanted = decodeURIComponent(location.hash.slice(1));
if (wanted) { const m = D.methods.findIndex((_, m) => short(m) === wanted || path(m) === wanted); if (m >= 0 && box[m] != null) focus(box[m]); }
