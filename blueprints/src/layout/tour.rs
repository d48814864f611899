//! Order in which a walk enters and leaves the members of a tree. It answers "is above" in two
//! comparisons.

/// Walk through a tree, or through several trees.
pub struct Tour {
    entered: Vec<usize>,
    left: Vec<usize>,
}

impl Tour {
    /// Walks the trees with these roots.
    pub fn new(children: &[Vec<usize>], roots: &[usize]) -> Tour {
        let mut tour = Tour { entered: vec![0; children.len()], left: vec![0; children.len()] };
        let mut open: Vec<(usize, bool)> = roots.iter().map(|&root| (root, false)).collect();
        let mut step = 0;
        while let Some((at, is_done)) = open.pop() {
            step += 1;
            if is_done {
                tour.left[at] = step;
            } else {
                tour.entered[at] = step;
                open.push((at, true));
                open.extend(children[at].iter().map(|&child| (child, false)));
            }
        }
        tour
    }

    /// Returns true if `at` is `above` itself, or is somewhere below it.
    pub(crate) fn is_above(&self, above: usize, at: usize) -> bool {
        self.entered[above] > 0
            && self.entered[above] <= self.entered[at]
            && self.left[at] <= self.left[above]
    }
}
