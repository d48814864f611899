//! Packing of frames on a page: each goes as high as it fits below the frames already placed, the
//! largest first.

/// Width of a page, as a multiple of its height.
const ASPECT: f64 = 1.6;

/// Packs frames of these sizes, and returns their positions in the order of the sizes, and the size
/// of the page. It tries seven page widths and takes the page that appears largest when it is
/// scaled to a screen.
pub fn pack(sizes: &[(f64, f64)], gap: f64) -> (Vec<(f64, f64)>, (f64, f64)) {
    let area: f64 = sizes.iter().map(|(w, h)| (w + gap) * (h + gap)).sum();
    let widest = sizes.iter().map(|&(w, _)| w).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| {
        (sizes[b].0 * sizes[b].1).total_cmp(&(sizes[a].0 * sizes[a].1)).then(a.cmp(&b))
    });
    let side = (area * ASPECT).sqrt();
    let fits = |&(_, (w, h)): &(Vec<(f64, f64)>, (f64, f64))| f64::max(w / ASPECT, h);
    let pages = (0..7).map(|step| {
        pack_into(sizes, &order, gap, widest.max(side * (0.9 + f64::from(step) / 6.0)))
    });
    pages.min_by(|a, b| fits(a).total_cmp(&fits(b))).unwrap_or_default()
}

/// Function that places frames of these sizes with a gap between them, and returns the size of the
/// page.
pub type Pack = fn(&[(f64, f64)], f64) -> (Vec<(f64, f64)>, (f64, f64));

/// Places frames in rows, in the order of the sizes.
pub fn rows(sizes: &[(f64, f64)], gap: f64) -> (Vec<(f64, f64)>, (f64, f64)) {
    let area: f64 = sizes.iter().map(|(w, h)| (w + gap) * (h + gap)).sum();
    let width = sizes.iter().map(|&(w, _)| w).fold((area * ASPECT).sqrt(), f64::max);
    let mut x = 0.0;
    let mut y = 0.0;
    let mut below = 0.0_f64;
    let mut page = (0.0_f64, 0.0_f64);
    let place = |&(w, h): &(f64, f64)| {
        if x > 0.0 && x + w > width {
            (x, y) = (0.0, below + gap);
        }
        let place = (x, y);
        below = below.max(y + h);
        page = (page.0.max(x + w), page.1.max(y + h));
        x += w + gap;
        place
    };
    let places = sizes.iter().map(place).collect();
    (places, page)
}

/// Part of the skyline: the lower side of the frames between `x` and the next part.
#[derive(Clone, Copy)]
struct Step {
    x: f64,
    y: f64,
}

fn pack_into(
    sizes: &[(f64, f64)],
    order: &[usize],
    gap: f64,
    width: f64,
) -> (Vec<(f64, f64)>, (f64, f64)) {
    let mut places = vec![(0.0, 0.0); sizes.len()];
    let mut steps = vec![Step { x: 0.0, y: 0.0 }];
    let mut page = (0.0_f64, 0.0_f64);
    for &at in order {
        let (w, h) = sizes[at];
        let (x, y) = lowest(&steps, w + gap, width + gap);
        places[at] = (x, y);
        page = (page.0.max(x + w), page.1.max(y + h));
        raise(&mut steps, x, x + w + gap, y + h + gap);
    }
    (places, page)
}

/// Finds the highest place on the page at which a frame of this width fits, and among equals the
/// leftmost.
fn lowest(steps: &[Step], w: f64, width: f64) -> (f64, f64) {
    let mut best = (0.0, f64::INFINITY);
    for (at, step) in steps.iter().enumerate() {
        if step.x > 0.0 && step.x + w > width {
            break;
        }
        let under = steps[at..].iter().take_while(|next| next.x < step.x + w);
        let y = under.map(|next| next.y).fold(0.0, f64::max);
        if y < best.1 {
            best = (step.x, y);
        }
    }
    best
}

/// Sets the skyline to `y` between `from` and `to`.
fn raise(steps: &mut Vec<Step>, from: f64, to: f64, y: f64) {
    let first = steps.partition_point(|step| step.x < from);
    let behind = steps.partition_point(|step| step.x <= to);
    let after = Step { x: to, y: steps[behind - 1].y };
    steps.splice(first..behind, [Step { x: from, y }, after]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_frames_overlap_and_the_page_is_a_screen() {
        let mut dice = 7_u64;
        let mut roll = |sides: u64| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        let sizes: Vec<(f64, f64)> =
            (0..200).map(|_| (10.0 + roll(90) as f64, 10.0 + roll(150) as f64)).collect();
        let (places, (w, h)) = pack(&sizes, 4.0);
        for (at, (&(x, y), &(w, h))) in places.iter().zip(&sizes).enumerate() {
            for (&(ox, oy), &(ow, oh)) in places[at + 1..].iter().zip(&sizes[at + 1..]) {
                let is_apart = x + w + 4.0 <= ox + 1e-6
                    || ox + ow + 4.0 <= x + 1e-6
                    || y + h + 4.0 <= oy + 1e-6
                    || oy + oh + 4.0 <= y + 1e-6;
                assert!(is_apart, "{:?} and {:?}", (x, y, w, h), (ox, oy, ow, oh));
            }
        }
        assert!(w / h > 1.2 && w / h < 2.2, "{w} × {h}");
        let area: f64 = sizes.iter().map(|(w, h)| w * h).sum();
        assert!(area / (w * h) > 0.7, "{:.2} of the page is used", area / (w * h));
    }

    #[test]
    fn one_frame_and_none() {
        assert_eq!(pack(&[(30.0, 20.0)], 4.0), (vec![(0.0, 0.0)], (30.0, 20.0)));
        assert_eq!(pack(&[], 4.0), (vec![], (0.0, 0.0)));
    }
}
