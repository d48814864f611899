//! How much of a program, a package or a type ran.

/// Methods and types, and how many of them ran. Tests and what only they use are left out, and so are methods
/// that cannot run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// Methods.
    pub methods: u32,
    /// Methods that ran.
    pub covered: u32,
    /// Types with such methods. Free functions belong to no type, and a type whose definition was not found is not counted.
    pub types: u32,
    /// Types with a method that ran.
    pub covered_types: u32,
}

impl Ratio {
    /// The part of the methods that ran, from 0 to 1; 1 if there are no methods.
    pub fn rate(&self) -> f64 {
        if self.methods == 0 { 1.0 } else { f64::from(self.covered) / f64::from(self.methods) }
    }
}

impl std::ops::AddAssign for Ratio {
    fn add_assign(&mut self, more: Ratio) {
        self.methods += more.methods;
        self.covered += more.covered;
        self.types += more.types;
        self.covered_types += more.covered_types;
    }
}
