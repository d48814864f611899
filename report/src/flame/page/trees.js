// Trees of stacks. A node has the numbers of each measure: without callees, with them, and those of an earlier recording.
const DATA = JSON.parse(document.getElementById('data').textContent);
const ROOT = -1, FOLDED = -2;
// Most nodes of a tree that is made here. What is beyond counts for its caller.
const MOST = 50000;

const zeros = set => set.measures.map(() => 0);
function newNode(set, f, parent) {
  const node = { f, parent, kids: [], byName: new Map(), own: zeros(set), total: zeros(set), before: null, part: false, smaller: 0 };
  if (set.difference) node.before = { own: zeros(set), total: zeros(set) };
  if (parent) { parent.kids.push(node); parent.byName.set(f, node); }
  return node;
}
const child = (set, of, f) => of.byName.get(f) ?? newNode(set, f, of);
const add = (to, from) => from.forEach((value, k) => { to[k] += value; });

// The tree of a lane.
function decode(set, lane) {
  const nodes = [], around = [];
  lane.depth.forEach((depth, i) => {
    const node = newNode(set, lane.f[i], depth ? around[depth - 1] : null);
    around[depth] = node;
    node.own = lane.own.map(column => column[i]);
    if (set.difference) node.before.own = lane.before.map(column => column[i]);
    node.smaller = lane.folded[i] ?? 0;
    nodes.push(node);
  });
  lane.part.forEach(i => { nodes[i].part = true; });
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    // A total is the sum of what is below, but for those that are given.
    node.total = node.own.map((own, k) => lane.total[k][i] ?? node.kids.reduce((all, kid) => all + kid.total[k], own));
    if (set.difference) node.before.total = node.before.own.map((own, k) => lane.before_total[k][i] ?? node.kids.reduce((all, kid) => all + kid.before.total[k], own));
  }
  return nodes[0];
}

// Adds a tree to another one.
function absorb(set, to, from) {
  add(to.own, from.own); add(to.total, from.total);
  if (set.difference) { add(to.before.own, from.before.own); add(to.before.total, from.before.total); }
  to.part ||= from.part; to.smaller += from.smaller;
  for (const kid of from.kids) absorb(set, child(set, to, kid.f), kid);
}

function* nodesOf(root) {
  const next = [root];
  while (next.length) { const node = next.pop(); yield node; next.push(...node.kids); }
}

// Own numbers by function, and below each function its callers.
function inverted(set, root) {
  const top = newNode(set, ROOT, null);
  if (set.edges) {
    // Callers are known one level up, for all of a method's time and not for its own.
    for (const [f, row] of rowsOf(set)) put(set, child(set, top, f), row);
    for (const kid of top.kids) { kid.total = [...kid.own]; add(top.total, kid.own); }
    return top;
  }
  const with_own = [...nodesOf(root)].filter(node => node.f !== ROOT && (node.own.some(own => own) || node.before?.own.some(own => own)));
  with_own.sort((a, b) => b.own[0] - a.own[0]);
  let made = 0;
  for (const node of with_own) {
    let to = top;
    const count = () => { add(to.total, node.own); if (set.difference) add(to.before.total, node.before.own); };
    count();
    for (let at = node; at && at.f !== ROOT; at = at.parent) {
      if (made > MOST && !to.byName.has(at.f)) break;
      if (!to.byName.has(at.f)) made++;
      to = child(set, to, at.f);
      count();
    }
  }
  for (const kid of top.kids) { kid.own = [...kid.total]; if (set.difference) kid.before.own = [...kid.before.total]; }
  return top;
}
function put(set, node, row) {
  add(node.own, row.own); add(node.total, row.total);
  if (set.difference) { add(node.before.own, row.before.own); add(node.before.total, row.before.total); }
}

// What calls a function, and what it calls. Calls within its calls are a part of these.
function sandwich(set, root, f) {
  const callers = newNode(set, f, null), callees = newNode(set, f, null), row = rowsOf(set).get(f);
  if (set.edges) {
    put(set, callers, row); put(set, callees, row);
    for (const [from, to, ...total] of set.edges) {
      if (to === f && from !== f) add(child(set, callers, from ?? ROOT).total, total);
      if (from === f && to !== f) add(child(set, callees, to).total, total);
    }
    for (const node of [...callers.kids, ...callees.kids]) node.part = node.f !== ROOT;
    return { callers, callees };
  }
  const next = [root];
  while (next.length) {
    const node = next.pop();
    if (node.f !== f) { next.push(...node.kids); continue; }
    absorb(set, callees, node);
    let to = callers;
    for (let at = node; at && at.f !== ROOT; at = at.parent) {
      if (at !== node) to = child(set, to, at.f);
      add(to.total, node.total);
      if (set.difference) add(to.before.total, node.before.total);
    }
  }
  // Frames that the page folds are missing in the stacks, and not in the row.
  if (row && set.folded) for (const node of [callers, callees]) { node.own = [...row.own]; node.total = node.total.map((total, k) => Math.max(total, row.total[k])); }
  else callers.own = [...callees.own];
  return { callers, callees };
}

// The calls of a lane in the order of time.
function inTime(set, lane) {
  const top = newNode(set, ROOT, null), open = [];
  const first = lane.calls[0]?.[0] ?? 0;
  let last = first;
  for (const [start, took, f] of lane.calls) {
    while (open.length && open.at(-1).end <= start && open.at(-1).end < start + Math.max(took, 1)) open.pop();
    const node = newNode(set, f, open.at(-1) ?? top);
    Object.assign(node, { start, end: start + took, total: zeros(set).map((zero, k) => k ? zero : took), own: null });
    open.push(node);
    last = Math.max(last, node.end);
  }
  Object.assign(top, { start: first, end: last });
  top.total[0] = last - first;
  return top;
}

// Exact numbers by function: `[f, own, total, …]`, with an earlier recording `[f, own, total, own before, total before, …]`.
function rowsOf(set) {
  if (set.byFunction) return set.byFunction;
  const step = set.difference ? 4 : 2, at = (row, k, i) => row[1 + k * step + i];
  const numbers = (row, i) => set.measures.map((_, k) => at(row, k, i));
  set.byFunction = new Map(set.rows.map(row => [row[0], {
    own: numbers(row, 0), total: numbers(row, 1), before: set.difference && { own: numbers(row, 2), total: numbers(row, 3) },
  }]));
  return set.byFunction;
}
