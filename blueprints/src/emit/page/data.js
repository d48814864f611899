'use strict';
// The data of the page, and words for it. D is the graph of the picture that is shown, P the picture.
const $ = id => document.getElementById(id);
const PAGE = JSON.parse($('data').textContent);
const [NAME, OWNER, RUNS, TOTAL, OWN, RECEIVERS, RETURNS, TESTS, LINES, FILE, LINE, HOOKS] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const RETURNED = { constant: 'always the same value for each receiver', self: 'its receiver', unit: 'nothing',
  varies: 'different values', 'not-comparable': 'values that cannot be compared' };
let D, P, callers, callees, box, byTime;

const esc = s => String(s).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const num = n => n.toLocaleString('en-US');
const time = ns => ns == null ? 'n/a' : D.measured?.unit === 'count' ? num(ns) : ns < 1e3 ? ns + ' ns' : ns < 1e6 ? (ns / 1e3).toFixed(2) + ' µs'
  : ns < 1e9 ? (ns / 1e6).toFixed(2) + ' ms' : (ns / 1e9).toFixed(2) + ' s';
// Words for what the height and the width of a box are.
const amountWord = () => D.measured?.amount ?? 'time', countWord = () => D.measured?.count ?? 'call';
const times = n => num(n) + (countWord() === 'call' ? '×' : '');
const plural = (n, word) => `${num(n)} ${word}${n === 1 ? '' : 's'}`;
const owner = m => D.owners[D.methods[m][OWNER]];
const short = m => { const [, type] = owner(m), name = D.methods[m][NAME]; return type === 'fn' || !type ? name : `${type}::${name}`; };
const path = m => [owner(m)[0], short(m)].filter(Boolean).join('::');
const methodsOf = at => P.nodes[at][5];
const more = at => P.nodes[at][6] ?? {};
// A chain is named by the method with most own time.
const nameGiver = at => methodsOf(at)[more(at).named ?? 0];
const nameOf = at => methodsOf(at).length ? short(nameGiver(at)) : 'the whole program';
// `≤ ` if a number of a method is an upper bound: its calls, its total, or its own time and the calls that it makes.
const most = (m, number) => D.at_most?.[number].includes(m) ? '≤ ' : '';
const amount = m => D.methods[m][TOTAL] ?? D.methods[m][RUNS];
const weight = at => amount(methodsOf(at)[0]);

// Callers and callees of each method, the box of each method, and the boxes in the order of their times.
function load(picture) {
  P = PAGE.pictures[picture];
  if (D !== PAGE.graphs[P.graph]) {
    D = PAGE.graphs[P.graph];
    callers = D.methods.map(() => []); callees = D.methods.map(() => []);
    for (const [from, to, count, ns = 0] of D.calls) { callees[from].push([to, count, ns]); callers[to].push([from, count, ns]); }
    for (const list of [...callers, ...callees]) list.sort((a, b) => b[1] - a[1]);
  }
  box = new Array(D.methods.length);
  P.nodes.forEach((n, at) => n[5].forEach(m => box[m] = at));
  byTime = P.nodes.map((_, at) => at).filter(at => methodsOf(at).length).sort((a, b) => weight(b) - weight(a));
}

// What is known of a box, in lines.
function describe(at) {
  const methods = methodsOf(at);
  if (!methods.length) return 'the whole program';
  const m = methods[0], d = D.methods[m], tip = more(at).tip?.split('\n') ?? [];
  if (!P.of_methods) return [path(m), ...tip].join('\n');
  const out = [path(m), ...tip, d[RUNS] === 0 ? 'never ran' : most(m, 'calls') + plural(d[RUNS], countWord()) + (D.measured || d[RECEIVERS] === 'n/a' ? '' : `, receivers: ${d[RECEIVERS]}`)];
  if (d[TOTAL] != null && d[RUNS]) out.push(`total ${most(m, 'total')}${time(d[TOTAL])}, own ${most(m, 'own')}${time(d[OWN])}`
    + (D.measured || most(m, 'calls') || most(m, 'total') ? '' : `, ${time(Math.round(d[TOTAL] / d[RUNS]))} a call`));
  if (d[HOOKS]) out.push(`recorded total ${time(d[TOTAL] + d[HOOKS])}, ${time(d[HOOKS])} of it hooks`);
  if (d[RETURNS] != null) out.push(`returns: ${RETURNED[D.returns[d[RETURNS]]]}`);
  if (d[TESTS]) out.push(`in ${plural(d[TESTS], 'test')}`);
  const same = callees[m].filter(([c]) => countWord() === 'call' && d[RUNS] > 1 && D.methods[c][RUNS] === d[RUNS] && !most(m, 'calls') && !most(c, 'calls')).map(([c]) => short(c));
  if (same.length) out.push(`1:1 with ${same.slice(0, 4).join(', ')}${same.length > 4 ? ` and ${same.length - 4} more` : ''}`);
  if (more(at).named) out.push(`most own ${amountWord()}: ${short(nameGiver(at))}, ${most(nameGiver(at), 'own')}${time(D.methods[nameGiver(at)][OWN])}`);
  if (methods.length > 1) out.push(`stands for ${methods.slice(1, 12).map(short).join(', ')}${methods.length > 12 ? ', …' : ''}`);
  if (d[LINES]) out.push(`${plural(d[LINES], 'line')}, ${D.files[d[FILE]].split('/').slice(-3).join('/')}:${d[LINE]}`);
  return out.join('\n');
}
