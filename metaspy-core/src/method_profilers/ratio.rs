//! How much of a program, a package or a type ran.

use std::collections::{HashMap, HashSet};

use crate::method_profilers::{MethodProfiler, MethodSpy, Mirror, PackageSpy, TypeSpy};
use crate::site::SiteId;

pub use crate::store::Ratio;

/// The methods that ran while a profiler was installed:
/// [`Profile::methods_run`](crate::Profile::methods_run).
#[derive(Clone, Debug)]
pub struct MethodsRun(pub(crate) HashSet<SiteId>);

fn ratio_of<'s, P: MethodProfiler>(
    methods: impl Iterator<Item = &'s MethodSpy<P>>,
    ran: &MethodsRun,
) -> Ratio {
    let mut ratio = Ratio::default();
    // By address, so that all profilers share the code of the map.
    let mut types: HashMap<usize, bool> = HashMap::new();
    for method in methods.filter(|method| !method.facts.is_of_tests()) {
        let is_covered = method.is_covered(ran);
        ratio.methods += 1;
        ratio.covered += u32::from(is_covered);
        if !method.owner.name.is_empty() {
            *types.entry((&raw const *method.owner).addr()).or_default() |= is_covered;
        }
    }
    ratio.types = types.len() as u32;
    ratio.covered_types = types.values().filter(|is_covered| **is_covered).count() as u32;
    ratio
}

impl<P: MethodProfiler> MethodSpy<P> {
    /// True if it ran.
    pub fn is_covered(&self, ran: &MethodsRun) -> bool {
        ran.0.contains(&self.site)
    }
}

impl<P: MethodProfiler> Mirror<P> {
    /// How much of the program ran.
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
    pub fn ratio(&self, ran: &MethodsRun) -> Ratio {
        ratio_of(self.methods().iter(), ran)
    }

    /// How much of a package ran, with the packages within it.
    pub fn ratio_of_package(&self, package: &PackageSpy<P>, ran: &MethodsRun) -> Ratio {
        ratio_of(self.methods_within(package), ran)
    }

    /// How much of a type ran.
    pub fn ratio_of_type(&self, of: &TypeSpy<P>, ran: &MethodsRun) -> Ratio {
        ratio_of(self.methods_of(of), ran)
    }
}
