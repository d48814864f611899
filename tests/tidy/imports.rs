//! Import circles: modules of one package that use each other.
//!
//! A module is a file. An arrow leads from a file to the file that defines a name, through
//! re-exports, so a table of contents (`pub use`) is no arrow. `mod` declarations and tests are
//! none, either.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use super::source::Source;

/// Pairs of files or rooms, each with one name that leads from the first to the second.
type Arrows = BTreeMap<(String, String), String>;

/// Files, or rooms, each of which reaches all others.
pub struct Circle {
    /// Their paths below the package's `src`.
    pub members: BTreeSet<String>,
    /// Arrows within the circle.
    arrows: Arrows,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((from, to), name) in &self.arrows {
            writeln!(f, "  {from} -> {to}  ({name})")?;
        }
        Ok(())
    }
}

/// The circles among the files below `folder`, largest first.
pub fn circles(sources: &[Source], folder: &str) -> Vec<Circle> {
    circles_of(&Package::new(sources, folder).arrows())
}

fn circles_of(arrows: &Arrows) -> Vec<Circle> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|from| (*from, reachable(&next, from))).collect();
    let mut circles: Vec<Circle> = Vec::new();
    for (from, all) in &reached {
        if !all.contains(from) || circles.iter().any(|circle| circle.members.contains(*from)) {
            continue;
        }
        let back = |to: &&str| reached.get(*to).is_some_and(|all| all.contains(from));
        let members: BTreeSet<String> =
            all.iter().copied().filter(|to| back(to)).map(str::to_string).collect();
        let within =
            |arrow: &(String, String)| members.contains(&arrow.0) && members.contains(&arrow.1);
        let arrows = arrows
            .iter()
            .filter(|(arrow, _)| within(arrow))
            .map(|(arrow, name)| (arrow.clone(), name.clone()));
        circles.push(Circle { arrows: arrows.collect(), members });
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.members.len()));
    circles
}

/// The circles among the rooms of a package: the folders and files directly below `folder`. Files
/// are in one room with the folder of their name.
pub fn room_circles(sources: &[Source], folder: &str) -> Vec<Circle> {
    let mut arrows: Arrows = BTreeMap::new();
    for ((from, to), name) in Package::new(sources, folder).arrows() {
        let from_room = room_of(&from);
        let to_room = room_of(&to);
        if from_room != to_room && !matches!(from_room, "lib" | "main") {
            let label = format!("{name} in {from}");
            arrows.entry((from_room.to_owned(), to_room.to_owned())).or_insert(label);
        }
    }
    circles_of(&arrows)
}

fn room_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

fn reachable<'a>(next: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), VecDeque::from([from]));
    while let Some(at) = open.pop_front() {
        for to in next.get(at).into_iter().flatten() {
            if seen.insert(*to) {
                open.push_back(to);
            }
        }
    }
    seen
}

type Path = Vec<String>;

/// One name that a `use` brings into a module.
struct Import {
    /// From the root of the package.
    path: Path,
    /// The name here; `*` for all names.
    name: String,
    public: bool,
}

struct Module {
    file: String,
    imports: Vec<Import>,
    /// Tokens outside `use` declarations.
    body: Vec<String>,
}

struct Package {
    modules: BTreeMap<Path, Module>,
}

impl Package {
    fn new(sources: &[Source], folder: &str) -> Self {
        let files: BTreeMap<Path, (&str, &Source)> = sources
            .iter()
            .filter(|source| source.is_product())
            .filter_map(|source| {
                Some((source.path.strip_prefix(folder)?.strip_prefix('/')?, source))
            })
            .map(|(file, source)| (module_path(file), (file, source)))
            .collect();
        let names: BTreeSet<Path> = files.keys().cloned().collect();
        let modules = files
            .into_iter()
            .map(|(path, (file, source))| {
                let (imports, body) = read(&source.code, &path, &names);
                (path, Module { file: file.to_string(), imports, body })
            })
            .collect();
        Package { modules }
    }

