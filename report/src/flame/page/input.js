// Choices, pointer and keys, and the start of the page.
const element = (tag, ...content) => { const made = document.createElement(tag); made.append(...content); return made; };
const isInTime = () => state.set.lanes.some(lane => lane.calls?.length);

function refresh() {
  paint();
  arrange();
  if (!other && state.view === 'sandwich') say('choose a function: click its row on the right');
  else say('');
  draw();
  if (state.up && !other && state.view !== 'rings') view.scrollTop = view.scrollHeight;
  else if (other) view.scrollTop = Math.max(0, rowsUp * ROW - view.clientHeight / 2);
  else view.scrollTop = 0;
  controls(); table(); detail(); search();
}
const say = text => { $('where').textContent = text || (state.zoom || tree && { ...tree } ? describe(state.zoom || tree) : ''); };

function controls() {
  const { set } = state;
  [...$('sets').children].forEach((tab, i) => tab.setAttribute('aria-selected', DATA.stacks[i] === set));
  [...$('views').children].forEach(it => { it.setAttribute('role', 'radio'); it.setAttribute('aria-checked', it.dataset.view === state.view); });
  $('measure').replaceChildren(...set.measures.flatMap((measure, k) => measure.width ? [new Option(measure.name, k, false, k === state.k)] : []));
  const lanes = [new Option(set.lanes.length > 1 ? `all ${set.lanes.length} threads` : set.lanes[0].name || 'not distinguished', -1, false, state.lane < 0)];
  if (set.lanes.length > 1) lanes.push(...set.lanes.map((lane, i) => new Option(lane.name, i, false, i === state.lane)));
  $('lane').replaceChildren(...lanes);
  $('lane').disabled = set.lanes.length < 2; $('measure').disabled = $('measure').options.length < 2;
  $('order').textContent = set.difference ? `widths: ${state.earlier ? 'earlier' : 'later'} o` : isTimed() ? 'order: time o' : 'order: heaviest o';
  $('order').disabled = !set.difference && (!isInTime() || state.view !== 'flame');
  $('order').title = isInTime() ? '' : 'the order of time is not recorded';
  $('way').textContent = state.up ? 'roots: below f' : 'roots: above f';
  $('way').disabled = !!other || state.view === 'rings';
  footer();
}
// The groups with the most own numbers have colours of their own.
function paint() {
  const sums = new Map();
  for (const [f, row] of rowsOf(state.set)) sums.set(groupOf(f), (sums.get(groupOf(f)) ?? 0) + row.own[state.k]);
  byGroup = [...sums].sort((a, b) => b[1] - a[1]).map(([group]) => group);
  colourOf = new Map(byGroup.slice(0, GROUPS.length - 1).map((group, i) => [group, i]));
}
function footer() {
  const { set } = state, order = byGroup, key = (colour, text) => { const mark = element('i'); mark.style.background = colour; return element('span', mark, text); };
  const keys = set.difference
    ? [key('#d55e00', 'more'), key('#0072b2', 'less'), key('#f0e442', '✚ new'), key('#eeeeee', 'the same'), element('span', 'the stronger, the larger the change of a frame with its callees; one run each, so times are not judged: metaspy blueprint evolution judges them')]
    : [...order.slice(0, GROUPS.length - 1).map((group, i) => key(GROUPS[i], group)), ...(order.length >= GROUPS.length ? [key(GROUPS.at(-1), `${order.length - GROUPS.length + 1} others`)] : [])];
  const folded = set.folded ? [`${grouped(set.folded)} smaller frames are folded into grey ones; the numbers of functions are of all frames`] : [];
  const hidden = set.hidden ? [`${grouped(set.hidden)} functions with less are not listed`] : [];
  const least = set.measures.some(measure => measure.least) ? ['≥: some are missing, so there may be more'] : [];
  const threads = set.lanes.length === 1 && !set.lanes[0].name ? ['threads are not distinguished here'] : [];
  $('footer').replaceChildren(element('div', ...keys), ...[set.about, ...folded, ...hidden, ...least, ...threads, ...set.notes].map(note => element('div', note)),
    ...DATA.absent.map(([name, why]) => element('div', `${name}: ${why}`)));
}

