//! The table of types, by method and by call site.

use std::collections::{BTreeSet, HashMap, HashSet};

use metaspy_format::declared::{Parameter, parameters_of};
use metaspy_format::profile::built_in;
use metaspy_probe::{KindId, SiteId};
use metaspy_reader::{ProfileTable, RecordedSite, RowKey, Selector, Store, TypeKey};

use super::declared::Declared;
use super::ran::{self, Ran};
use super::tables::Tables;

/// The name of a type that is not known.
pub(super) const UNRESOLVED: &str = "(unresolved)";

/// The types that arrived in one or more recordings.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// The methods, by path.
    pub methods: Vec<MethodTypes>,
    /// The declarations of the woven source.
    pub declared: Declared,
    /// Values whose type is not known: behind a table of a trait object, or without a name in the
    /// recording.
    pub unresolved: u64,
    /// Values that found no room in a recording.
    pub lost: u64,
    /// The reasons why types are not known.
    pub notes: Vec<String>,
    /// True if a recording has such a table.
    pub is_recorded: bool,
    /// True for a part of the methods: traits without a method among them are left out of the types
    /// that never arrived.
    pub(super) is_part: bool,
    /// The implementations whose methods ran.
    pub(super) ran: BTreeSet<Ran>,
    /// The names of the traits with a method in the source.
    pub(super) with_methods: BTreeSet<String>,
    places: HashMap<(String, u32), usize>,
    /// By path, the first line in the first recording. A method at another line of another
    /// recording is the same.
    lines: HashMap<String, u32>,
    /// Paths that several methods of one recording have: their lines distinguish them.
    several: HashSet<String>,
}

/// The types at a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodTypes {
    /// Its path.
    pub path: String,
    /// Its file.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// The values of all callers.
    pub values: Vec<ValueTypes>,
    /// The values of each caller.
    pub callers: Vec<CallSite>,
}

/// The types at the calls of a method in one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// The path of the function; `None` is code without hooks.
    pub caller: Option<String>,
    /// The values.
    pub values: Vec<ValueTypes>,
}

/// The types of a receiver, an argument or the returned value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueTypes {
    /// Its position: [`TypeKey::RECEIVER`], the number of an argument, or [`TypeKey::RETURNED`].
    pub position: u8,
    /// `self`, the name of the parameter, or `returned`.
    pub name: String,
    /// The type as it is declared, if that leaves open which type arrives.
    pub open: Option<String>,
    /// The types, the most frequent first.
    pub arrived: Vec<Arrived>,
}

/// A type that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The type, without the reference or the pointer around a trait object.
    pub name: String,
    /// The pointer to a trait object through which it arrived.
    pub through: Option<String>,
    /// The variant of an enum.
    pub variant: Option<String>,
    /// True if the type is not known.
    pub is_unresolved: bool,
    /// The number of values.
    pub count: u64,
    /// The time of the calls on receivers of this type; 0 if calls were not timed.
    pub total_ns: u64,
}

/// A type without the references to it, as `&&mut [u8]`.
fn behind_references(name: &str) -> &str {
    match name.strip_prefix("&mut ").or_else(|| name.strip_prefix('&')) {
        Some(behind) => behind_references(behind),
        None => name,
    }
}

impl Arrived {
    /// The path of the type without references and type arguments.
    pub fn path(&self) -> &str {
        let plain = behind_references(&self.name);
        plain.split('<').next().unwrap_or(plain)
    }

    /// The paths in the name of the type behind its own: of type arguments, elements and traits of
    /// objects. `None` has nothing inside.
    pub(super) fn inside(&self) -> impl Iterator<Item = &str> {
        let own = if self.name.starts_with(['(', '[', '*']) { "" } else { self.path() };
        let paths =
            self.name.split(|letter: char| !letter.is_alphanumeric() && !"_:#{}".contains(letter));
        let is_none =
            self.path() == "core::option::Option" && self.variant.as_deref() == Some("None");
        paths.filter(move |path| !is_none && path.contains("::") && *path != own)
    }

    /// The path of the trait of a trait object.
    pub(super) fn object_trait(&self) -> Option<&str> {
        let (_, of_trait) = self.through.as_deref()?.split_once("dyn ")?;
        of_trait.split(['<', '>', ' ', ')', ',']).next()
    }

    /// The type, and the variant if there is one.
    pub fn text(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}::{variant}", self.name),
            None => self.name.clone(),
        }
    }

    fn is_same(&self, other: &Arrived) -> bool {
        (&self.name, &self.through, &self.variant, self.is_unresolved)
            == (&other.name, &other.through, &other.variant, other.is_unresolved)
    }
}

impl ValueTypes {
    /// All values.
    pub fn count(&self) -> u64 {
        self.arrived.iter().map(|one| one.count).sum()
    }