    /// Pairs of files, each with one name that leads from the first to the second.
    fn arrows(&self) -> Arrows {
        let mut arrows = BTreeMap::new();
        for (path, module) in &self.modules {
            for target in self.targets(path, module) {
                let Some(to) = self.resolve(&target, 0) else { continue };
                if to != module.file {
                    arrows
                        .entry((module.file.clone(), to.to_string()))
                        .or_insert_with(|| target.join("::"));
                }
            }
        }
        arrows
    }

    /// Everything of the package that a module names.
    fn targets(&self, path: &Path, module: &Module) -> Vec<Path> {
        let mut targets = Vec::new();
        for import in &module.imports {
            if import.name == "*" {
                targets.extend(self.used_through_glob(import, module));
                continue;
            }
            let uses: Vec<&[String]> =
                module.body.windows(3).filter(|window| window[0] == import.name).collect();
            if import.public && uses.is_empty() {
                continue;
            }
            let members: BTreeSet<&String> =
                uses.iter().filter(|window| window[1] == "::").map(|window| &window[2]).collect();
            if self.modules.contains_key(&import.path) && !members.is_empty() {
                targets.extend(
                    members
                        .into_iter()
                        .map(|member| join(&import.path, std::slice::from_ref(member))),
                );
            } else {
                targets.push(import.path.clone());
            }
        }
        let names: BTreeSet<Path> = self.modules.keys().cloned().collect();
        let mut at = 0;
        while at < module.body.len() {
            let length = path_length(&module.body[at..]);
            if length > 1 && (at == 0 || module.body[at - 1] != "::") {
                let segments: Path = module.body[at..at + length]
                    .iter()
                    .filter(|token| *token != "::")
                    .cloned()
                    .collect();
                targets.extend(absolute(&segments, path, &names));
            }
            at += length.max(1);
        }
        targets
    }

    /// Names of a glob's module that the body of `module` uses. One that the body defines itself
    /// hides the glob's.
    fn used_through_glob(&self, import: &Import, module: &Module) -> Vec<Path> {
        let Some(source) = self.modules.get(&import.path) else { return Vec::new() };
        let begins_path =
            |at: usize| at == 0 || !matches!(module.body[at - 1].as_str(), "::" | ".");
        let tokens = module.body.iter().enumerate().filter(|(at, _)| begins_path(*at));
        let names: BTreeSet<&String> = tokens.map(|(_, token)| token).collect();
        let used = names.into_iter().filter(|name| source.provides(name) && !module.defines(name));
        used.map(|name| join(&import.path, std::slice::from_ref(name))).collect()
    }

    /// The file that defines the last name of a path; `None` if it comes from another package.
    fn resolve(&self, path: &[String], depth: usize) -> Option<&str> {
        let mut known = path.len();
        while !self.modules.contains_key(&path[..known]) {
            known = known.checked_sub(1)?;
        }
        let module = &self.modules[&path[..known]];
        let Some(name) = path.get(known) else { return Some(&module.file) };
        // Two modules may re-export each other.
        if depth > 16 {
            return Some(&module.file);
        }
        if let Some(import) = module.imports.iter().find(|import| &import.name == name) {
            return self.resolve(&join(&import.path, &path[known + 1..]), depth + 1);
        }
        for import in module.imports.iter().filter(|import| import.name == "*") {
            let defines = self.modules.get(&import.path).is_some_and(|module| module.defines(name));
            if defines && !module.defines(name) {
                return self.resolve(&join(&import.path, &path[known..]), depth + 1);
            }
        }
        Some(&module.file)
    }
}

impl Module {
    /// Whether a glob import of this module brings the name: an item or an import, private ones
    /// too, since modules below see them.
    fn provides(&self, name: &str) -> bool {
        self.defines(name) || self.imports.iter().any(|import| import.name == name)
    }

