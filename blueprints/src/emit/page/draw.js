// The picture: one string of SVG.
const view = $('view'), panel = $('panel');
let svg, all, boxes, lines, zoom = 1, left = 0, top_ = 0, fitted = true, placed;

// Sizes of letters, and the signs of findings in front of a label.
const SMALL = 9, ROW = 11, MARKS = ['①', '②', '③'];
const sized = size => size > SMALL ? ` style="font-size:${size}px"` : '';
const marked = text => { const n = [...text].findIndex(c => !MARKS.includes(c)); return n > 0 ? `<tspan class="k">${text.slice(0, n)}</tspan>${esc(text.slice(n))}` : esc(text); };
function labelled([x, y, w, h, fill], m) {
  const [place, text] = Object.entries(m).find(([key]) => ['beside', 'inside', 'upright', 'along'].includes(key)) ?? [];
  if (!text) return '';
  const size = m.size ?? SMALL, k = size / SMALL, out = m.changed ? 4 : 0;
  const [tx, ty] = { beside: [x + w + 2 + out, y + Math.min(Math.max(h, m.ghost ?? 0), ROW * k) / 2 + 3 * k], inside: [x + 3, y + 9 * k],
    upright: [x + w / 2 + 3 * k, y + h - 3], along: [x + w + 9 * k, y + h - 2] }[place];
  const turn = place === 'upright' || place === 'along' ? ` transform="rotate(-90 ${tx} ${ty})"` : '';
  const dark = /^g[5-9]$/.test(fill) && (place === 'inside' || place === 'upright') ? ' dark' : '';
  return `<text class="label${m.size ? ' large' : ''}${dark}" x="${tx}" y="${ty}"${sized(size)}${turn}>${marked(text)}</text>`;
}
// Lines bend below the box and below the label beside it.
function bend(at) {
  const [, y] = P.nodes[at], m = more(at), h = Math.max(P.nodes[at][3], m.ghost ?? 0), line = ROW * (m.size ?? SMALL) / SMALL;
  return y + Math.max(h, m.beside ? Math.min(h, line) / 2 + line / 2 : 0) + 6;
}
// Other boxes of a column are above a box that is further below, and their labels at their right sides.
function entry(at, bend) {
  const [x, y, w] = P.nodes[at], m = more(at), line = m.beside ? ROW * (m.size ?? SMALL) / SMALL : 0;
  return x + (y - bend > 11 + line / 2 ? 2.5 : w / 2);
}
function line([from, to, , kind = 'tree'], at) {
  const [x, y, w, h] = P.nodes[from], [tx, ty, tw, th] = P.nodes[to];
  const a = x + w / 2, b = y + h, c = tx + tw / 2;
  const d = kind === 'tree' ? `M${a} ${b}V${bend(from)}H${entry(to, bend(from))}V${ty}` : kind === 'cross' ? `M${a} ${b}C${a} ${b + 30} ${c} ${ty - 30} ${c} ${ty}`
    : `M${x + w} ${y + h / 2}C${x + w + 60} ${y + h / 2} ${tx + tw + 60} ${ty + th / 2} ${tx + tw} ${ty + th / 2}`;
  const written = P.nodes[to][4] === 'never' ? ' written' : '';
  return `<path class="e ${kind}${written}" data-e="${at}" d="${d}"/>`;
}
// A mark, without the transform of a <use>: each of these costs as much as many boxes while the picture moves.
function symbol(word, x, y, r) {
  const points = $('defs').content.querySelector(`#m-${word}`).getAttribute('points');
  if (!points) return `<circle class="m ${word}" cx="${x}" cy="${y}" r="${r}"/>`;
  const at = points.split(' ').map((n, i) => (i % 2 ? y : x) + n * r);
  return `<polygon class="m ${word}" points="${at.map(n => +n.toFixed(2)).join(' ')}"/>`;
}
// Boxes of a large picture are in cells of this size. Cells out of sight are not drawn.
const CELL = 1000, ROOM = 250;
let cells = [];
function placeCells(width, height) {
  const x = -left / zoom - ROOM, y = -top_ / zoom - ROOM, right = x + width / zoom + 2 * ROOM, bottom = y + height / zoom + 2 * ROOM;
  for (const cell of cells) {
    const isIn = cell.x < right && cell.right > x && cell.y < bottom && cell.bottom > y;
    if (isIn !== cell.isIn) { cell.isIn = isIn; cell.group.style.display = isIn ? '' : 'none'; }
  }
}
function draw() {
  const out = [`<div id="sheet"><svg role="img" aria-label="${esc(P.kind)}" viewBox="0 0 ${P.size[0]} ${P.size[1]}" xmlns="http://www.w3.org/2000/svg">${$('defs').innerHTML}<g id="all" class="${P.kind}">`];
  for (const [at, [x, y, w, h, kind, label, name, word, size = SMALL]] of P.frames.entries())
    out.push(`<g class="fg l${LEVELS.findIndex(([, kinds]) => kinds.includes(kind))}" data-f="${at}" aria-label="${esc(name)}"><rect class="f ${kind}" x="${x}" y="${y}" width="${w}" height="${h}"/>`,
      `<text class="ft" x="${x + 3}" y="${y + size}"${sized(size)}>${esc(label)}</text>${word ? symbol(word, x + w, y, 2.6) : ''}</g>`);
  P.edges.forEach((edge, at) => out.push(line(edge, at)));
  const places = new Map();
  P.nodes.forEach((n, at) => {
    const [x, y, w, h, fill] = n, m = more(at), own = [], key = P.nodes.length < 3000 ? '' : `${x / CELL | 0} ${y / CELL | 0}`;
    const cell = places.get(key) ?? { x, y, right: x, bottom: y, isIn: true, texts: [] };
    places.set(key, cell); cell.texts.push(own);
    cell.x = Math.min(cell.x, x); cell.y = Math.min(cell.y, y);
    cell.right = Math.max(cell.right, x + w); cell.bottom = Math.max(cell.bottom, y + Math.max(h, m.ghost ?? 0));
    own.push(`<g class="n" data-n="${at}"><rect class="b ${fill}" x="${x}" y="${y}" width="${w}" height="${h}"/>`);
    if (m.ghost) own.push(`<rect class="ghost" x="${x}" y="${y}" width="${w}" height="${m.ghost}"/>`);
    if (m.changed) own.push(`<rect class="frame" x="${x - 2.5}" y="${y - 2.5}" width="${w + 5}" height="${h + 5}"/>`);
    if (fill === 'new') own.push(`<text x="${x + w / 2 - 3}" y="${y + Math.min(h, 12) / 2 + 3}">✚</text>`);
    if (m.own) own.push(`<rect class="own" x="${x}" y="${y + h - m.own}" width="2.5" height="${m.own}"/>`);
    m.strips?.forEach(([sx, sy, sw, sh]) => own.push(`<rect class="strip" x="${sx}" y="${sy}" width="${sw}" height="${sh}"/>`));
    if (m.mark) { const r = Math.min(2.6, w / 2, h / 2); own.push(symbol(m.mark, x + w / 2, y + Math.max(r, Math.min(h / 2, 4)), r)); }
    own.push(labelled(n, m), '</g>');
  });
  for (const { texts } of places.values()) out.push('<g class="cell">', ...texts.flat(), '</g>');
  out.push('</g></svg></div>');
  view.innerHTML = out.join('');
  svg = view.querySelector('svg'); all = $('all'); placed = null;
  drawCovers();
  const groups = all.querySelectorAll('.cell');
  cells = [...places.values()].map((cell, at) => ({ ...cell, group: groups[at], texts: null }));
  boxes = []; all.querySelectorAll('.n').forEach(box => boxes[+box.dataset.n] = box);
  lines = [...all.querySelectorAll('.e')];
}

