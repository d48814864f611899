//! Module paths of a file: `a::b` for `src/b.rs`. A file that several crates contain has several
//! module paths.
//!
//! A recording has the whole module of a method, which ends with the inline modules of the file.
//! The path of the file separates the two: `a::b::tests` in `src/b.rs` is the module `a::b`, and
//! the inline module `tests`. Where the path of a file is unusual (`#[path]`, `[[bin]]`), its
//! functions decide if they leave a single possibility.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use metaspy_reader::RecordedSite;

use crate::source::Function;

/// Module paths whose code a file contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileModules(BTreeSet<String>);

impl FileModules {
    /// Finds the module paths of a file from its functions and its recorded methods.
    pub fn new<'m>(
        file: &Path,
        functions: &[Function],
        methods: impl Iterator<Item = &'m RecordedSite> + Clone,
    ) -> FileModules {
        let all: BTreeSet<&str> =
            methods.clone().filter_map(|site| Some(module_and_name(site)?.0)).collect();
        let crates: BTreeSet<&str> = all.iter().map(|module| first_segment(module)).collect();
        let mut by_name: HashMap<&str, Vec<&Function>> = HashMap::new();
        for function in functions {
            by_name.entry(&function.name).or_default().push(function);
        }
        let of_crate = |name: &&str| {
            let modules: Vec<&str> =
                all.iter().copied().filter(|module| first_segment(module) == *name).collect();
            let by_path: BTreeSet<&str> =
                modules.iter().flat_map(|module| named_by(file, module)).collect();
            if by_path.len() == 1 {
                return by_path.first().map(|only| (*only).to_owned());
            }
            // The modules of all items in a file are the file's module or inside it.
            let is_around = |outer: &str| modules.iter().all(|module| is_or_within(module, outer));
            let own = methods
                .clone()
                .filter_map(module_and_name)
                .filter(|(module, _)| first_segment(module) == *name);
            let outer = own.flat_map(|(module, name)| {
                let namesakes = by_name.get(name).into_iter().flatten();
                namesakes.filter_map(move |function| without(module, &function.modules))
            });
            let possible: BTreeSet<&str> = outer
                .filter(|outer| is_around(outer) && (by_path.is_empty() || by_path.contains(outer)))
                .collect();
            possible.first().filter(|_| possible.len() == 1).map(|only| (*only).to_owned())
        };
        FileModules(crates.iter().filter_map(of_crate).collect())
    }

    /// Returns the module paths in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns true if `module` is the inline module with these names in the file.
    pub fn is_inner(&self, module: &str, names: &[String]) -> bool {
        without(module, names).is_some_and(|outer| self.0.contains(outer))
    }
}

/// Splits a method's path into module and name. An observed method may lack the length of its
/// module.
pub fn module_and_name(site: &RecordedSite) -> Option<(&str, &str)> {
    site.module_and_name().or_else(|| without_length(&site.path))
}

fn without_length(path: &str) -> Option<(&str, &str)> {
    let mut ends = path.match_indices("::").map(|(at, _)| at);
    let at = ends.find(|at| path[at + 2..].starts_with(char::is_uppercase)).or(path.rfind("::"))?;
    Some((&path[..at], &path[at + 2..]))
}

/// Returns the prefixes of a module that the path of a file suggests: the root of a crate, or a
/// module with its directories.
fn named_by<'m>(file: &Path, module: &'m str) -> Vec<&'m str> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut names: Vec<String> =
        file.parent().into_iter().flatten().map(|it| it.to_string_lossy().into()).collect();
    if stem != "mod" {
        names.push(stem.clone().into_owned());
    }
    let ends = module.match_indices("::").map(|(at, _)| at).chain([module.len()]);
    ends.map(|end| &module[..end])
        .filter(|outer| match outer.split_once("::") {
            None => ["lib", "main", *outer].contains(&stem.replace('-', "_").as_str()),
            Some((_, inner)) => {
                let inner: Vec<&str> = inner.split("::").collect();
                names.len() >= inner.len() && names[names.len() - inner.len()..] == inner[..]
            }
        })
        .collect()
}

/// Removes these inline modules from the end of a module path.
fn without<'m>(module: &'m str, inner: &[String]) -> Option<&'m str> {
    let mut outer = module;
    for name in inner.iter().rev() {
        outer = outer.strip_suffix(name.as_str())?.strip_suffix("::")?;
    }
    Some(outer)
}

fn is_or_within(module: &str, outer: &str) -> bool {
    module.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn first_segment(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

#[cfg(test)]
pub(crate) mod testing {
    use metaspy_probe::{SiteId, SiteKind};

    use super::*;

    /// Builds the site of a method.
    pub(crate) fn site(module: &str, name: &str) -> RecordedSite {
        RecordedSite {
            id: SiteId(1),
            kind: SiteKind::Method,
            path: format!("{module}::{name}"),
            file: String::new(),
            lines: (1, 1),
            skipped: None,
            module: module.len() as u32,
            facts: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Outline;

    /// Checks the modules of a file with this text and these methods. A method has its module
    /// before the space.
    fn check(file: &str, text: &str, methods: &[&str], expected: &[&str]) {
        let split = |method: &&str| {
            method.split_once(' ').map(|(module, name)| testing::site(module, name))
        };
        let sites: Vec<RecordedSite> = methods.iter().filter_map(split).collect();
        let found = FileModules::new(Path::new(file), &Outline::new(text).functions, sites.iter());
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{file}: {methods:?}");
    }

    #[test]
    fn the_path_of_a_file_names_its_module() {
        let own = "mod m { fn f() {} }";
        check("/w/src/main.rs", "fn f() {}", &["a::m f"], &["a"]);
        check("/w/src/b/c.rs", own, &["a::b::c::m f"], &["a::b::c"]);
        check("/w/src/b/mod.rs", "", &["a::b f", "a::b::m f"], &["a::b"]);
        check("/w/tests/a-b.rs", "", &["a_b::m f"], &["a_b"]);
        check(
            "/w/tests/common/mod.rs",
            "",
            &["one::common f", "two::common f"],
            &["one::common", "two::common"],
        );
        check("/w/src/b.rs", "", &["a::b::c::b f"], &["a::b"]);
    }

    #[test]
    fn a_file_with_an_unusual_path_is_known_by_its_functions() {
        check("/w/src/x.rs", "fn f() {} mod m { fn f() {} }", &["a::b f", "a::b::m f"], &["a::b"]);
        check("/w/src/x.rs", "mod m { fn f() {} }", &["a::m f"], &["a"]);
        check("/w/src/x.rs", "fn f() {} mod m { fn f() {} }", &["a::m f"], &[]);
        check("/w/src/x.rs", "", &["a::m f"], &[]);
    }

    #[test]
    fn a_module_is_inner_if_the_rest_is_the_file() {
        let file = FileModules(["a::b".to_owned()].into());
        let inner =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(file.is_inner("a::b", &[]) && file.is_inner("a::b::c::d", &inner(&["c", "d"])));
        assert!(!file.is_inner("a::b::c", &[]) && !file.is_inner("a::b", &inner(&["b"])));
        assert!(!file.is_inner("a::b::xc", &inner(&["c"])) && !file.is_inner("b", &inner(&["b"])));
        assert_eq!(without_length("a::b::Scene::measure"), Some(("a::b", "Scene::measure")));
        assert_eq!((without_length("a::f"), without_length("f")), (Some(("a", "f")), None));
    }
}
