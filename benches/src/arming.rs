//! Arming by hand: these sites, this closely.

use metaspy::Installation;
use metaspy::instrumenter::Arming;
use metaspy::{InstallError, Installed, Instrumenter, Profiler, Session, Site};

struct Arm {
    sites: Vec<&'static Site>,
    arming: Arming,
}

impl Instrumenter for Arm {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        for site in &self.sites {
            session.arm(site, self.arming.clone())?;
        }
        Ok(Installation::none())
    }
}

/// Installs a profiler that observes these sites.
pub fn observe(sites: &[&'static Site], arming: Arming) -> Installed {
    let arm = Arm { sites: sites.to_vec(), arming };
    Profiler::new("bench").observe(arm).install().expect("the sites of this package can be armed")
}