// The picture lies on a sheet that has the view's size more on each side. A pan scrolls the sheet and draws nothing anew.
function place() {
  placeLevel();
  const { clientWidth: vw, clientHeight: vh } = view, w = P.size[0] * zoom, h = P.size[1] * zoom;
  const size = [w, h, vw, vh].join();
  if (size !== placed) {
    placed = size;
    Object.assign(svg.style, { left: `${vw}px`, top: `${vh}px`, width: `${w}px`, height: `${h}px` });
    Object.assign($('sheet').style, { width: `${w + 2 * vw}px`, height: `${h + 2 * vh}px` });
  }
  left = Math.min(vw, Math.max(-w, left)); top_ = Math.min(vh, Math.max(-h, top_));
  placeCells(vw, vh);
  view.scrollTo(vw - left, vh - top_);
}
// What the browser itself scrolled to, as it does for a found text.
view.addEventListener('scroll', () => {
  const x = view.clientWidth - view.scrollLeft, y = view.clientHeight - view.scrollTop;
  if (Math.abs(x - left) > 1 || Math.abs(y - top_) > 1) { left = x; top_ = y; fitted = false; }
});
function fit() {
  const { width, height } = view.getBoundingClientRect(), [w, h] = P.size;
  zoom = Math.min((width - 24) / w, (height - 24) / h, 3);
  left = (width - w * zoom) / 2; top_ = Math.max(12, (height - h * zoom) / 2); fitted = true; chosen = null; place();
}
// Shows the picture when the page opens: all of it if its labels can be read then, and otherwise its upper part.
function open_() {
  fit();
  const size = Math.max(0, ...P.nodes.map((_, at) => Object.keys(more(at)).some(key => key === 'beside' || key === 'along') ? more(at).size ?? SMALL : 0));
  if (level || P.nodes.length >= 3000 || !size || zoom * size >= SMALL) return;
  const root = P.nodes.reduce((a, b) => b[1] < a[1] ? b : a), { width } = view.getBoundingClientRect();
  zoom = SMALL / size; left = P.frames.length ? 12 : width / 2 - (root[0] + root[2] / 2) * zoom; top_ = 12; fitted = false; place();
}
function zoomAt(x, y, by) {
  const next = Math.min(40, Math.max(.02, zoom * by)), k = next / zoom;
  left = x - (x - left) * k; top_ = y - (y - top_) * k; zoom = next; fitted = false; place();
}
// Moves the picture so that a box is in sight.
function reveal(at) {
  if (level) { chosen = 0; zoom = Math.max(zoom, LEAST[0]); fitted = false; place(); }
  const [x, y, w, h] = P.nodes[at], { width, height } = view.getBoundingClientRect();
  const sx = x * zoom + left, sy = y * zoom + top_;
  if (sx < 0 || sy < 0 || sx + w * zoom > width || sy + Math.min(h * zoom, height) > height) {
    left = width / 2 - (x + w / 2) * zoom; top_ = height / 3 - y * zoom; fitted = false; place();
  }
}

