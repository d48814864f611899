//! The files of a crate: its root, and those that are declared from there on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Component, Path, PathBuf};

use metaspy_reader::files;

use crate::source::condition::Condition;
use crate::source::functions::{Function, Functions};
use crate::source::parse::{self, Parsed, Unreadable};
use crate::source::resolve;

/// A file of a crate.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The modules that it is: one file may be several. The crate's root is the empty path.
    pub modules: Vec<Vec<String>>,
    /// Its functions.
    pub parsed: Result<Parsed, Unreadable>,
}

impl SourceFile {
    /// The paths of the files that it includes.
    pub fn included(&self) -> impl Iterator<Item = PathBuf> {
        let dir = self.path.parent().unwrap_or(Path::new(""));
        self.parsed
            .iter()
            .flat_map(|parsed| &parsed.includes)
            .map(move |include| plain(&dir.join(include)))
    }

    /// The paths of a function of this file, one for each module that it is:
    /// `crate::module::Type::Trait::method`.
    pub fn paths_of(&self, krate: &str, function: &Function) -> impl Iterator<Item = String> {
        let below: Vec<String> = function.modules.iter().chain([&function.name]).cloned().collect();
        self.module_paths(krate)
            .map(move |path| below.iter().fold(path, |path, segment| path + "::" + segment))
    }

    /// The paths of the modules that it is: `crate::module`.
    pub fn module_paths(&self, krate: &str) -> impl Iterator<Item = String> {
        self.modules
            .iter()
            .map(move |of| of.iter().fold(krate.to_owned(), |path, module| path + "::" + module))
    }
}

/// The files of a crate that its source names.
#[derive(Clone, Debug, Default)]
pub struct CrateSource {
    /// Each once, the root first.
    pub files: Vec<SourceFile>,
    /// Places of modules that could not be read.
    pub missing: Vec<PathBuf>,
    /// Directories that a path enters and leaves again, as `sub` in `sub/../file.rs`.
    pub through: BTreeSet<PathBuf>,
}

/// A file that may be a module.
struct Named {
    /// Its path as written, with `..`.
    path: PathBuf,
    modules: Vec<String>,
    is_mod_rs: bool,
    condition: Condition,
    /// The files around it, by their places.
    around: Vec<usize>,
}

/// Reads a crate from its root on. Missing files, as of modules under conditions, are skipped.
pub fn read(root: &Path) -> io::Result<CrateSource> {
    let mut source = CrateSource::default();
    let mut places = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let path = root.to_owned();
    let condition = Condition::default();
    let root = Named { path, modules: Vec::new(), is_mod_rs: true, condition, around: Vec::new() };
    let (mut to_read, mut by_macros, mut module_macros) =
        (VecDeque::from([root]), Vec::new(), BTreeSet::new());
    while let Some(named) = next(&mut to_read, &mut by_macros, &module_macros) {
        let path = plain(&named.path);
        if !seen.insert((path.clone(), named.modules.clone(), named.is_mod_rs)) {
            continue;
        }
        let place = match places.get(&path) {
            Some(place) => *place,
            None => source.add(&path, &named.condition)?,
        };
        places.insert(path, place);
        // A module that contains itself would never end; the compiler refuses it.
        let Some(place) = place.filter(|place| !named.around.contains(place)) else { continue };
        source.through.extend(passed(&named.path));
        let file = &mut source.files[place];
        if !file.modules.contains(&named.modules) {
            file.modules.push(named.modules.clone());
        }
        let around: Vec<usize> = named.around.iter().copied().chain([place]).collect();
        module_macros.extend(
            file.parsed.iter().flat_map(|parsed| parsed.functions.module_macros.iter().cloned()),
        );
        let outer =
            file.parsed.as_ref().map_or(&named.condition, |parsed| &parsed.functions.condition);
        for declared in file.parsed.iter().flat_map(|parsed| &parsed.declared) {
            let condition = outer.and(&declared.condition);
            let modules: Vec<String> =
                named.modules.iter().chain(&declared.modules()).cloned().collect();
            for (path, is_mod_rs) in declared.candidates(&file.path, named.is_mod_rs) {
                let (modules, condition, around) =
                    (modules.clone(), condition.clone(), around.clone());
                let named = Named { path, modules, is_mod_rs, condition, around };
                match &declared.by_macro {
                    None => to_read.push_back(named),
                    Some(by) => by_macros.push((by.clone(), named)),
                }
            }
        }
    }
    resolve::resolve(&mut source.files);
    Ok(source)
}

