//! Objects: the same hooks, for chosen subjects only. (MetaSpy, section 3.2: object-specific instrumentation.)

use metaspy_core::arm::{Group, Subjects};
use metaspy_core::{Identify, Subject};

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

/// Observes calls on these objects, and on no others: `objects(&visible_nodes, site!(Scene::measure))`.
///
/// Who they are is asked now; nothing is borrowed.
pub fn objects<I>(objects: I, sites: impl Into<Sites>) -> CallInstrumenter
where
    I: IntoIterator,
    I::Item: Identify,
{
    let subjects = objects.into_iter().map(|object| object.identify()).collect();
    CallInstrumenter::new(sites.into(), Subjects::Only(subjects))
}

/// Observes calls on the objects for which `belongs` says yes. It is asked once for each subject, when that is first
/// met: `group(|subject| visible.contains(&subject), site!(Scene::measure))`. Where members come and go, see
/// [`in_group`].
pub fn group(belongs: impl Fn(Subject) -> bool + Send + Sync + 'static, sites: impl Into<Sites>) -> CallInstrumenter {
    in_group(&Group::new(belongs), sites)
}

/// Observes calls on the objects of a group, which can be told that its members may have changed:
///
/// ```
/// # use metaspy::prelude::*;
/// # let visible = |_| true;
/// let group = Group::new(visible);
/// let calls = in_group(&group, "Scene::measure");
/// // … later, when the user has scrolled:
/// group.refresh();
/// ```
pub fn in_group(group: &Group, sites: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(sites.into(), Subjects::Group(group.clone()))
}
