//! Findings about types: how many arrive at a call, which never arrive, and which are declared
//! wider than needed.

use std::collections::{BTreeMap, BTreeSet};

use metaspy_probe::unqualified;
use metaspy_reader::TypeKey;

use super::arrived::{Arrived, CallSite, MethodTypes, Types, ValueTypes, is_ambiguous};
use super::declared::STEPS;
use crate::text::last_segment;

/// The calls of one name in one function, with all methods that they ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The function; `None` is code without hooks.
    pub caller: Option<String>,
    /// The called name.
    pub name: String,
    /// The targets with their receivers, those that took longest first; the most frequent first if
    /// calls were not timed.
    pub targets: Vec<Target>,
}

/// A method that ran, for one type of receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path of the method.
    pub path: String,
    /// The type of the receivers.
    pub receiver: String,
    /// The number of calls.
    pub count: u64,
    /// Their time; 0 if calls were not timed.
    pub total_ns: u64,
}

/// Implementations of a trait, or variants of an enum, that never arrived anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The path of the trait or the enum.
    pub of: String,
    /// True for an enum.
    pub is_enum: bool,
    /// The types or variants that never arrived.
    pub never: Vec<String>,
    /// The number of all implementations or variants.
    pub all: usize,
}

/// A parameter that leaves more open than needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wide {
    /// The path of the method.
    pub path: String,
    /// The name of the parameter.
    pub parameter: String,
    /// The type as declared.
    pub declared: String,
    /// The types that arrived.
    pub arrived: Vec<String>,
    /// The most specific trait of all that arrived, if there are several.
    pub common: Option<String>,
    /// The number of values.
    pub count: u64,
}

impl Shape {
    /// `monomorphic` with one target, `polymorphic` with at most four, otherwise `megamorphic`;
    /// `unknown` if the only target has receivers of unknown types or with closures, which may be
    /// several.
    pub fn class(&self) -> &'static str {
        match self.targets.len() {
            1 if is_ambiguous(&self.targets[0].receiver) => "unknown",
            0 | 1 => "monomorphic",
            2..=4 => "polymorphic",
            _ => "megamorphic",
        }
    }

    /// All calls.
    pub fn count(&self) -> u64 {
        self.targets.iter().map(|target| target.count).sum()
    }
}

impl Types {
    /// The calls of methods with a receiver, those with most targets first.
    pub fn call_sites(&self) -> Vec<Shape> {
        let mut shapes: BTreeMap<(Option<&str>, &str), Vec<Target>> = BTreeMap::new();
        for method in &self.methods {
            for CallSite { caller, values } in &method.callers {
                let targets = values.iter().filter(|value| value.position == TypeKey::RECEIVER);
                let of = shapes.entry((caller.as_deref(), last_segment(&method.path))).or_default();
                of.extend(targets.flat_map(|value| &value.arrived).map(|one| target(method, one)));
            }
        }
        let shapes = shapes.into_iter().filter(|(_, targets)| !targets.is_empty());
        let mut shapes: Vec<Shape> = shapes
            .map(|((caller, name), targets)| Shape {
                caller: caller.map(str::to_owned),
                name: name.to_owned(),
                targets: by_receiver(targets),
            })
            .collect();
        shapes.sort_by_key(|shape| std::cmp::Reverse((shape.targets.len(), shape.count())));
        shapes
    }

