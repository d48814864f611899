// What is marked: the box under the pointer or in focus with its callers and callees, or what a search found.
const popup = $('popup'), search = $('search');
let focused = null, searching = false;

function neighbours(at) {
  const inside = new Set(methodsOf(at)), up = new Set(), down = new Set();
  for (const m of inside) {
    for (const [c] of callers[m]) if (!inside.has(c) && box[c] != null) up.add(box[c]);
    for (const [c] of callees[m]) if (!inside.has(c) && box[c] != null) down.add(box[c]);
  }
  return [up, down];
}
function clear() {
  for (const el of all.querySelectorAll('.on,.here,.caller,.callee')) el.classList.remove('on', 'here', 'caller', 'callee', 'in', 'out');
}
function mark(at) {
  clear();
  svg.classList.toggle('dim', at != null);
  if (at == null) return;
  const [up, down] = neighbours(at);
  boxes[at].classList.add('on', 'here');
  up.forEach(n => boxes[n].classList.add('on', 'caller'));
  down.forEach(n => boxes[n].classList.add('on', 'callee'));
  P.edges.forEach(([from, to], e) => {
    if (from === at || to === at) lines[e].classList.add('on', from === at ? 'out' : 'in');
  });
}
// Marks boxes and dims all others.
function only(places) {
  if (level) { chosen = 0; place(); }
  clear();
  svg.classList.add('dim');
  places.forEach(at => boxes[at].classList.add('on'));
}

// The panel: callers above, callees below. Each entry focuses in turn.
function rows(list, caller) {
  if (!list.length) return '<p class="pale">none that is drawn</p>';
  const sign = m => most(caller ?? m, 'own');
  return `<table>${list.slice(0, 40).map(([m, count, ns]) =>
    `<tr tabindex="0" data-n="${box[m] ?? ''}"><td class="n">${count ? sign(m) + times(count) : ''}</td><td>${esc(short(m))}</td><td class="n">${ns ? sign(m) + time(ns) : ''}</td></tr>`).join('')}</table>`
    + (list.length > 40 ? `<p class="pale">${list.length - 40} more</p>` : '');
}
function focus(at) {
  stated = null; findings.querySelectorAll('[aria-pressed=true]').forEach(button => button.setAttribute('aria-pressed', false));
  focused = at; mark(at); openPanel(at != null);
  const m = at == null ? null : methodsOf(at)[0];
  history.replaceState(null, '', m == null ? location.pathname + location.search : '#' + encodeURIComponent(short(m)));
  if (at == null) return;
  panel.innerHTML = m == null ? '<h2>the whole program</h2>' : `<h3>callers</h3>${rows(callers[m])}`
    + `<div class="here"><h2>${esc(path(m))}</h2><div class="lines">${esc(describe(at).split('\n').slice(1).join('\n'))}</div></div>`
    + `<h3>callees${methodsOf(at).length > 1 ? ` of ${esc(short(methodsOf(at).at(-1)))}` : ''}</h3>${rows(callees[methodsOf(at).at(-1)], methodsOf(at).at(-1))}`;
  reveal(at);
}

// The lists: what a reader looks for, and the boxes as a table.
function lists() {
  focused = null; mark(null); openPanel(true);
  const row = (at, text, name) => at == null ? `<tr><td colspan="2">${esc(text)}</td></tr>` : `<tr tabindex="0" data-n="${at}"><td>${esc(name ?? nameOf(at))}</td><td class="n">${esc(text)}</td></tr>`;
  const found = P.lists.map(([title, rows], i) => `<h2>${esc(title)} <button data-all="${i}">mark all ${num(rows.length)}</button></h2>`
    + `<table>${rows.slice(0, 12).map(([at, text]) => row(at, text)).join('')}</table>${rows.length > 12 ? `<p class="pale">${rows.length - 12} more</p>` : ''}`);
  const numbers = d => `${times(d[RUNS])}${d[TOTAL] == null || !d[RUNS] ? '' : ' ' + time(d[TOTAL])}`;
  const numbered = m => most(m, 'calls') + numbers(D.methods[m]).replace(' ', ' ' + most(m, 'total'));
  // All methods of a chain, not the first alone.
  const drawn = P.nodes.flatMap(n => n[5]).sort((a, b) => amount(b) - amount(a));
  panel.innerHTML = found.join('') + `<h2>${plural(drawn.length, P.of_methods ? 'method' : 'box').replace('boxs', 'boxes')}${drawn.some(m => D.methods[m][TOTAL] != null) ? ` by ${amountWord()}` : ''}</h2>`
    + `<table>${drawn.slice(0, 400).map(m => row(box[m], numbered(m), short(m))).join('')}</table>`
    + (drawn.length > 400 ? `<p class="pale">${num(drawn.length - 400)} more: search finds them</p>` : '');
}
panel.addEventListener('click', e => {
  const all_ = e.target.closest('[data-all]'), n = e.target.closest('tr')?.dataset.n;
  if (all_) only(P.lists[all_.dataset.all][1].map(([at]) => at).filter(at => at != null));
  else if (n) focus(+n);
});
panel.addEventListener('keydown', e => {
  if (e.key === 'Enter') { e.target.click(); e.stopPropagation(); }
});

// Search dims what does not match.
search.addEventListener('input', () => {
  const text = search.value.trim().toLowerCase();
  searching = text !== '';
  $('found').textContent = '';
  if (!searching) { mark(focused); return; }
  const found = P.nodes.map((_, at) => at).filter(at => methodsOf(at).some(m => path(m).toLowerCase().includes(text)));
  only(found);
  $('found').textContent = `${num(found.length)} found`;
});
function leaveSearch() { search.value = ''; searching = false; $('found').textContent = ''; }
search.addEventListener('keydown', e => {
  if (e.key !== 'Enter') return;
  const first = byTime.find(at => boxes[at].classList.contains('on'));
  if (first != null) { leaveSearch(); view.focus(); focus(first); }
});