    /// True if the values have several types, or one that the declaration leaves open.
    ///
    /// The type of a slice of trait objects is known before the program runs.
    pub fn is_news(&self) -> bool {
        let is_slice = self.arrived.iter().all(|one| one.name.contains("dyn "));
        self.arrived.len() > 1 || self.open.is_some() && !is_slice
    }

    fn add(&mut self, arrived: Arrived) {
        match self.arrived.iter_mut().find(|known| known.is_same(&arrived)) {
            Some(known) => {
                known.count += arrived.count;
                known.total_ns += arrived.total_ns;
            }
            None => self.arrived.push(arrived),
        }
    }
}

impl Types {
    /// The types of these recordings.
    pub fn read<'s>(stores: impl IntoIterator<Item = &'s Store>) -> Types {
        let mut types = Types::default();
        for store in stores {
            types.add(store);
        }
        types.sort();
        types
    }

    /// The method with this path and first line in the first recording.
    pub fn method(&self, path: &str, line: u32) -> Option<&MethodTypes> {
        self.places.get(&(path.to_owned(), line)).map(|&at| &self.methods[at])
    }

    /// The types at the methods that match, and at the calls in them.
    pub fn of(mut self, selector: &Selector) -> Types {
        let is_of = |path: &str| selector.matches(path);
        for method in self.methods.iter_mut().filter(|method| !is_of(&method.path)) {
            method.values.clear();
            method.callers.retain(|site| site.caller.as_deref().is_some_and(is_of));
        }
        self.methods.retain(|method| !method.callers.is_empty());
        let is_left =
            |path: &str| is_of(path) || self.methods.iter().any(|method| method.path == path);
        self.ran.retain(|ran| is_left(&ran.method));
        self.is_part = true;
        self.sort();
        self
    }

    fn add(&mut self, store: &Store) {
        let profiles = store.united_profiles();
        let tables = profiles
            .iter()
            .filter(|profile| profile.name == built_in::TYPES)
            .flat_map(|profile| &profile.tables);
        let tables: Vec<&ProfileTable> = tables.filter(|table| table.name == "types").collect();
        if tables.is_empty() {
            return;
        }
        self.is_recorded = true;
        self.declared.add(store);
        self.several.extend(paths_of_several(store.sites()));
        self.ran.extend(ran::implementations(store, &profiles, &self.declared));
        self.with_methods.extend(ran::traits_with_methods(store));
        let mut names = Tables::of(store);
        for table in tables {
            self.lost += table.lost;
            for row in &table.rows {
                let RowKey::Type(callee, kind, of) = row.key else { continue };
                let Some(site) = store.site(callee) else { continue };
                let number = |column| table.value(row.key, column).number().unwrap_or(0);
                let arrived = Arrived {
                    count: number("calls"),
                    total_ns: number("total"),
                    ..self.arrived(store, kind, of, &mut names)
                };
                if arrived.is_unresolved {
                    self.unresolved += arrived.count;
                }
                let caller =
                    (of.caller != 0).then(|| store.site_path(SiteId(of.caller)).to_owned());
                self.put(site, of.position, caller, arrived);
            }
        }
        self.notes.extend(names.note());
    }

    fn arrived(&mut self, store: &Store, kind: KindId, of: TypeKey, names: &mut Tables) -> Arrived {
        let Some(kind) = store.kind(kind) else {
            self.notes.push(unnamed(kind).to_owned());
            return Arrived {
                is_unresolved: true,
                name: UNRESOLVED.to_owned(),
                ..Arrived::default()
            };
        };
        let (declared, behind) = names.split(&kind.name);
        let declared = self.declared.as_declared(declared);
        let behind =
            behind.map(|behind| behind.map(|name| self.declared.as_declared(&name).into_owned()));
        let enum_path = Arrived { name: declared.to_string(), ..Arrived::default() };
        let variant = of.variant.map(|number| self.declared.variant(enum_path.path(), number));
        let plain = behind_references(&declared).to_owned();
        match behind {
            None => Arrived { name: plain, variant, ..Arrived::default() },
            Some(behind) => Arrived {
                is_unresolved: behind.is_none(),
                name: behind.unwrap_or_else(|| UNRESOLVED.to_owned()),
                through: Some(declared.into_owned()),
                variant: None,
                ..Arrived::default()
            },
        }
    }

    fn put(&mut self, site: &RecordedSite, position: u8, caller: Option<String>, arrived: Arrived) {
        let mut line = site.lines.0;
        if !self.several.contains(&site.path) {
            line = *self.lines.entry(site.path.clone()).or_insert(line);
        }
        let at = *self.places.entry((site.path.clone(), line)).or_insert_with(|| {
            let path = site.path.clone();
            let file = site.file.clone();
            self.methods.push(MethodTypes { path, file, line, ..MethodTypes::default() });
            self.methods.len() - 1
        });
        let method = &mut self.methods[at];
        let parameters = parameters_of(&site.facts);
        value(&mut method.values, position, &parameters).add(arrived.clone());
        let known = method.callers.iter().position(|known| known.caller == caller);
        let at = known.unwrap_or_else(|| {
            method.callers.push(CallSite { caller, values: Vec::new() });
            method.callers.len() - 1
        });
        value(&mut method.callers[at].values, position, &parameters).add(arrived);
    }

    fn sort(&mut self) {
        for method in &mut self.methods {
            method.callers.sort_by(|a, b| a.caller.cmp(&b.caller));
            let of_callers = method.callers.iter_mut().map(|site| &mut site.values);
            for values in of_callers.chain([&mut method.values]) {
                values.sort_by_key(|value| value.position);
                for value in values {
                    value.arrived.sort_by(|a, b| {
                        b.count.cmp(&a.count).then_with(|| a.text().cmp(&b.text()))
                    });
                }
            }
        }
        self.methods.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        let places = self.methods.iter().enumerate();
        self.places = places.map(|(at, method)| ((method.path.clone(), method.line), at)).collect();
        self.notes.sort();
        self.notes.dedup();
    }
}

