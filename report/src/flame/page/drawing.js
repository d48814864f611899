// What is shown, and how it is drawn.
const $ = id => document.getElementById(id);
const canvas = $('flames'), pen = canvas.getContext('2d'), view = $('view');
const ROW = 20, FONT = 'ui-sans-serif, system-ui, sans-serif', GROUPS = ['#f0b37e', '#9ecae1', '#b5d99c', '#e3c567', '#cdb4db', '#f2a7b5', '#8fd3c4', '#c9b79c', '#d0d4da'];
const state = { set: null, k: 0, lane: -1, view: 'flame', time: false, up: false, earlier: false, f: null, zoom: null, here: null, pattern: null, sort: 'own' };
let tree = null, other = null, boxes = [], labels = [], rowsUp = 0, colourOf = new Map(), byGroup = [];

const grouped = n => Math.round(n).toLocaleString('en-US');
// As `metaspy report` writes durations: three digits.
function time(ns) {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  let value = ns / 1000, unit = 'µs';
  for (const next of ['ms', 's']) { if (value < 999.5) break; value /= 1000; unit = next; }
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}
const percent = (part, whole) => !whole ? '–' : part > 0 && part / whole < .0005 ? '<0.1 %' : part < whole && part / whole >= .9995 ? '>99.9 %' : `${(100 * part / whole).toFixed(1)} %`;
function amount(value, k = state.k) {
  const { unit, ns, least } = state.set.measures[k];
  const text = unit === 'ns' ? time(value) : unit === 'bytes' ? `${grouped(value)} B` : unit === 'samples' && ns ? time(value * ns) : grouped(value);
  return (least ? '≥' : '') + text;
}
// The half width of the interval that holds the true share with 95 % probability (Wilson).
function error(samples, all) {
  const z = 1.96, p = samples / all;
  return 100 * z * Math.sqrt(p * (1 - p) / all + z * z / (4 * all * all)) / (1 + z * z / all);
}
const nameOf = f => f === ROOT ? (['callers', 'contexts', 'allocations'].includes(state.set.name) ? 'code without hooks' : 'all') : f === FOLDED ? 'smaller frames' : DATA.functions[f][0];
// Type and method, or the function alone. A closure has the name of its function.
const partsOfName = f => {
  const parts = nameOf(f).replace(/<.*>/g, '').split('::'), last = parts.findLastIndex(part => !/^\{/.test(part));
  return last < 0 ? parts : [...parts.slice(0, last), parts.slice(last).join('::')];
};
const functionName = f => f < 0 ? nameOf(f) : partsOfName(f).at(-1);
function shortName(f) {
  const parts = partsOfName(f);
  return f < 0 || parts.length < 2 ? nameOf(f) : /^[A-Z]/.test(parts.at(-2)) ? parts.slice(-2).join('::') : parts.at(-1);
}
// What gives a function its colour: its package, and in a program of one package the module or type.
const groupOf = f => DATA.groups.length > 1 ? DATA.groups[DATA.functions[f][2]] || 'unknown' : nameOf(f).replace(/<.*>/g, '').split('::').slice(0, -1).join('::') || 'functions';
const whole = () => rootOf().total[state.k];
const wholeBefore = () => rootOf().before.total[state.k];
const wide = node => state.set.difference && state.earlier ? node.before.total[state.k] : node.total[state.k];

// The merged tree of the lane, or of all lanes.
function rootOf() {
  const { set, lane } = state;
  set.trees ??= [];
  if (lane >= 0) return set.trees[lane] ??= decode(set, set.lanes[lane]);
  if (!set.all) {
    set.all = newNode(set, ROOT, null);
    set.lanes.forEach(of => absorb(set, set.all, decode(set, of)));
  }
  return set.all;
}

// Makes the tree that is shown, and gives each node its place as a part of the whole width.
function arrange() {
  const { set, view: kind } = state;
  other = null; rowsUp = 0;
  if (kind === 'sandwich' && state.f != null) {
    const { callers, callees } = sandwich(set, rootOf(), state.f);
    tree = callees; other = callers;
    spread(other);
    rowsUp = depthOf(other);
  } else if (kind === 'inverted') tree = inverted(set, rootOf());
  else if (isTimed()) tree = inTime(set, set.lanes[laneInTime()]);
  else tree = rootOf();
  spread(tree);
  state.zoom = state.here = null;
}
const laneInTime = () => state.lane >= 0 ? state.lane : state.set.lanes.reduce((best, lane, i, all) => lane.calls.length > all[best].calls.length ? i : best, 0);
const isTimed = () => state.view === 'flame' && state.time;
function spread(root) {
  Object.assign(root, { x: 0, w: 1, depth: 0 });
  for (const node of nodesOf(root)) {
    if (isTimed()) {
      for (const kid of node.kids) Object.assign(kid, { x: (kid.start - root.start) / (root.end - root.start || 1), w: (kid.end - kid.start) / (root.end - root.start || 1), depth: node.depth + 1 });
      continue;
    }
    node.kids.sort((a, b) => wide(b) - wide(a) || a.f - b.f);
    const sum = node.kids.reduce((all, kid) => all + wide(kid), 0);
    // The calls of an async caller may take longer than it did.
    const per = node.w / Math.max(wide(node), sum, 1);
    let x = node.x;
    for (const kid of node.kids) { Object.assign(kid, { x, w: wide(kid) * per, depth: node.depth + 1 }); x += kid.w; }
  }
}
function depthOf(root) { let most = 0; for (const node of nodesOf(root)) most = Math.max(most, node.depth); return most; }

const isFound = node => !state.pattern || (node.f >= 0 && state.pattern.test(nameOf(node.f)));
const partsOf = colour => (colour.length < 7 ? [1, 2, 3].map(at => colour[at].repeat(2)) : [1, 3, 5].map(at => colour.slice(at, at + 2))).map(part => parseInt(part, 16));
const mixed = (colour, ground, part) => part ? hex(partsOf(colour).map((c, i) => c + (partsOf(ground)[i] - c) * part)) : colour;
// Contrast with the colour below.
function inkOn(colour) {
  const [r, g, b] = partsOf(colour).map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b > .19 ? '#111111' : '#ffffff';
}
const hex = parts => '#' + parts.map(part => Math.round(part).toString(16).padStart(2, '0')).join('');
// Vermilion is more, blue is less, yellow is new; pale is little.
function changeColour(node) {
  const now = node.total[state.k], was = node.before.total[state.k];
  if (!was) return now ? '#f0e442' : '#eeeeee';
  const part = (now - was) / Math.max(now, was), far = Math.min(1, Math.abs(part) ** .6);
  return Math.abs(part) < .005 ? '#eeeeee' : hex((part > 0 ? [213, 94, 0] : [0, 114, 178]).map(c => 238 + (c - 238) * far));
}
function colour(node) {
  if (node.f < 0) return '#d0d4da';
  return state.set.difference ? changeColour(node) : GROUPS[colourOf.get(groupOf(node.f)) ?? GROUPS.length - 1];
}
const change = (now, was) => !was ? (now ? '✚ new' : '') : now >= 10 * was ? `×${grouped(Math.round(now / was))}`
  : `${now >= was ? '+' : '−'}${(100 * Math.abs(now - was) / was).toFixed(1)} %`;

// A node in words, with the numbers of all measures.
function describe(node) {
  const { set } = state, name = nameOf(node.f), place = node.f >= 0 ? DATA.functions[node.f][1] : '';
  if (isTimed()) return node.f < 0 ? `${set.lanes[laneInTime()].name}: ${time(node.total[0])}` : `${name}: took ${time(node.total[0])}, at ${time(node.start)}${place && `; ${place}`}`;
  const callee = state.view === 'inverted' && node.depth > 1 ? [...ancestors(node)].at(-2) : null;
  const head = node.f === FOLDED ? `${grouped(node.smaller)} smaller frames` : callee ? `${name} led to ${shortName(callee.f)}` : name;
  const parts = set.measures.map((measure, k) => {
    const total = node.total[k], own = node.own[k], all = rootOf().total[k], isInverted = state.view === 'inverted';
    if (measure.unit === 'count' && !measure.width) return node.f >= 0 && own ? `${amount(own, k)} ${measure.name}` : '';
    if (measure.unit === 'count' && (node.f === ROOT || isInverted)) return `${amount(total, k)} ${measure.name} (${percent(total, all)})`;
    if (measure.unit === 'count') return `${amount(own, k)} ${measure.name}, ${amount(total, k)} with callees (${percent(total, all)})`;
    const count = measure.unit === 'samples' ? `, ${grouped(total)} samples, ± ${error(total, all || 1).toFixed(1)} %` : '';
    const self = isInverted ? '' : node.part ? ', self not recorded by caller' : node.f === FOLDED || node.f === ROOT ? '' : `, self ${amount(own, k)} (${percent(own, all)})`;
    return `${amount(total, k)} ${isInverted && node.depth ? 'self ' : ''}${measure.name} (${percent(total, all)}${count})${self}`;
  });
  if (set.difference) { const now = node.total[state.k], was = node.before.total[state.k]; parts.push(`before ${amount(was)}: ${change(now, was)}`); }
  return [`${head}: ${parts.filter(Boolean).join('; ')}`, place].filter(Boolean).join('; ');
}

// A strip at the bottom of a frame has a part for each line of its function, the darker the more samples are there.
function strip(f, x, y, width) {
  const lines = state.set.name === 'samples' || state.set.name === 'subjects' ? DATA.lines[f] : null;
  if (!lines) return;
  const all = lines.reduce((sum, [, samples]) => sum + samples, 0);
  for (const [, samples] of lines) {
    pen.fillStyle = `rgba(0,0,0,${.1 + .45 * samples / all})`;
    pen.fillRect(x, y + ROW - 4, Math.max(.5, width * samples / all - .5), 3);
    x += width * samples / all;
  }
}
// The name of a frame as far as there is room: no two functions below one caller have the same. A narrow frame has small
// letters, and the name without its type.
function label(node, sign, w) {
  const isNarrow = w < 60, name = sign + (isNarrow ? functionName(node.f) : shortName(node.f)), full = sign + nameOf(node.f);
  const room = w - (isNarrow ? 4 : 7), taken = node.parent ? node.parent.texts ??= new Map() : new Map();
  pen.font = `${isNarrow ? 9 : 12}px ${FONT}`;
  const fits = text => pen.measureText(text).width <= room && [undefined, node.f].includes(taken.get(text));
  const found = function* () {
    yield* [name, full];
    for (const of of [name, full])
      for (let cut = Math.min(of.length - 1, Math.ceil(of.length * room / pen.measureText(of).width)); cut > 2; cut--)
        for (let start = Math.ceil(cut / 2), way = 0; way < cut; way++) {
          start += way % 2 ? way : -way;
          yield `${of.slice(0, start)}…${of.slice(of.length - cut + start)}`;
        }
    for (let cut = 3; cut > 0; cut--) yield name.slice(0, cut);
    for (let number = 2; number < 20; number++) yield `${name.slice(0, 1)}·${number}`;
  };
  for (const text of found()) if (fits(text)) { taken.set(text, node.f); return { text, size: isNarrow ? 9 : 12, x: isNarrow ? 2 : 3 }; }
  return null;
}
function collect(root, width, toY) {
  const focus = state.zoom && [...ancestors(state.zoom)].at(-1) === root ? state.zoom : root;
  const next = [root];
  while (next.length) {
    const node = next.pop(), x = Math.max(0, (node.x - focus.x) / (focus.w || 1) * width), end = Math.min(width, (node.x + node.w - focus.x) / (focus.w || 1) * width);
    if (end - x < .3) continue;
    // The function in the middle is drawn with what it calls.
    if (node !== other) boxes.push({ node, x, y: toY(node.depth), w: end - x, isAround: node !== focus && node.depth < focus.depth });
    next.push(...node.kids);
  }
}
function* ancestors(node) { for (let at = node; at; at = at.parent) yield at; }
function draw() {
  const width = Math.max(50, view.clientWidth - 14), scale = Math.max(devicePixelRatio || 1, state.print ? 2 : 1);
  boxes = []; labels = [];
  for (const root of [tree, other]) if (root) for (const node of nodesOf(root)) node.texts = null;
  const depth = depthOf(tree), isUp = state.up && !other && state.view !== 'rings';
  if (other) collect(other, width, at => (rowsUp - at) * ROW);
  collect(tree, width, at => (isUp ? depth - at : at + rowsUp) * ROW);
  if (state.view === 'rings') return drawRings(width, scale);
  const shown = boxes.reduce((most, box) => Math.max(most, box.y), 0), least = isUp ? boxes.reduce((least, box) => Math.min(least, box.y), Infinity) : 0;
  if (isUp) boxes.forEach(box => { box.y -= least; });
  const height = shown - (isUp ? least : 0) + ROW;
  canvas.width = width * scale; canvas.height = Math.min(height * scale, 32000);
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.textBaseline = 'middle';
  const isStrong = matchMedia('(prefers-contrast:more)').matches || state.print;
  const ground = getComputedStyle(document.body).getPropertyValue('--page').trim();
  for (const { node, x, y, w, isAround } of boxes) {
    const fill = fillOf(node, isAround, ground);
    pen.fillStyle = fill;
    pen.fillRect(x, y, Math.max(.5, w - .6), ROW - 1);
    if (node.part) hatch(x, y, w - .6);
    if (isStrong && w > 3) { pen.strokeStyle = '#000'; pen.lineWidth = .5; pen.strokeRect(x, y, w - .6, ROW - 1); }
    if (w > 14) {
      strip(node.f, x, y, w - .6);
      const sign = node.f === FOLDED ? `${grouped(node.smaller)} ` : state.set.difference && node.f >= 0 && !node.before.total[state.k] ? '✚ ' : '';
      const text = label(node, sign, w);
      if (!text) continue;
      pen.fillStyle = inkOn(fill);
      pen.fillText(text.text, x + text.x, y + ROW / 2 - 1);
      labels.push({ ...text, x: x + text.x, y, box: x, w, node, end: x + text.x + pen.measureText(text.text).width });
    }
  }
  const here = boxes.find(box => box.node === state.here);
  if (here) { pen.strokeStyle = getComputedStyle(document.body).color; pen.lineWidth = 2; pen.strokeRect(here.x + 1, here.y + 1, Math.max(1, here.w - 2), ROW - 3); }
  document.body.dataset.frames = boxes.length;
  canvas.setAttribute('aria-label', `${state.view} of ${state.set.name} by ${state.set.measures[state.k].name}: ${boxes.length} frames`);
}
const fillOf = (node, isAround, ground) => mixed(colour(node), ground, !isFound(node) ? .75 : isAround ? .4 : 0);
// The ring chart: the root in the middle, each frame in the ring around its caller. `rings` tells where a frame is.
let rings = null;
function drawRings(width, scale) {
  const levels = boxes.reduce((most, box) => Math.max(most, box.y / ROW), 0), size = Math.min(width, Math.max(200, view.clientHeight - 8));
  const middle = size / 2, ring = Math.min(60, (middle - 2) / (levels + 1)), ground = getComputedStyle(document.body).getPropertyValue('--page').trim();
  rings = { middle, ring, width };
  canvas.width = canvas.height = size * scale; canvas.style.width = canvas.style.height = `${size}px`;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.textBaseline = 'middle'; pen.strokeStyle = ground; pen.lineWidth = .8;
  for (const { node, x, y, w, isAround } of boxes) {
    const inner = ring * y / ROW, from = turn(x), to = turn(x + w), fill = fillOf(node, isAround, ground);
    pen.beginPath(); pen.arc(middle, middle, inner + ring, from, to); pen.arc(middle, middle, inner, to, from, true); pen.closePath();
    pen.fillStyle = fill; pen.fill(); pen.stroke();
    if (node === state.here) { pen.save(); pen.strokeStyle = getComputedStyle(document.body).color; pen.lineWidth = 2; pen.stroke(); pen.restore(); }
    const around = (inner + ring / 2) * (to - from), text = ring >= 12 && around > 14 && (y === 0 || around < ring ? label(node, '', ring) : label(node, '', Math.min(around, 2 * inner + ring)));
    if (!text) continue;
    // A name is along the radius where that is longer, and never upside down.
    const at = (from + to) / 2, isAlong = y > 0 && around < ring, way = y === 0 ? 0 : isAlong ? at : at + Math.PI / 2;
    pen.save(); pen.translate(middle + (y && Math.cos(at) * (inner + ring / 2)), middle + (y && Math.sin(at) * (inner + ring / 2)));
    pen.rotate(Math.cos(way) < -1e-9 ? way + Math.PI : way);
    pen.textAlign = 'center'; pen.fillStyle = inkOn(fill); pen.fillText(text.text, 0, 0); pen.restore();
  }
  document.body.dataset.frames = boxes.length;
  canvas.setAttribute('aria-label', `ring chart of ${state.set.name} by ${state.set.measures[state.k].name}: ${boxes.length} frames`);
}
const turn = x => x / rings.width * 2 * Math.PI - Math.PI / 2;
// What is at a place of the canvas, as if the rings were rows.
function unrolled(x, y) {
  const [dx, dy] = [x - rings.middle, y - rings.middle], angle = Math.atan2(dy, dx) + Math.PI / 2;
  return [(angle + 2 * Math.PI) % (2 * Math.PI) / (2 * Math.PI) * rings.width, Math.hypot(dx, dy) / rings.ring * ROW];
}
function hatch(x, y, w) {
  pen.save(); pen.beginPath(); pen.rect(x, y, w, ROW - 1); pen.clip();
  pen.strokeStyle = 'rgba(0,0,0,.3)'; pen.lineWidth = 1; pen.beginPath();
  for (let at = x - ROW; at < x + w; at += 6) { pen.moveTo(at, y + ROW); pen.lineTo(at + ROW, y); }
  pen.stroke(); pen.restore();
}
