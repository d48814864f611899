// Faults of the labels of a picture at the zoom at which its page opens, in sentences.
(() => {
  const faults = [], part = .02, least = 9;
  const rect = el => { const { left, top, right, bottom } = el.getBoundingClientRect(); return { left, top, right, bottom }; };
  const meet = (a, b) => a.left + .5 < b.right && b.left + .5 < a.right && a.top + .5 < b.bottom && b.top + .5 < a.bottom;
  const isShown = el => getComputedStyle(el).display !== 'none';
  const fits = (a, b) => a.left >= b.left - .5 && a.top >= b.top - .5 && a.right <= b.right + .5 && a.bottom <= b.bottom + .5;
  // The letters alone: a line of text is higher than they are.
  const ofText = el => {
    const r = rect(el), size = parseFloat(getComputedStyle(el).fontSize) * zoom, isTurned = el.hasAttribute('transform');
    const over = Math.max(0, ((isTurned ? r.right - r.left : r.bottom - r.top) - size) / 2);
    return isTurned ? { ...r, left: r.left + over, right: r.right - over } : { ...r, top: r.top + over, bottom: r.bottom - over };
  };
  const labels = [...all.querySelectorAll('.n text.label, .ft')].filter(isShown)
    .map(el => ({ el, text: el.textContent, rect: ofText(el), node: el.closest('.n')?.dataset.n }));
  const rects = boxes.map(box => rect(box.querySelector('.b')));
  // The parts of the lines, on the screen.
  const screen = (a, b, c, d) => { const v = view.getBoundingClientRect(), at = (n, by) => n * zoom + by;
    return { left: v.left + at(Math.min(a, c), left), right: v.left + at(Math.max(a, c), left) + .6, top: v.top + at(Math.min(b, d), top_), bottom: v.top + at(Math.max(b, d), top_) + .6 }; };
  const parts = lines.filter(isShown).flatMap(line => {
    const [, x, y, , bend, , to, end] = line.getAttribute('d').match(/^M([\d.-]+) ([\d.-]+)(V([\d.-]+))(H([\d.-]+))V([\d.-]+)$/)?.map(Number) ?? [];
    const name = nameOf(P.edges[line.dataset.e][1]);
    return x == null ? [] : [screen(x, y, x, bend), screen(x, bend, to, bend), screen(to, bend, to, end)].map(rect => ({ rect, to: name }));
  });
  labels.forEach((label, i) => {
    if (fitted && !fits(label.rect, rect(view))) faults.push(`${label.text} leaves the page`);
    labels.slice(i + 1).filter(other => meet(label.rect, other.rect)).forEach(other => faults.push(`${label.text} meets ${other.text}`));
    const isWithin = label.node != null && ['inside', 'upright'].some(place => more(+label.node)[place]);
    rects.forEach((box, at) => {
      if (isWithin && at === +label.node) { if (!fits(label.rect, box)) faults.push(`${label.text} leaves its box`); }
      else if (meet(label.rect, box)) faults.push(`${label.text} meets the box of ${nameOf(at)}`);
    });
    for (const frame of all.querySelectorAll('.frame, .ghost'))
      if (frame.matches('.frame') && label.node != null && meet(label.rect, rect(frame)) && !isWithin) faults.push(`${label.text} meets a frame`);
    parts.filter(part => meet(label.rect, part.rect)).forEach(part => faults.push(`${label.text} meets the line to ${part.to}`));
    // A name beside a box of a tree is cut only where there is no room for three more letters, and for the space behind them.
    if (P.frames.length || label.node == null || !more(+label.node).beside || !label.text.includes('…')) return;
    const letter = (label.rect.right - label.rect.left) / label.text.length;
    const longer = { ...label.rect, left: label.rect.right + 1, right: label.rect.right + 3 * letter + 10 * zoom };
    const isFree = ![...labels.filter(other => other !== label), ...parts].some(other => meet(longer, other.rect)) && !rects.some(box => meet(longer, box));
    if (isFree && longer.right < rect(view).right - 24) faults.push(`${label.text} is cut although there is room`);
  });
  // What takes time has a name that can be read.
  const whole = Math.max(...P.nodes.map((_, at) => methodsOf(at).length ? D.methods[methodsOf(at)[0]][TOTAL] ?? 0 : 0));
  // The height of an object grows with the square root of its number.
  const number = at => ((P.nodes[at][3] - 3) / 30) ** 2, sum = P.nodes.reduce((all, _, at) => all + number(at), 0);
  const shareOf = at => P.kind === 'domain' ? number(at) / sum : P.of_methods && whole ? D.methods[methodsOf(at)[0]][TOTAL] / whole : 0;
  const parents = P.nodes.map((_, at) => P.edges.find(([, to, , kind]) => to === at && !kind)?.[0] ?? (methodsOf(at).length ? `owner ${D.methods[methodsOf(at)[0]][OWNER]}` : 'none'));
  const seen = new Set();
  P.nodes.forEach((_, at) => {
    const label = labels.find(label => label.node != null && +label.node === at), m = methodsOf(at)[0];
    if (m != null && shareOf(at) >= part) {
      if (!label) faults.push(`${nameOf(at)} has no label`);
      else if (parseFloat(getComputedStyle(label.el).fontSize) * zoom < least - .1) faults.push(`${label.text} is ${parseFloat(getComputedStyle(label.el).fontSize) * zoom} px high`);
    }
    if (!label) return;
    const key = `${parents[at]} ${label.text}`;
    if (seen.has(key)) faults.push(`two labels are ${label.text}`);
    seen.add(key);
  });
  return faults;
})()