/// The paths that several of these have.
fn paths_of_several(sites: &[RecordedSite]) -> impl Iterator<Item = String> {
    let mut lines: HashMap<&str, u32> = HashMap::new();
    sites.iter().filter_map(move |site| {
        let first = *lines.entry(&site.path).or_insert(site.lines.0);
        (first != site.lines.0).then(|| site.path.clone())
    })
}

/// The reason why a recording has no name for a kind.
fn unnamed(kind: KindId) -> &'static str {
    match kind {
        KindId(0) => {
            "some types were not distinguished: the program has too many, or they were met in a signal handler"
        }
        _ => {
            "some types have no name in the recording: names are written up to a tenth of a second after values, and abort, _exit \
             and fatal signals lose them"
        }
    }
}

/// True if several types may have this name: it is not known, or has a closure.
pub(super) fn is_ambiguous(name: &str) -> bool {
    name == UNRESOLVED
        || name.contains("{{")
        || name.contains("{closure")
        || name.contains("{async")
}

/// The value at a position.
fn value<'v>(
    values: &'v mut Vec<ValueTypes>,
    position: u8,
    parameters: &[Parameter],
) -> &'v mut ValueTypes {
    let at = values.iter().position(|known| known.position == position).unwrap_or_else(|| {
        let has_receiver = parameters.first().is_some_and(|first| first.name == "self");
        let parameter = match position {
            TypeKey::RECEIVER => None,
            position => parameters.get(usize::from(position) - 1),
        };
        let name = match (position, parameter) {
            (TypeKey::RECEIVER, _) => "self".to_owned(),
            (TypeKey::RETURNED, _) => "returned".to_owned(),
            (_, Some(parameter)) => parameter.name.clone(),
            (position, None) => format!("argument {}", position - u8::from(has_receiver)),
        };
        let open = parameter
            .filter(|parameter| parameter.is_open)
            .map(|parameter| parameter.declared.clone());
        values.push(ValueTypes { position, name, open, arrived: Vec::new() });
        values.len() - 1
    });
    &mut values[at]
}

#[cfg(test)]
mod tests {
    use metaspy_reader::TypeKey;

    use super::*;

    fn site(path: &str, line: u32) -> RecordedSite {
        RecordedSite {
            id: SiteId(1),
            kind: metaspy_probe::SiteKind::Method,
            path: path.to_owned(),
            file: "a.rs".to_owned(),
            lines: (line, line),
            skipped: None,
            module: 1,
            facts: String::new(),
        }
    }

    #[test]
    fn a_method_at_another_line_of_another_recording_is_the_same() {
        let mut types = Types::default();
        for sites in [
            [site("a::f", 1), site("a::G::g", 2), site("a::G::g", 3)],
            [site("a::f", 7), site("a::G::g", 8), site("a::G::g", 9)],
        ] {
            types.several.extend(paths_of_several(&sites));
            for site in &sites {
                types.put(
                    site,
                    TypeKey::RECEIVER,
                    None,
                    Arrived { count: 1, ..Arrived::default() },
                );
            }
        }
        types.sort();
        let methods = types
            .methods
            .iter()
            .map(|method| (method.path.as_str(), method.line, method.values[0].count()));
        let several = [2, 3, 8, 9].map(|line| ("a::G::g", line, 1));
        assert_eq!(methods.collect::<Vec<_>>(), [&several[..], &[("a::f", 1, 2)]].concat());
    }
}
