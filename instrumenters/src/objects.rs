//! Objects: the same hooks, for chosen subjects only. (MetaSpy, section 3.2: object-specific instrumentation.)

use metaspy_core::arm::{Group, Subjects};
use metaspy_core::{Identify, Subject};

use crate::calls::Calls;
use crate::sites::Sites;

/// Observes calls on these objects, and on no others: `objects(&visible_nodes, site!(Scene::measure))`.
///
/// Who they are is asked now; nothing is borrowed.
pub fn objects<I>(objects: I, sites: impl Into<Sites>) -> Calls
where
    I: IntoIterator,
    I::Item: Identify,
{
    let subjects = objects.into_iter().map(|object| object.identify()).collect();
    Calls::new(sites.into(), Subjects::Only(subjects))
}

/// Observes calls on the objects for which `belongs` says yes. It is asked once for each subject, when that is first
/// met: `group(|subject| visible.contains(&subject), site!(Scene::measure))`.
pub fn group(belongs: impl Fn(Subject) -> bool + Send + Sync + 'static, sites: impl Into<Sites>) -> Calls {
    Calls::new(sites.into(), Subjects::Group(Group::new(belongs)))
}
