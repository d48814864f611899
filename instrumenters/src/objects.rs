//! Observation of selected subjects only. (MetaSpy, section 3.2: object-specific instrumentation.)

use metaspy_core::arm::{Group, Subjects};
use metaspy_core::{Identify, Subject};

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

/// Observes calls on these objects, and on no others.
///
/// ```
/// use metaspy::prelude::*;
///
/// #[derive(Clone, Copy, Identify)]
/// struct NodeId(u32);
///
/// #[observe(subject = node)]
/// fn measure(node: NodeId) {}
///
/// let visible = [NodeId(1), NodeId(2)];
/// let ((), profile) = Profiler::new("visible nodes")
///     .observe(objects(&visible, site!(measure)))
///     .profile(|| (0..9).map(NodeId).for_each(measure))?;
/// assert_eq!(profile.counts().total(), 2);
/// # Ok::<(), InstallError>(())
/// ```
///
/// The objects are identified now; nothing is borrowed.
pub fn objects<I>(objects: I, sites: impl Into<Sites>) -> CallInstrumenter
where
    I: IntoIterator,
    I::Item: Identify,
{
    let subjects = objects.into_iter().map(|object| object.identify()).collect();
    CallInstrumenter::new(sites.into(), Subjects::Only(subjects))
}

/// Observes calls on the objects for which `belongs` is true: `group(|subject|
/// visible.contains(&subject), site!(Scene::measure))`.
///
/// The predicate runs once for each subject, at its first call. If members change, use
/// [`in_group`].
pub fn group(
    belongs: impl Fn(Subject) -> bool + Send + Sync + 'static,
    sites: impl Into<Sites>,
) -> CallInstrumenter {
    in_group(&Group::new(belongs), sites)
}

/// Observes calls on the objects of a group. [`Group::refresh`] evaluates its predicate again:
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