    /// Implementations of traits and variants of enums that never arrived, where others of them
    /// did.
    ///
    /// An implementation may be the unknown type behind an object of its trait, and a type without
    /// a name may be any. A variant inside of another value is not known, as in `Err`. An object in
    /// a slice has arrived if a method of it ran.
    pub fn unseen(&self) -> Vec<Unseen> {
        let unknown = || self.all().filter(|one| one.is_unresolved);
        if unknown().any(|one| one.through.is_none()) {
            return Vec::new();
        }
        let inside: BTreeSet<&str> = self.all().flat_map(Arrived::inside).collect();
        let objects: BTreeSet<&str> = unknown().filter_map(Arrived::object_trait).collect();
        let is_near = |of: &str, other: &str| {
            of == other
                || self.declared.implies(of, other, STEPS)
                || self.declared.implies(other, of, STEPS)
        };
        let is_known = |of: &str| !objects.iter().any(|object| is_near(of, object));
        let seen: BTreeSet<&str> = self.all().map(Arrived::path).collect();
        let owner =
            |method: &MethodTypes| unqualified(&method.path).rsplit("::").nth(1).map(str::to_owned);
        let ran: BTreeSet<String> = self.methods.iter().filter_map(owner).collect();
        let has_run = |of: &str, ty: &str| self.ran.iter().any(|ran| ran.is_of(of, ty));
        let has_arrived =
            |of: &str, ty: &str| seen.contains(ty) || inside.contains(ty) || has_run(of, ty);
        let of_methods = |of: &str| {
            self.with_methods.contains(last_segment(of))
                && (!self.is_part || ran.contains(last_segment(of)))
        };
        let traits =
            self.declared.implementations.iter().filter(|(of, _)| of_methods(of) && is_known(of));
        let traits = traits.filter_map(|(of, types)| {
            let is_never = |ty: &&String| self.declared.is_named_so(ty) && !has_arrived(of, ty);
            let never: Vec<String> = types.iter().filter(is_never).cloned().collect();
            let is_partly = types.iter().any(|ty| has_arrived(of, ty));
            (is_partly && !never.is_empty()).then(|| Unseen {
                of: of.clone(),
                is_enum: false,
                never,
                all: types.len(),
            })
        });
        let enums = seen.iter().filter(|path| !inside.contains(**path)).filter_map(|path| {
            let variants = self.declared.variants(path)?;
            // A variant that is not known may be any.
            let arrived =
                self.all().filter(|one| one.path() == *path).map(|one| one.variant.as_deref());
            let arrived: BTreeSet<&str> = arrived.collect::<Option<_>>()?;
            let never = variants
                .iter()
                .map(|(name, _)| name)
                .filter(|name| !arrived.contains(name.as_str()));
            let never: Vec<String> = never.cloned().collect();
            let all = variants.len();
            (!never.is_empty()).then(|| Unseen {
                of: (*path).to_owned(),
                is_enum: true,
                never,
                all,
            })
        });
        traits.chain(enums).collect()
    }

    /// Open parameters at which one type arrived, or several with a common trait; those with most
    /// values first.
    pub fn wide(&self) -> Vec<Wide> {
        let wide = |(method, value): (&MethodTypes, &ValueTypes)| {
            let types: BTreeSet<&str> = value.arrived.iter().map(|one| one.name.as_str()).collect();
            let paths: BTreeSet<&str> = value.arrived.iter().map(Arrived::path).collect();
            let declared = value.open.clone().unwrap_or_default();
            let common =
                if types.len() > 1 { self.declared.common_trait(&paths, &declared) } else { None };
            // Behind a slice of trait objects anything may be, and closures of one function have
            // one name.
            let is_known = !value
                .arrived
                .iter()
                .any(|one| is_ambiguous(&one.name) || one.name.contains("dyn "));
            (is_known && (types.len() == 1 || common.is_some())).then(|| Wide {
                path: method.path.clone(),
                parameter: value.name.clone(),
                declared,
                arrived: types.into_iter().map(str::to_owned).collect(),
                common: common.map(str::to_owned),
                count: value.count(),
            })
        };
        let values = self
            .methods
            .iter()
            .flat_map(|method| method.values.iter().map(move |value| (method, value)));
        let mut all: Vec<Wide> =
            values.filter(|(_, value)| value.open.is_some()).filter_map(wide).collect();
        all.sort_by_key(|one| (one.arrived.len(), std::cmp::Reverse(one.count)));
        all
    }

    fn all(&self) -> impl Iterator<Item = &Arrived> {
        let calls = self.methods.iter().flat_map(|method| &method.callers);
        calls.flat_map(|site| &site.values).flat_map(|value| &value.arrived)
    }
}

fn target(method: &MethodTypes, one: &Arrived) -> Target {
    Target {
        path: method.path.clone(),
        receiver: one.name.clone(),
        count: one.count,
        total_ns: one.total_ns,
    }
}

/// Adds up the variants of an enum, which are one receiver.
fn by_receiver(mut targets: Vec<Target>) -> Vec<Target> {
    targets.sort_by(|a, b| (&a.path, &a.receiver).cmp(&(&b.path, &b.receiver)));
    targets.dedup_by(|more, sum| {
        let is_same = (&more.path, &more.receiver) == (&sum.path, &sum.receiver);
        if is_same {
            sum.count += more.count;
            sum.total_ns += more.total_ns;
        }
        is_same
    });
    targets.sort_by_key(|target| std::cmp::Reverse((target.total_ns, target.count)));
    targets
}
