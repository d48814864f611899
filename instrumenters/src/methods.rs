//! Methods: what `#[observe]` hooked, on whatever objects.

use std::any::TypeId;

use metaspy_core::arm::Subjects;
use metaspy_core::hook::CallView;

use crate::call_instrumenter::CallInstrumenter;
use crate::site_ref::{NamedSite, SiteRef};
use crate::sites::Sites;

/// Observes methods on all objects, and functions: `methods(site!(Scene::measure))`, `methods("layout::*")`.
pub fn methods(sites: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(sites.into(), Subjects::All)
}

/// Runs before each call of one method, and is given the receiver:
/// `on(site!(Scene::measure), |scene: &Scene, call| …)`.
///
/// The receiver is borrowed by the call that begins, so it can be looked at, not kept. A method whose `Self` has
/// parameters or lifetimes, a function without a receiver and an async method offer none: that is an error at install.
pub fn on<R: 'static>(
    site: impl ReceiverSite<R>,
    handler: impl Fn(&R, &CallView<'_>) + Send + Sync + 'static,
) -> CallInstrumenter {
    let nobody = TypeId::of::<R>() == TypeId::of::<()>();
    methods(site)
        .before(move |call| {
            if let Some(receiver) = call.receiver() {
                handler(receiver, call);
            }
        })
        .refused(nobody.then_some("this site offers no receiver: use `methods(…).before(…)`, or `subject = …`"))
}

/// A site whose calls have an `R` as their receiver.
pub trait ReceiverSite<R>: Into<Sites> {}

impl<R> ReceiverSite<R> for SiteRef<R> {}

impl<R> ReceiverSite<R> for NamedSite<R> {}
