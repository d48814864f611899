//! How much of a program is covered (SPY, section 5.1).

use std::collections::BTreeMap;

use crate::method_profilers::{MethodSpy, Mirror, PackageSpy, TestCoverage, TypeSpy};

/// How much of something ran. Tests are left out.
///
/// ```
/// use metaspy_core::method_profilers::{self, TestCoverage};
///
/// let spying = method_profilers::install(TestCoverage::default()).expect("there is room for a profiler");
/// // … what is woven runs …
/// let mirror = spying.uninstall();
/// for package in mirror.packages() {
///     let ratio = mirror.ratio_of_package(package);
///     println!("{:>3.0} %  {}", 100.0 * ratio.of_methods(), package.path);
/// }
/// for method in mirror.methods().iter().filter(|method| !method.is_covered()) {
///     println!("never ran: {}", method.facts.path());
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// Methods.
    pub methods: usize,
    /// Those that ran.
    pub covered: usize,
    /// Types with such methods; free functions belong to none.
    pub types: usize,
    /// Those of which a method ran.
    pub covered_types: usize,
}

impl Ratio {
    fn of<'s>(methods: impl Iterator<Item = &'s MethodSpy<TestCoverage>>) -> Self {
        let mut ratio = Ratio::default();
        let mut types = BTreeMap::new();
        for method in methods.filter(|method| !method.facts.is_test) {
            let is_covered = method.is_covered();
            ratio.methods += 1;
            ratio.covered += usize::from(is_covered);
            if !method.owner.name.is_empty() {
                *types.entry(&raw const *method.owner).or_default() |= is_covered;
            }
        }
        ratio.types = types.len();
        ratio.covered_types = types.values().filter(|&&is_covered| is_covered).count();
        ratio
    }

    /// Of the methods, those that ran; 1 where there are none.
    pub fn of_methods(&self) -> f64 {
        part(self.covered, self.methods)
    }

    /// Of the types, those of which a method ran; 1 where there are none.
    pub fn of_types(&self) -> f64 {
        part(self.covered_types, self.types)
    }

    /// Whether anything of it ran.
    pub fn is_covered(&self) -> bool {
        self.covered > 0
    }
}

fn part(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

impl MethodSpy<TestCoverage> {
    /// Whether it ran.
    pub fn is_covered(&self) -> bool {
        self.data.executions.get() > 0
    }
}

impl Mirror<TestCoverage> {
    /// How much of all ran.
    pub fn ratio(&self) -> Ratio {
        Ratio::of(self.methods().iter())
    }

    /// How much of a type ran, its associated side included.
    pub fn ratio_of_type(&self, of: &TypeSpy<TestCoverage>) -> Ratio {
        Ratio::of(self.methods_of(of))
    }

    /// How much of a package ran, the packages within it included.
    pub fn ratio_of_package(&self, package: &PackageSpy<TestCoverage>) -> Ratio {
        Ratio::of(self.methods_within(package))
    }
}
