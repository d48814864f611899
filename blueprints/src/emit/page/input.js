// Pointer and keys, and the start of the page.
const menu = $('menu');
const nodeOf = el => { const g = el?.closest?.('[data-n]'); return g ? +g.dataset.n : null; };
const frameOf = el => { const g = el?.closest?.('[data-f]'); return g ? +g.dataset.f : null; };
let drag = null, shown = -1;

view.addEventListener('wheel', e => {
  e.preventDefault();
  const r = view.getBoundingClientRect();
  zoomAt(e.clientX - r.left, e.clientY - r.top, Math.exp(-e.deltaY * .0015));
}, { passive: false });
view.addEventListener('pointerdown', e => { if (e.button === 0) drag = { x: e.clientX, y: e.clientY, moved: false }; menu.hidden = true; });
addEventListener('pointermove', e => {
  if (!drag) return;
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  // A press that moved less than four pixels is a click.
  if (!drag.moved && Math.hypot(dx, dy) < 4) return;
  drag = { x: e.clientX, y: e.clientY, moved: true };
  left += dx; top_ += dy; fitted = false; place(); popup.hidden = true;
});
addEventListener('pointerup', e => {
  const was = drag; drag = null;
  const cover = level ? frameOf(e.target) : null;
  if (was && !was.moved && e.button === 0) { leaveSearch(); if (cover == null) focus(nodeOf(e.target)); else zoomTo(cover); }
});
// Marks again what was marked before the pointer was over a box.
const remark = () => stated == null ? mark(focused) : only(P.findings.first[stated][4]);
view.addEventListener('pointerover', e => {
  const at = nodeOf(e.target);
  const frame = at == null && !drag?.moved && inFrame.length ? frameOf(e.target) : null;
  relate(frame);
  if (frame != null) { popup.textContent = describeFrame(frame); popup.hidden = false; if (!searching) remark(); return; }
  if (at == null || drag?.moved) { popup.hidden = true; if (!searching) remark(); return; }
  if (!searching) mark(at);
  popup.textContent = describe(at);
  popup.hidden = false;
});
view.addEventListener('pointermove', e => {
  const w = popup.offsetWidth, h = popup.offsetHeight;
  popup.style.left = Math.min(e.clientX + 14, innerWidth - w - 6) + 'px';
  popup.style.top = (e.clientY + 18 + h > innerHeight ? Math.max(4, e.clientY - h - 10) : e.clientY + 18) + 'px';
});
view.addEventListener('pointerleave', () => { relate(null); popup.hidden = true; if (!searching) remark(); });

// Right click.
const quoted = text => `'${text.replace(/'/g, `'\\''`)}'`;
view.addEventListener('contextmenu', e => {
  const at = nodeOf(e.target);
  if (at == null || !methodsOf(at).length) return;
  e.preventDefault();
  const m = methodsOf(at)[0], d = D.methods[m], place = `${D.files[d[FILE]]}:${d[LINE]}`, file = quoted(P.title);
  const elsewhere = PAGE.pictures.map((p, i) => [`show it in the ${p.tab} picture`, () => { show(i); find(path(m)); }, p, i])
    .filter(([, , p, i]) => i !== shown && PAGE.graphs[p.graph] === D && p.nodes.some(n => n[5].includes(m)));
  const entries = [
    ['focus', () => focus(at)], ...elsewhere,
    ['copy: behavioural blueprint from here', () => copy(`metaspy blueprint behavioural ${file} --from ${quoted(path(m))} --html from.html`)],
    ['copy: its events', () => copy(`metaspy open ${file}   # then f site:${path(m)}`)],
    ['copy: file and line', () => copy(place)],
    ['open in VS Code', () => { location.href = `vscode://file/${place}`; }],
  ];
  menu.innerHTML = entries.map(([text], i) => `<button data-i="${i}">${esc(text)}</button>`).join('');
  menu.onclick = ev => { const i = ev.target.dataset.i; if (i != null) entries[i][1](); menu.hidden = true; };
  menu.hidden = false; popup.hidden = true;
  menu.style.left = Math.min(e.clientX, innerWidth - menu.offsetWidth - 4) + 'px';
  menu.style.top = Math.min(e.clientY, innerHeight - menu.offsetHeight - 4) + 'px';
  menu.firstElementChild.focus();
});
function copy(text) {
  navigator.clipboard?.writeText(text).catch(() => {});
  popup.textContent = `copied: ${text}`; popup.hidden = false;
}

addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === search) { if (e.key === 'Escape') { leaveSearch(); mark(focused); view.focus(); } return; }
  if (e.key === 'Enter' && e.target.tagName === 'BUTTON') return;
  const step = 60, { width, height } = view.getBoundingClientRect();
  const walk = by => { const at = byTime.indexOf(focused); focus(byTime[at < 0 && by < 0 ? byTime.length - 1 : (at + by + byTime.length) % byTime.length]); };
  const go = lists => {
    // A box of a chain is called at its first method, and calls from its last.
    const m = methodsOf(focused).at(lists === callers ? 0 : -1), next = m == null ? null : lists[m].find(([c]) => box[c] != null && box[c] !== focused);
    if (next) focus(box[next[0]]);
  };
  const turn = by => show((shown + by + PAGE.pictures.length) % PAGE.pictures.length);
  const keys = {
    '/': () => search.focus(), 0: fit, n: () => walk(1), p: () => walk(-1), t: theme, l: lists, f: () => { const n = P.findings?.first.length; if (n) { leaveSearch(); state(stated == null ? 0 : (stated + 1) % n); } }, c: coarser, '[': () => turn(-1), ']': () => turn(1),
    Escape: () => { if (!menu.hidden) { menu.hidden = true; view.focus(); return; } popup.hidden = true; leaveSearch(); focus(null); },
    '+': () => zoomAt(width / 2, height / 2, 1.25), '=': () => zoomAt(width / 2, height / 2, 1.25), '-': () => zoomAt(width / 2, height / 2, .8),
    ArrowUp: () => focused == null ? (top_ += step, place()) : go(callers), ArrowDown: () => focused == null ? (top_ -= step, place()) : go(callees),
    ArrowLeft: () => { left += step; place(); }, ArrowRight: () => { left -= step; place(); },
  };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
function theme() {
  const root = document.documentElement, isDark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = isDark ? 'light' : 'dark';
}
$('theme').onclick = theme; $('fit').onclick = fit; $('list').onclick = lists;

// Shows a picture. The method in focus stays in focus, if the picture has it.
function show(picture) {
  const was = focused == null ? null : methodsOf(focused)[0], name = was == null ? null : path(was);
  shown = picture; load(picture); draw(); header(); footer(); leaveSearch();
  focused = null; openPanel(false); popup.hidden = true;
  $('title').textContent = document.title = `${P.kind} blueprint of ${P.title}`;
  [...$('tabs').children].forEach((tab, i) => tab.setAttribute('aria-selected', i === picture));
  open_();
  if (name) find(name);
}
function find(name) {
  const m = D.methods.findIndex((_, m) => box[m] != null && (short(m) === name || path(m) === name));
  if (m >= 0) focus(box[m]);
}
if (PAGE.pictures.length > 1)
  $('tabs').innerHTML = PAGE.pictures.map((p, i) => `<button role="tab" data-i="${i}">${esc(p.tab)}</button>`).join('');
$('tabs').onclick = e => { const i = e.target.dataset.i; if (i != null) show(+i); };
const wanted = decodeURIComponent(location.hash.slice(1));
show(0);
if (wanted) find(wanted);
addEventListener('resize', () => fitted && fit());
// On paper the whole picture is shown, without what the pointer is over.
addEventListener('beforeprint', () => { focus(null); fit(); });
