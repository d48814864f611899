//! How much of a program, a package or a type ran.

use std::collections::{BTreeMap, HashSet};

use crate::method_profilers::{MethodProfiler, MethodSpy, Mirror, PackageSpy, TypeSpy};
use crate::profile::Profile;
use crate::site::SiteId;

/// Methods and types, and how many of them ran. Tests and what only they use are left out, and so are methods
/// that cannot run.
///
/// ```
/// use metaspy_core::Profiler;
/// use metaspy_core::method_profilers::TestCoverage;
///
/// let profiler = Profiler::new("coverage").method_profiler(TestCoverage::default()).install()?;
/// // … the program runs …
/// let profile = profiler.uninstall();
/// let mirror = profile.mirror::<TestCoverage>().expect("it was installed");
/// let ran = profile.methods_run();
/// println!("{:.0} % of the methods ran", 100.0 * mirror.ratio(&ran).rate());
/// for method in mirror.methods().iter().filter(|method| !method.is_covered(&ran)) {
///     println!("never ran: {}", method.facts.path());
/// }
/// # Ok::<(), metaspy_core::InstallError>(())
/// ```
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

/// The methods that ran while a profiler was installed: [`Profile::methods_run`].
#[derive(Clone, Debug)]
pub struct MethodsRun(HashSet<SiteId>);

impl Ratio {
    /// The part of the methods that ran, from 0 to 1; 1 if there are no methods.
    pub fn rate(&self) -> f64 {
        if self.methods == 0 { 1.0 } else { f64::from(self.covered) / f64::from(self.methods) }
    }

    fn of<'s, P: MethodProfiler>(methods: impl Iterator<Item = &'s MethodSpy<P>>, ran: &MethodsRun) -> Ratio {
        let mut ratio = Ratio::default();
        let mut types: BTreeMap<*const TypeSpy<P>, bool> = BTreeMap::new();
        for method in methods.filter(|method| !method.facts.is_of_tests()) {
            let is_covered = method.is_covered(ran);
            ratio.methods += 1;
            ratio.covered += u32::from(is_covered);
            if !method.owner.name.is_empty() {
                *types.entry(&raw const *method.owner).or_default() |= is_covered;
            }
        }
        ratio.types = types.len() as u32;
        ratio.covered_types = types.values().filter(|is_covered| **is_covered).count() as u32;
        ratio
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

impl Profile {
    /// The methods that ran, by the counts of this profile.
    pub fn methods_run(&self) -> MethodsRun {
        let rows = self.counts().by_site().rows;
        MethodsRun(rows.iter().filter(|row| row.measure.count > 0).filter_map(|row| row.site).collect())
    }
}

impl<P: MethodProfiler> MethodSpy<P> {
    /// True if it ran.
    pub fn is_covered(&self, ran: &MethodsRun) -> bool {
        ran.0.contains(&self.site)
    }
}

impl<P: MethodProfiler> Mirror<P> {
    /// How much of the program ran.
    pub fn ratio(&self, ran: &MethodsRun) -> Ratio {
        Ratio::of(self.methods().iter(), ran)
    }

    /// How much of a package ran, with the packages within it.
    pub fn ratio_of_package(&self, package: &PackageSpy<P>, ran: &MethodsRun) -> Ratio {
        Ratio::of(self.methods_within(package), ran)
    }

    /// How much of a type ran.
    pub fn ratio_of_type(&self, of: &TypeSpy<P>, ran: &MethodsRun) -> Ratio {
        Ratio::of(self.methods_of(of), ran)
    }
}