// A path that is longer than a line is broken between its parts.
const breakable = path => path.split(/(?<=::)/).flatMap((part, i) => i ? [element('wbr'), part] : [part]);
function table() {
  const { set, k, pattern } = state, rows = [...rowsOf(set)].filter(([f]) => !pattern || pattern.test(nameOf(f)));
  const keyOf = { total: row => row.total[k], own: row => row.own[k], change: row => Math.abs(row.total[k] - row.before.total[k]) };
  const columns = [['total', 'total'], ['self', 'own'], ...(set.difference ? [['change', 'change']] : [])];
  if (state.sort === 'change' && !set.difference) state.sort = 'own';
  rows.sort((a, b) => keyOf[state.sort](b[1]) - keyOf[state.sort](a[1]) || a[0] - b[0]);
  const head = element('tr', ...columns.map(([title, key]) => {
    const button = element('button', title + (state.sort === key ? ' ▾' : ''));
    button.onclick = () => { state.sort = key; table(); };
    return element('th', button);
  }), element('th', `function (${grouped(rows.length)})`));
  const most = 400, body = rows.slice(0, most).map(([f, row]) => {
    const cells = [amount(row.total[k]), amount(row.own[k]), ...(set.difference ? [change(row.total[k], row.before.total[k])] : [])];
    const line = element('tr', ...cells.map(cell => element('td', cell)), element('td', ...breakable(nameOf(f))));
    line.tabIndex = 0; line.dataset.f = f; line.title = DATA.functions[f][1];
    line.className = state.view === 'sandwich' && f === state.f ? 'here' : '';
    return line;
  });
  if (rows.length > most) body.push(element('tr', ...columns.map(() => element('td')), element('td', `${grouped(rows.length - most)} more: search`)));
  $('table').replaceChildren(element('thead', head), element('tbody', ...body));
}
function detail() {
  const node = state.here ?? state.zoom, f = node?.f ?? (state.view === 'sandwich' ? state.f : null);
  if (f == null || f < 0) return $('detail').replaceChildren();
  const row = rowsOf(state.set).get(f), place = DATA.functions[f][1];
  const numbers = !row ? [] : state.set.measures.map((measure, k) => measure.unit === 'count' && !measure.width
    ? `${amount(row.own[k], k)} ${measure.name}` : `${measure.name}: total ${amount(row.total[k], k)} (${percent(row.total[k], rootOf().total[k])}), self ${amount(row.own[k], k)} (${percent(row.own[k], rootOf().total[k])})`);
  const lines = state.set.name === 'samples' || state.set.name === 'subjects' ? DATA.lines[f] : null, made = [];
  if (lines) {
    const all = Math.max(...lines.map(([, samples]) => samples)), list = element('table');
    list.id = 'lines';
    for (const [line, samples, source] of lines) {
      const bar = element('span'); bar.className = 'bar'; bar.style.width = `${60 * samples / all}px`;
      list.append(element('tr', element('td', percent(samples, rootOf().total[0])), element('td', bar), element('td', String(line)), element('td', source)));
    }
    made.push(list);
  }
  const button = element('button', 'sandwich s'); button.onclick = () => openSandwich(f);
  $('detail').replaceChildren(element('h2', ...breakable(nameOf(f))), ...(place ? [element('p', place)] : []), ...numbers.map(text => element('p', text)), element('p', 'in all threads and stacks ', button), ...made);
  $('detail').children[place ? 1 : 0].className = place ? 'pale' : '';
}

