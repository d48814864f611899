//! Measurements requested of a node since it was last dirty, to separate repeated from new ones.

use taffy::{AvailableSpace, LayoutInput};

/// Questions that are remembered. Taffy's cache has room for ten answers.
const MAX: usize = 16;

/// Requested measurements of a node, by their hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRequests(Vec<u64>);

impl SeenRequests {
    /// Notes a request, and returns `true` if it is a repeated one.
    pub fn note(&mut self, inputs: &LayoutInput) -> bool {
        let question = hash(inputs);
        if self.0.contains(&question) {
            return true;
        }
        if self.0.len() == MAX {
            self.0.remove(0);
        }
        self.0.push(question);
        false
    }

    /// Forgets all questions: the answers would be others now.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// All that an answer depends on, mixed. It is done for each re-layout, so it is a few
/// instructions.
fn hash(inputs: &LayoutInput) -> u64 {
    let LayoutInput {
        known_dimensions: known, parent_size: parent, available_space: space, ..
    } = inputs;
    let definite = inputs.known_dimensions_are_definite;
    let collapsible = inputs.vertical_margins_are_collapsible;
    let flags = [definite.width, definite.height, collapsible.start, collapsible.end];
    let modes = [inputs.run_mode as u64, inputs.sizing_mode as u64, inputs.axis as u64];
    let modes = flags
        .iter()
        .fold(modes[0] << 4 | modes[1] << 2 | modes[2], |bits, &flag| bits << 1 | u64::from(flag));
    let pair = |one: Option<f32>, other: Option<f32>| bits(one) << 32 | bits(other);
    let spaces = [space.width, space.height].map(|space| match space {
        AvailableSpace::Definite(length) => length.to_bits(),
        AvailableSpace::MinContent => f32::NEG_INFINITY.to_bits(),
        AvailableSpace::MaxContent => f32::INFINITY.to_bits(),
    });
    let spaces = u64::from(spaces[0]) << 32 | u64::from(spaces[1]);
    let words = [pair(known.width, known.height), pair(parent.width, parent.height), spaces, modes];
    words.iter().fold(0, |mixed: u64, word| {
        (mixed.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95)
    })
}

/// A length, or none, which is no length that occurs.
fn bits(length: Option<f32>) -> u64 {
    u64::from(length.unwrap_or(f32::NAN).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_width(width: f32) -> LayoutInput {
        let known_dimensions = taffy::Size { width: Some(width), height: None };
        LayoutInput { known_dimensions, ..LayoutInput::HIDDEN }
    }

    #[test]
    fn a_question_is_new_once() {
        let mut requests = SeenRequests::default();
        assert!(!requests.note(&at_width(1.0)));
        assert!(!requests.note(&at_width(2.0)));
        assert!(requests.note(&at_width(1.0)));
        requests.clear();
        assert!(!requests.note(&at_width(1.0)));
    }

    #[test]
    fn the_oldest_question_is_forgotten_first() {
        let mut requests = SeenRequests::default();
        (0..=MAX).for_each(|width| assert!(!requests.note(&at_width(width as f32))));
        assert!(requests.note(&at_width(1.0)));
        assert!(!requests.note(&at_width(0.0)));
    }
}