    fn defines(&self, name: &str) -> bool {
        const ITEMS: &[&str] = &[
            "fn",
            "struct",
            "enum",
            "union",
            "trait",
            "type",
            "const",
            "static",
            "macro_rules",
            "mod",
        ];
        // The lifetime of `&'static Name` is no item.
        let is_item = |at: usize| {
            ITEMS.contains(&self.body[at].as_str()) && (at == 0 || self.body[at - 1] != "'")
        };
        let mut named = self.body.iter().enumerate().skip(1).filter(|(_, token)| *token == name);
        named.any(|(at, _)| is_item(at - 1))
            || self.imports.iter().any(|import| import.public && import.name == name)
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_path(file: &str) -> Path {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" || stem == "main" {
        Vec::new()
    } else {
        stem.split('/').map(str::to_string).collect()
    }
}

/// The imports of a module, and the tokens of all else.
fn read(code: &str, path: &Path, names: &BTreeSet<Path>) -> (Vec<Import>, Vec<String>) {
    let tokens = tokens(code);
    let (mut imports, mut body, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let begins =
            at == 0 || matches!(tokens[at - 1].as_str(), ";" | "}" | "{" | "]" | "pub" | ")");
        if tokens[at] == "use" && begins {
            let public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
            let end = tokens[at..]
                .iter()
                .position(|token| token == ";")
                .map_or(tokens.len(), |length| at + length);
            let mut found = Vec::new();
            expand(&tokens[at + 1..end], &[], &mut found);
            for (segments, name) in found {
                if let Some(path) = absolute(&segments, path, names) {
                    imports.push(Import { path, name, public });
                }
            }
            at = end;
        } else {
            body.push(tokens[at].clone());
        }
        at += 1;
    }
    (imports, body)
}

/// The paths of a tree of imports, each with the name that it gets.
fn expand(tree: &[String], before: &[String], found: &mut Vec<(Path, String)>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tree.len() {
        match tree[at].as_str() {
            "::" => {}
            "{" => {
                let mut depth = 0;
                let mut from = at + 1;
                for (end, token) in tree.iter().enumerate().skip(at) {
                    depth += i32::from(token == "{") - i32::from(token == "}");
                    if (token == "," && depth == 1) || (token == "}" && depth == 0) {
                        if from < end {
                            expand(&tree[from..end], &path, found);
                        }
                        from = end + 1;
                    }
                    if depth == 0 {
                        break;
                    }
                }
                return;
            }
            "as" => {
                let name = tree.get(at + 1).cloned().unwrap_or_default();
                found.push((path, name));
                return;
            }
            "*" => {
                found.push((path, "*".to_string()));
                return;
            }
            "self" if !path.is_empty() => {}
            segment => path.push(segment.to_string()),
        }
        at += 1;
    }
    if let Some(name) = path.last().cloned() {
        found.push((path, name));
    }
}

/// A path from the root of the package; `None` for a path into another one, or to a name without a
/// path.
fn absolute(segments: &[String], from: &[String], names: &BTreeSet<Path>) -> Option<Path> {
    match segments.first()?.as_str() {
        "crate" => Some(segments[1..].to_vec()),
        "self" => Some(join(from, &segments[1..])),
        "super" => {
            let up = segments.iter().take_while(|segment| *segment == "super").count();
            Some(join(&from[..from.len().saturating_sub(up)], &segments[up..]))
        }
        // A child module is in scope where it is declared.
        _ if names.contains(&join(from, &segments[..1])) => Some(join(from, segments)),
        _ => None,
    }
}

fn join(path: &[String], rest: &[String]) -> Path {
    path.iter().chain(rest).cloned().collect()
}

/// How many tokens a path `a::b::c` at the beginning takes.
fn path_length(tokens: &[String]) -> usize {
    let is_name = |at: usize| {
        tokens
            .get(at)
            .is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    if !is_name(0) {
        return 1;
    }
    let mut length = 1;
    while tokens.get(length).is_some_and(|token| token == "::") && is_name(length + 1) {
        length += 2;
    }
    length
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    tokens
}

#[test]
fn trees_of_imports_are_expanded() {
    let mut found = Vec::new();
    expand(&tokens("crate::{a::{self, B as C}, d::*, e}"), &[], &mut found);
    let found: Vec<String> =
        found.iter().map(|(path, name)| format!("{} {name}", path.join("::"))).collect();
    assert_eq!(found, ["crate::a a", "crate::a::B C", "crate::d *", "crate::e e"]);
}
