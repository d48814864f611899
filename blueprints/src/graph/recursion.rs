//! Groups of methods that call each other, directly or through others.

use super::Call;

/// Groups the methods that call each other; most groups have a single method. Each group comes
/// after the groups that it calls.
///
/// Tarjan, *Depth-first search and linear graph algorithms*, with an explicit stack, because chains
/// of calls are long.
pub fn groups(count: usize, calls: &[Call]) -> Vec<Vec<usize>> {
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
    calls.iter().for_each(|call| callees[call.from].push(call.to));
    let mut search =
        Search { lowest: vec![0; count], next: 1, open: Vec::new(), groups: Vec::new() };
    for start in 0..count {
        search.from(start, &callees);
    }
    search.groups
}

/// Marker of a method whose group is complete.
const CLOSED: usize = usize::MAX;

struct Search {
    /// For each method, the smallest number that it leads to; 0 before the search meets it.
    lowest: Vec<usize>,
    next: usize,
    /// Methods whose group is not complete.
    open: Vec<usize>,
    groups: Vec<Vec<usize>>,
}

impl Search {
    fn from(&mut self, start: usize, callees: &[Vec<usize>]) {
        // Each element holds a method, its number, and its next callee.
        let mut path: Vec<(usize, usize, usize)> = Vec::new();
        path.extend(self.meet(start));
        while let Some((method, number, at)) = path.last_mut() {
            let method = *method;
            let number = *number;
            if let Some(&callee) = callees[method].get(*at) {
                *at += 1;
                match self.meet(callee) {
                    Some(met) => path.push(met),
                    None if self.lowest[callee] != CLOSED => {
                        self.lowest[method] = self.lowest[method].min(self.lowest[callee]);
                    }
                    None => {}
                }
                continue;
            }
            path.pop();
            let lowest = self.lowest[method];
            if lowest == number {
                self.close(method);
            } else if let Some(&(caller, ..)) = path.last() {
                self.lowest[caller] = self.lowest[caller].min(lowest);
            }
        }
    }

    /// Returns a method with its new number, or `None` if the search has met it before.
    fn meet(&mut self, method: usize) -> Option<(usize, usize, usize)> {
        let is_new = self.lowest[method] == 0;
        is_new.then(|| {
            let number = self.next;
            (self.lowest[method], self.next) = (number, number + 1);
            self.open.push(method);
            (method, number, 0)
        })
    }

    /// Completes the group whose first method is `first`.
    fn close(&mut self, first: usize) {
        let at = self.open.iter().rposition(|&method| method == first).unwrap_or(0);
        let group = self.open.split_off(at);
        group.iter().for_each(|&method| self.lowest[method] = CLOSED);
        self.groups.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_call_each_other_are_one_group_behind_what_they_call() {
        let call = |(from, to)| Call { from, to, count: 1, total_ns: 0 };
        let calls = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (0, 4), (4, 3), (4, 2)].map(call);
        assert_eq!(groups(5, &calls), [vec![3], vec![1, 2], vec![4], vec![0]]);
        let chain: Vec<Call> = (0..100_000).map(|at| call((at, at + 1))).collect();
        assert_eq!(groups(100_001, &chain).len(), 100_001, "a long chain overflows no stack");
    }
}
