//! Layout of the boxes of one type: columns by ascending height, with the lower sides on one line.

/// Space between two boxes, in pixels.
pub const GAP: f64 = 2.0;

/// Places boxes of these sizes, and returns their positions in the order of the sizes, and the size
/// of the whole.
pub fn columns(sizes: &[(f64, f64)]) -> (Vec<(f64, f64)>, (f64, f64)) {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| {
        sizes[a].1.total_cmp(&sizes[b].1).then(sizes[a].0.total_cmp(&sizes[b].0)).then(a.cmp(&b))
    });
    let area: f64 = sizes.iter().map(|(w, h)| (w + GAP) * (h + GAP)).sum();
    let tallest = sizes.iter().map(|&(_, h)| h).fold(0.0, f64::max);
    let limit = tallest.max(0.8 * area.sqrt());
    let mut places = vec![(0.0, 0.0); sizes.len()];
    // Each column holds its boxes and its height.
    let mut all: Vec<(Vec<usize>, f64)> = Vec::new();
    for at in order {
        let height = sizes[at].1;
        match all.last_mut().filter(|(_, used)| used + GAP + height <= limit) {
            Some((column, used)) => {
                column.push(at);
                *used += GAP + height;
            }
            None => all.push((vec![at], height)),
        }
    }
    let height = all.iter().map(|&(_, used)| used).fold(0.0, f64::max);
    let mut x = 0.0;
    for (column, used) in &all {
        let mut y = height - used;
        for &at in column {
            places[at] = (x, y);
            y += sizes[at].1 + GAP;
        }
        x += column.iter().map(|&at| sizes[at].0).fold(0.0, f64::max) + GAP;
    }
    (places, ((x - GAP).max(0.0), height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_ascend_and_stand_on_one_line() {
        let sizes = [(5.0, 100.0), (4.0, 3.0), (6.0, 3.0), (3.0, 40.0)];
        let (places, size) = columns(&sizes);
        assert_eq!(size, (6.0 + GAP + 5.0, 100.0));
        assert_eq!(places[0], (8.0, 0.0));
        // The three smaller boxes form a column, from the smallest down.
        assert_eq!(places[1], (0.0, 50.0));
        assert_eq!(places[2], (0.0, 55.0));
        assert_eq!(places[3], (0.0, 60.0));
    }

    #[test]
    fn many_small_boxes_are_about_as_high_as_wide() {
        let (places, (w, h)) = columns(&[(6.0, 3.0); 400]);
        assert!(places.len() == 400 && w > 0.5 * h && h > 0.5 * w, "{w} × {h}");
        assert_eq!(columns(&[]), (vec![], (0.0, 0.0)));
    }
}
