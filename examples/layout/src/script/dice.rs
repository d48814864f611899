//! Dice that fall alike for the same seed, on every machine.

/// A generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// True once in `times` rolls.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.roll().is_multiple_of(times)
    }

    /// One of these, if there is one.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let roll = self.roll();
        (!all.is_empty()).then(|| all[(roll % all.len() as u64) as usize])
    }
}
