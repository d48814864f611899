//! Observation of methods on all objects.

use std::any::TypeId;

use metaspy_core::arm::Subjects;
use metaspy_core::hook::CallView;

use crate::call_instrumenter::CallInstrumenter;
use crate::site_ref::{NamedSite, SiteRef};
use crate::sites::Sites;

/// Observes functions, and methods on all objects: `methods(site!(Scene::measure))`,
/// `methods("layout::*")`.
///
/// ```
/// use metaspy::prelude::*;
///
/// struct Scene;
///
/// #[observe]
/// impl Scene {
///     fn measure(&self) {}
///     fn draw(&self) {}
/// }
///
/// let ((), profile) = Profiler::new("scene").observe(methods("Scene::*")).profile(|| {
///     Scene.measure();
///     Scene.draw();
/// })?;
/// assert_eq!(profile.counts().total(), 2);
/// # Ok::<(), InstallError>(())
/// ```
pub fn methods(sites: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(sites.into(), Subjects::All)
}

/// Runs `handler` before each call of a method, with the receiver.
///
/// ```
/// use metaspy::prelude::*;
///
/// struct Scene { width: u32 }
///
/// #[observe]
/// impl Scene {
///     fn measure(&self) {}
/// }
///
/// let widths = on(site!(Scene::measure), |scene: &Scene, _| println!("{}", scene.width));
/// Profiler::new("widths").observe(widths).profile(|| Scene { width: 80 }.measure())?;
/// # Ok::<(), InstallError>(())
/// ```
///
/// The receiver is borrowed for the handler only. It is not available if `Self` has parameters or
/// lifetimes, in functions without a receiver, and in async methods: installing is an error then.
pub fn on<R: 'static>(
    site: impl ReceiverSite<R>,
    handler: impl Fn(&R, &CallView<'_>) + Send + Sync + 'static,
) -> CallInstrumenter {
    let has_none = TypeId::of::<R>() == TypeId::of::<()>();
    methods(site)
        .before(move |call| {
            if let Some(receiver) = call.receiver() {
                handler(receiver, call);
            }
        })
        .refused(has_none.then_some(
            "this site offers no receiver: use `methods(…).before(…)`, or `subject = …`",
        ))
}

/// Site whose calls have a receiver of type `R`.
pub trait ReceiverSite<R>: Into<Sites> {}

impl<R> ReceiverSite<R> for SiteRef<R> {}

impl<R> ReceiverSite<R> for NamedSite<R> {}
