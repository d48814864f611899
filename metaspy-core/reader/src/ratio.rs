//! Share of a program, a package or a type that ran.

/// Numbers of methods and types, and of those that ran. Tests and items that only tests use are
/// left out, and so are methods that cannot run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// Number of methods.
    pub methods: u32,
    /// Number of methods that ran.
    pub covered: u32,
    /// Number of types with methods that can run. Free functions belong to no type, and a type
    /// whose definition was not found does not count.
    pub types: u32,
    /// Number of types with a method that ran.
    pub covered_types: u32,
}

impl Ratio {
    /// Returns the share of the methods that ran, from 0 to 1; 1 if there are no methods.
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