/// The next file to read. Those that a macro may declare come last: its rules may be in another
/// file.
fn next(
    to_read: &mut VecDeque<Named>,
    by_macros: &mut Vec<(String, Named)>,
    module_macros: &BTreeSet<String>,
) -> Option<Named> {
    if to_read.is_empty() {
        let declared = by_macros.extract_if(.., |(by, _)| module_macros.contains(by));
        to_read.extend(declared.map(|(_, named)| named));
    }
    to_read.pop_front()
}

impl CrateSource {
    /// The functions of the file at this place, if it can be parsed.
    pub fn functions(&self, file: usize) -> Option<&Functions> {
        self.files.get(file)?.parsed.as_ref().ok().map(|parsed| &parsed.functions)
    }

    /// Reads a file: its place, if it is there.
    fn add(&mut self, path: &Path, condition: &Condition) -> io::Result<Option<usize>> {
        match files::read_text(path) {
            Ok(text) => {
                let mut parsed = parse::parse(&text);
                if let Ok(Parsed { functions, .. }) = &mut parsed {
                    functions.condition = condition.and(&functions.condition);
                    if functions.condition.is_test_only() {
                        functions
                            .all
                            .iter_mut()
                            .for_each(|function| function.facts.is_test_only = true);
                    }
                }
                self.files.push(SourceFile {
                    path: path.to_owned(),
                    text,
                    modules: Vec::new(),
                    parsed,
                });
                Ok(Some(self.files.len() - 1))
            }
            Err(error) if self.files.is_empty() => Err(error),
            // It is compiled as it is, and nothing more of its text is needed.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let parsed = Err(Unreadable(error.to_string()));
                self.files.push(SourceFile {
                    path: path.to_owned(),
                    text: String::new(),
                    modules: Vec::new(),
                    parsed,
                });
                Ok(Some(self.files.len() - 1))
            }
            // It is missing, or no regular file: a module under a condition may name anything.
            Err(_) => {
                self.missing.push(path.to_owned());
                Ok(None)
            }
        }
    }
}

/// The directories that a path leaves by `..`.
fn passed(path: &Path) -> impl Iterator<Item = PathBuf> {
    let components: Vec<Component<'_>> = path.components().collect();
    let left =
        components.iter().enumerate().filter(|(_, component)| **component == Component::ParentDir);
    let left: Vec<PathBuf> =
        left.map(|(at, _)| plain(&components[..at].iter().collect::<PathBuf>())).collect();
    left.into_iter()
}

/// Without `.` and `..`, as far as the text allows.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes a root with these lines, and reads the crate from it.
    fn read_from(name: &str, root: &str) -> CrateSource {
        let dir =
            std::env::temp_dir().join(format!("metaspy-source-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("the directory is ours");
        fs::write(dir.join("lib.rs"), root).expect("there is room");
        fs::write(dir.join("large.rs"), vec![b' '; (16 << 20) + 1]).expect("there is room");
        let source = read(&dir.join("lib.rs"));
        fs::remove_dir_all(dir).expect("it is removed");
        source.expect("the root is there")
    }

    #[cfg(unix)]
    #[test]
    fn a_module_that_is_no_regular_file_is_not_read() {
        let source =
            read_from("device", "#[cfg(any())] #[path = \"/dev/null\"] mod nothing;\nfn f() {}");
        assert_eq!((source.files.len(), source.missing), (1, vec![PathBuf::from("/dev/null")]));
    }

    #[test]
    fn a_module_that_is_too_large_is_named() {
        let source = read_from("large", "mod large;\nfn f() {}");
        let why = source.files[1].parsed.as_ref().expect_err("it is not read").to_string();
        assert!(why.contains("more than 16777216 bytes"), "{why}");
    }
}
