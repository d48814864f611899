//! The types that arrive: of receivers, arguments and returned values (Keri in *Spy: A flexible
//! code profiling framework*, section 6; Senseo in *Augmenting Static Source Views in IDEs with
//! Dynamic Metrics*, section 3).

use metaspy_probe::Value;

use crate::format::profile::{Column, TypeKey, built_in};
use crate::method_profilers::receivers::{self, Receiver};
use crate::method_profilers::table::TypeTable;
use crate::method_profilers::type_names::{Named, TypeNames};
use crate::method_profilers::{Call, CallEnd, MethodProfiler, MethodSpy, Tables};
use crate::subject::KindId;

/// Counts the concrete types of receivers, arguments and returned values of each method, by caller.
///
/// Types are those of the compiled code, so a generic function has those that it was compiled for.
/// A trait object has the type behind it, by the address of its table, which readers resolve. Enums
/// of the woven source, `Option`, `Result` and `Ordering` are counted by variant. Values are seen
/// by hooks of `cargo metaspy … --types`; other hooks have receivers only.
///
/// It has one table, `types`, with the columns `calls` and `total`: where calls are timed, the time
/// of the calls on a type of receiver. The total of a recursion counts once, with the outermost
/// call.
#[derive(Default)]
pub struct Types {
    table: TypeTable,
    names: TypeNames,
}

impl MethodProfiler for Types {
    const NAME: &'static str = built_in::TYPES;
    const TRUSTED: bool = true;
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.table = tables.by_type("types", [Column::new("calls"), Column::ticks("total")]);
        self.names = TypeNames::of_program();
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        let mut receiver = None;
        for (value, argument) in call.values().iter().zip(1..) {
            let is_receiver = value.name.get() == "self";
            let position = if is_receiver { TypeKey::RECEIVER } else { argument };
            let counted = self.count(spy, call, position, value);
            receiver = receiver.or(counted.filter(|_| is_receiver));
            if argument == TypeKey::RETURNED - 1 {
                break;
            }
        }
        if receiver.is_none() && !call.receiver_type().is_empty() {
            let named = Named { kind: self.names.of_receiver(call.receiver_type()), variant: None };
            receiver = Some(self.put(spy, call, TypeKey::RECEIVER, named));
        }
        receivers::remember(call.around.len(), spy.site.0, receiver);
    }

    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        if let Some(value) = end.returned() {
            self.count(spy, call, TypeKey::RETURNED, value);
        }
        // An async call may end on another thread than it began on.
        if end.ticks() == 0 || call.depth() > 0 || spy.facts.is_async {
            return;
        }
        if let Some((kind, of)) = receivers::recall(call.around.len(), spy.site.0) {
            self.table.row(spy.site, kind, of).put(1, end.ticks());
        }
    }
}

impl Types {
    /// Counts the type of a value; `None` if its hook does not record types.
    fn count(
        &self,
        spy: &MethodSpy<Self>,
        call: &Call<'_>,
        position: u8,
        value: &Value<'_>,
    ) -> Option<Receiver> {
        let named = self.names.of(value)?;
        Some(self.put(spy, call, position, named))
    }

    fn put(&self, spy: &MethodSpy<Self>, call: &Call<'_>, position: u8, named: Named) -> Receiver {
        let caller = call.caller_site().map_or(0, |site| site.0);
        let of = TypeKey { caller, position, variant: named.variant };
        let kind = named.kind.unwrap_or(KindId(0));
        self.table.row(spy.site, kind, of).put(0, 1);
        (kind, of)
    }
}
