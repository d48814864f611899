// Frames: types, modules and packages. Where boxes would be too small, a frame is drawn in place of what is in it.
const TYPES = ['type', 'trait', 'functions', 'foreign', 'absent'];
const LEVELS = [['methods', []], ['types', TYPES], ['modules', ['module']], ['packages', ['package']]];
// The least zoom of methods, types and modules.
const LEAST = [.45, .3, .08];
// Smaller labels of boxes cannot be read, and are not drawn.
const READABLE = .4;
let small = false, level = 0, chosen = null, inFrame, covers = [];

// What is added up for a frame: own time, or the lines that never ran.
const isCoverage = () => P.kind === 'coverage';
const amountOf = m => { const d = D.methods[m]; return isCoverage() ? (d[RUNS] ? 0 : d[LINES]) : d[OWN] ?? 0; };
const amountText = n => isCoverage() ? `${plural(n, 'line')} never ran` : `own ${amountWord()} ${time(n)}`;
const has = i => inFrame.length > 0 && P.frames.some(f => LEVELS[i][1].includes(f[4]));

// The methods in each frame, by the path of the frame.
function loadFrames() {
  inFrame = [];
  if (!['structural', 'coverage'].includes(P.kind)) return;
  const lists = new Map();
  P.nodes.forEach(n => n[5].forEach(m => {
    const [module, type] = owner(m);
    for (const key of [`t ${module}::${type}`, `m ${module}`, `p ${module.split('::')[0]}`]) {
      if (!lists.has(key)) lists.set(key, []);
      lists.get(key).push(m);
    }
  }));
  inFrame = P.frames.map(f => lists.get(`${f[4] === 'module' ? 'm' : f[4] === 'package' ? 'p' : 't'} ${f[6]}`) ?? []);
}
// A cover has the name of its frame as large as fits, and a bar of the amount, as high as the frame for the largest.
function coversOf(i) {
  const at = P.frames.map((f, at) => at).filter(at => LEVELS[i][1].includes(P.frames[at][4]));
  const amount = at.map(at => inFrame[at].reduce((sum, m) => sum + amountOf(m), 0)), most = Math.max(1, ...amount);
  return at.map((at, k) => {
    const [x, y, w, h, kind, , name] = P.frames[at], bar = w * .12, high = h * amount[k] / most;
    const words = name.split('::'), text = words.at(-1) === 'fn' ? words.slice(-2).join('::') : words.at(-1);
    const size = Math.max(3, Math.min(h * .5, (w - bar) / (text.length * .62 + 1), 60));
    return `<g class="cover" data-f="${at}"><rect class="f ${kind}" x="${x}" y="${y}" width="${w}" height="${h}"/>`
      + `<rect class="${isCoverage() ? 'failed' : 'own'}" x="${x}" y="${y + h - high}" width="${bar}" height="${high}"/>`
      + `<text style="font-size:${size}px" x="${x + bar + size * .4}" y="${y + h / 2 + size * .35}">${esc(text)}</text></g>`;
  });
}
function drawCovers() {
  loadFrames(); chosen = null; level = 0; small = false;
  const over = LEVELS.map((_, i) => i && has(i) ? `<g class="covers" data-level="${i}">${coversOf(i).join('')}</g>` : '');
  all.insertAdjacentHTML('beforeend', over.join('') + '<g id="relations"></g>');
  covers = [...all.querySelectorAll('.covers')];
}
// Shows methods, types, modules or packages: as chosen, or as the zoom permits.
function placeLevel() {
  const isSmall = zoom < READABLE;
  if (isSmall !== small) all.classList.toggle('small', small = isSmall);
  const last = covers.length ? +covers.at(-1).dataset.level : 0;
  let next = chosen ?? LEAST.filter(least => zoom < least).length;
  // A few boxes are drawn at any size.
  if (chosen == null && P.nodes.length < 3000) next = 0;
  next = Math.min(next, last);
  while (next && !covers.some(c => +c.dataset.level === next)) next--;
  if (next === level) return;
  level = next;
  all.classList.toggle('coarse', level > 0);
  LEVELS.forEach((_, i) => all.classList.toggle(`at${i}`, i === level));
  covers.forEach(c => c.classList.toggle('open', +c.dataset.level === level));
  $('level').textContent = level ? `${LEVELS[level][0]}: a bar is ${isCoverage() ? 'lines that never ran' : 'own time'}; click: closer` : '';
}
// The next coarser level, and after the coarsest the methods.
function coarser() {
  const levels = [0, ...covers.map(c => +c.dataset.level)];
  chosen = levels[(levels.indexOf(level) + 1) % levels.length]; place();
}
// Fills the page with a frame, and shows what is in it.
function zoomTo(at) {
  const [x, y, w, h] = P.frames[at], { width, height } = view.getBoundingClientRect();
  zoom = Math.min((width - 40) / w, (height - 40) / h, 4);
  left = (width - w * zoom) / 2 - x * zoom; top_ = (height - h * zoom) / 2 - y * zoom;
  chosen = level > 0 && LEAST.filter(least => zoom < least).length >= level ? level - 1 : null;
  fitted = false; place();
}

// Traits: those that a type implements, and the types that implement a trait.
const traitsOf = o => D.owners[o][2] ?? [];
const nameOfTrait = t => typeof t === 'number' ? D.owners[t].slice(0, 2).join('::') : t;
const ownerOf = at => inFrame[at]?.length && TYPES.includes(P.frames[at][4]) ? D.methods[inFrame[at][0]][OWNER] : null;
function related(at) {
  const o = ownerOf(at);
  if (o == null) return { up: [], down: [], names: [] };
  const frameOf = o => P.frames.findIndex((_, at) => ownerOf(at) === o), traits = traitsOf(o);
  const up = traits.filter(t => typeof t === 'number').map(frameOf).filter(at => at >= 0);
  const down = D.owners.map((_, i) => i).filter(i => traitsOf(i).includes(o)).map(frameOf).filter(at => at >= 0);
  return { up, down, names: traits.map(nameOfTrait) };
}
function describeFrame(at) {
  const f = P.frames[at], methods = inFrame[at] ?? [], sum = methods.reduce((sum, m) => sum + amountOf(m), 0), { names, down } = related(at);
  const out = [f[6].replace(/::fn$/, ': free functions'), plural(methods.length, 'method'), amountText(sum)];
  if (names.length) out.push(`${f[4] === 'trait' ? 'supertraits' : 'implements'}: ${names.slice(0, 12).join(', ')}`);
  if (down.length) out.push(`${plural(down.length, 'implementor')}: ${down.slice(0, 8).map(at => P.frames[at][5]).join(', ')}`);
  return out.join('\n');
}
// Lines from a frame to its traits and implementors.
function relate(at) {
  const over = $('relations');
  if (!over) return;
  const { up, down } = at == null ? { up: [], down: [] } : related(at);
  const middle = at => { const [x, y, w, h] = P.frames[at]; return [x + w / 2, y + h / 2]; };
  const outline = (at, word) => { const [x, y, w, h] = P.frames[at]; return `<rect class="related ${word}" x="${x}" y="${y}" width="${w}" height="${h}"/>`; };
  const to = (other, word) => `<path class="related ${word}" d="M${middle(at)}L${middle(other)}"/>${outline(other, word)}`;
  over.innerHTML = up.length + down.length ? outline(at, 'here') + up.map(it => to(it, 'up')).join('') + down.map(it => to(it, 'down')).join('') : '';
}