// Shows or hides the panel. A picture that fitted the rest of the page still does.
function openPanel(isOpen) {
  if (panel.hidden !== isOpen) return;
  panel.hidden = !isOpen;
  if (fitted) fit();
}

// The first findings of the recording above the picture. A click leads to their boxes.
const findings = $('findings');
let stated = null;
function header() {
  const { first = [], further = 0 } = P.findings ?? {};
  findings.hidden = !first.length; stated = null;
  findings.innerHTML = first.map(([kind, cost, title, , nodes], i) =>
    `<li><button data-i="${i}" aria-pressed="false" title="${esc(title)}"><span class="k">${MARKS[i]}</span><span class="cost">${esc(cost)}</span><span class="said">${esc(title)}</span>`
    + `<span class="pale">${nodes.length ? '' : 'not in this picture · '}${esc(kind)}</span></button></li>`).join('')
    + (further ? `<li class="pale">${plural(further, 'further finding')}: metaspy findings ${esc(P.title)}</li>` : '');
}
// Shows what is said of a finding, and marks its boxes, in another picture if this one has none.
function state(at) {
  const [, , title] = P.findings.first[at], boxesOf = p => p.findings?.first[at]?.[4] ?? [];
  const other = boxesOf(P).length ? -1 : PAGE.pictures.findIndex(p => p.graph === P.graph && boxesOf(p).length);
  if (other >= 0) show(other);
  const [kind, cost, , parts, nodes] = P.findings.first[at];
  focus(null); openPanel(true);
  panel.innerHTML = `<h2><span class="k">${MARKS[at]}</span> ${esc(title)}</h2><p>${esc(cost)} · ${esc(kind)}</p>`
    + (nodes.length ? `<table>${nodes.map(n => `<tr tabindex="0" data-n="${n}"><td>${esc(nameOf(n))}</td></tr>`).join('')}</table>` : '')
    + parts.map(([word, text]) => `<p>${word ? `<span class="pale">${esc(word)}</span> ` : ''}${esc(text)}</p>`).join('');
  if (nodes.length) { reveal(nodes[0]); only(nodes); }
  stated = at;
  [...findings.querySelectorAll('button')].forEach((button, i) => button.setAttribute('aria-pressed', i === at));
}
findings.addEventListener('click', e => { const i = e.target.closest('[data-i]')?.dataset.i; if (i != null) { leaveSearch(); state(+i); } });

// Legend, notes and keys below the picture.
function footer() {
  const sign = ([size, fill, text, word]) => word ? `<span><svg width="8" height="10">${symbol(word, 4, 5, 3)}</svg>${esc(text)}</span>` : size
    ? `<span><svg width="${size[0]}" height="${Math.min(size[1], 22)}"><rect class="b ${fill}" width="${size[0]}" height="${Math.min(size[1], 22)}"/></svg>${esc(text)}</span>`
    : `<span class="w">${esc(text)}</span>`;
  $('footer').innerHTML = `<div>${P.legend.map(sign).join(' ')}</div><div>${P.notes.map(esc).join(' · ')}</div>
<div class="keys"><kbd>/</kbd> search <kbd>n</kbd> <kbd>p</kbd> next by time <kbd>↑</kbd> <kbd>↓</kbd> caller, callee <kbd>l</kbd> lists ${
  P.findings ? '<kbd>f</kbd> findings ' : ''}${
  PAGE.pictures.length > 1 ? '<kbd>[</kbd> <kbd>]</kbd> pictures ' : ''}${covers.length ? '<kbd>c</kbd> types, modules ' : ''}<kbd>0</kbd> fit <kbd>+</kbd> <kbd>−</kbd> zoom <kbd>t</kbd> theme · right click: more</div>`;
}