function search() {
  if (!state.pattern) { $('found').textContent = ''; return; }
  // A frame below a frame that was found is counted there.
  let sum = 0, frames = 0; const found = new Set();
  const visit = [rootOf()];
  while (visit.length) {
    const node = visit.pop();
    if (node.f >= 0 && isFound(node)) { sum += node.total[state.k]; frames++; found.add(node.f); } else visit.push(...node.kids);
  }
  const functions = [...rowsOf(state.set).keys()].filter(f => state.pattern.test(nameOf(f)));
  $('found').textContent = `${percent(sum, whole())} in ${grouped(functions.length)} function${functions.length === 1 ? '' : 's'}`;
  $('found').title = state.set.edges || state.set.folded ? 'of the frames that are drawn' : '';
}
function openSandwich(f) { Object.assign(state, { view: 'sandwich', f }); location.hash = encodeURIComponent(nameOf(f)); refresh(); }
function zoomTo(node) {
  state.zoom = node && node.parent ? node : null;
  state.here = node; draw(); detail(); say(node ? describe(node) : '');
}
function move(node) {
  if (!node) return;
  state.here = node;
  if (!boxes.some(box => box.node === node)) state.zoom = node.parent;
  draw(); detail(); say(describe(node));
  const box = boxes.find(box => box.node === node);
  if (box && state.view !== 'rings' && (box.y < view.scrollTop || box.y + ROW > view.scrollTop + view.clientHeight)) view.scrollTop = box.y - view.clientHeight / 2;
}
function beside(node, by) {
  if (!node?.parent) return null;
  const kids = [...node.parent.kids].sort((a, b) => a.x - b.x), at = kids.indexOf(node) + by;
  return kids[at];
}
function choose(changes) {
  const set = state.set;
  Object.assign(state, changes);
  if (state.set !== set) {
    Object.assign(state, { k: state.set.measures.findIndex(measure => measure.width), lane: -1, time: false, earlier: false });
    if (state.view === 'sandwich' && !rowsOf(state.set).has(state.f)) state.f = null;
  }
  refresh();
}
const next = (list, now, by) => list[(list.indexOf(now) + by + list.length) % list.length];
const at = event => {
  const box = canvas.getBoundingClientRect(), place = [event.clientX - box.left, event.clientY - box.top];
  const [x, y] = state.view === 'rings' ? unrolled(...place) : place;
  return boxes.findLast(of => x >= of.x && x < of.x + Math.max(of.w, 1) && y >= of.y && y < of.y + ROW)?.node;
};
canvas.addEventListener('mousemove', event => { const node = at(event); if (node) say(describe(node)); });
canvas.addEventListener('mouseleave', () => say(state.here ? describe(state.here) : ''));
canvas.addEventListener('click', event => {
  const node = at(event);
  if (!node) return;
  // In a sandwich a click on a caller or callee makes it the middle.
  if (other && node.f >= 0 && node.f !== state.f) openSandwich(node.f); else zoomTo(node);
});
canvas.addEventListener('dblclick', event => { const node = at(event); if (node?.f >= 0) openSandwich(node.f); });
$('table').addEventListener('click', event => { const row = event.target.closest('tr[data-f]'); if (row) openSandwich(+row.dataset.f); });
$('table').addEventListener('keydown', event => { const row = event.target.closest('tr[data-f]'); if (row && event.key === 'Enter') { event.stopPropagation(); openSandwich(+row.dataset.f); } });
$('views').addEventListener('click', event => { const kind = event.target.dataset.view; if (kind) choose({ view: kind, f: kind === 'sandwich' ? state.here?.f >= 0 ? state.here.f : state.f : state.f }); });
$('measure').onchange = event => choose({ k: +event.target.value });
$('lane').onchange = event => choose({ lane: +event.target.value });
const turnOrder = () => { if (!$('order').disabled) choose(state.set.difference ? { earlier: !state.earlier } : { time: !state.time }); };
$('order').onclick = turnOrder;
$('way').onclick = () => choose({ up: !state.up });
function reset() { $('search').value = ''; Object.assign(state, { pattern: null, view: 'flame', f: null }); history.replaceState(null, '', location.pathname); refresh(); }
$('reset').onclick = reset;
function theme() {
  const root = document.documentElement, isDark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = isDark ? 'light' : 'dark'; draw();
}
$('theme').onclick = theme;
function help() { $('keys').hidden = !$('keys').hidden; $('help').setAttribute('aria-expanded', !$('keys').hidden); draw(); }
$('help').onclick = help;
$('search').addEventListener('input', event => {
  const text = event.target.value;
  // What is no regular expression is searched as it is.
  try { state.pattern = text ? new RegExp(text, 'i') : null; } catch { state.pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i'); }
  draw(); table(); search();
});
const KEYS = [
  ['/', 'search', () => $('search').focus()], ['n', 'the next match', () => walk(1)], ['N', 'the one before', () => walk(-1)],
  ['0', 'everything as at the start', reset], ['Escape', 'one step out', () => stepOut()],
  ['ArrowUp', 'the frame above', () => move(state.up && !other ? kidOf() : state.here?.parent ?? tree)], ['ArrowDown', 'the frame below', () => move(state.up && !other ? state.here?.parent ?? tree : kidOf())],
  ['ArrowLeft', 'the frame to the left', () => move(beside(state.here, -1))], ['ArrowRight', 'the frame to the right', () => move(beside(state.here, 1))],
  ['Enter', 'zoom to the frame', () => state.here && zoomTo(state.here)], ['s', 'sandwich of the frame', () => { const f = state.here?.f ?? state.f; if (f >= 0 && f != null) openSandwich(f); }],
  ['i', 'inverted, and back', () => choose({ view: state.view === 'inverted' ? 'flame' : 'inverted' })], ['f', 'roots above or below', () => $('way').disabled || choose({ up: !state.up })],
  ['r', 'rings, and back', () => choose({ view: state.view === 'rings' ? 'flame' : 'rings' })],
  ['o', 'heaviest first or in time; widths of a difference', turnOrder], ['m', 'the next measure', () => choose({ k: next(state.set.measures.flatMap((measure, k) => measure.width ? [k] : []), state.k, 1) })],
  ['[', 'the thread before', () => choose({ lane: next([-1, ...state.set.lanes.keys()], state.lane, -1) })], [']', 'the next thread', () => choose({ lane: next([-1, ...state.set.lanes.keys()], state.lane, 1) })],
  ['p', 'the next stacks', () => choose({ set: next(DATA.stacks, state.set, 1) })], ['t', 'light or dark', theme], ['?', 'the keys', help],
];
const kidOf = () => state.here ? [...state.here.kids].sort((a, b) => b.w - a.w)[0] : tree;
function stepOut() {
  if (state.zoom) zoomTo(state.zoom.parent?.parent ? state.zoom.parent : null);
  else if (state.view === 'sandwich') choose({ view: 'flame' });
  else { state.here = null; draw(); detail(); say(''); }
}
function walk(by) {
  const found = boxes.map(box => box.node).filter(node => node.f >= 0 && state.pattern && isFound(node)).sort((a, b) => b.w - a.w);
  if (found.length) move(next(found, state.here, by));
}
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
  if (event.target === $('search')) { if (event.key === 'Escape' || event.key === 'Enter') canvas.focus(); return; }
  if (event.key === 'Enter' && event.target.tagName === 'BUTTON') return;
  const known = KEYS.find(([key]) => key === event.key);
  if (known) { event.preventDefault(); known[2](); }
});
addEventListener('resize', draw);
for (const setting of ['(prefers-contrast:more)', '(prefers-color-scheme:dark)']) matchMedia(setting).addEventListener('change', draw);
addEventListener('beforeprint', () => { state.print = true; draw(); });
addEventListener('afterprint', () => { state.print = false; draw(); });
addEventListener('hashchange', () => find(decodeURIComponent(location.hash.slice(1))));
// The sandwich of a function that the address names.
function find(name) {
  if (!name || state.view === 'sandwich' && state.f != null && nameOf(state.f) === name) return;
  const ends = f => DATA.functions[f][0] === name || DATA.functions[f][0].endsWith(`::${name}`);
  for (const set of [state.set, ...DATA.stacks]) {
    const f = [...rowsOf(set).keys()].find(ends);
    if (f != null) { if (set !== state.set) choose({ set }); openSandwich(f); return; }
  }
}

$('title').textContent = document.title = DATA.title;
$('keys').replaceChildren(...KEYS.map(([key, text]) => element('div', element('kbd', key), ` ${text}`)));
$('sets').replaceChildren(...DATA.stacks.map((set, i) => { const tab = element('button', set.name); tab.setAttribute('role', 'tab'); tab.onclick = () => choose({ set: DATA.stacks[i] }); return tab; }));
state.set = DATA.stacks[0];
state.k = state.set.measures.findIndex(measure => measure.width);
refresh();
find(decodeURIComponent(location.hash.slice(1)));
