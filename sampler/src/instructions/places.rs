//! Lookup of a recording's methods by source lines.

use std::collections::HashMap;
use std::path::Path;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::RecordedSite;

use crate::symbols::{Category, Function, FunctionId};

/// First and last line of a method, and its site.
type Lines = ((u32, u32), SiteId);

/// Methods of source files, by function and line.
pub struct Places {
    /// Methods in the file of each function, by the function's number. The list is empty for files
    /// without methods.
    of_functions: Vec<Vec<Lines>>,
}

impl Places {
    /// Finds the methods in the source file of each function.
    pub fn new(sites: &[RecordedSite], functions: &[Function]) -> Places {
        let mut files: HashMap<&str, Vec<Lines>> = HashMap::new();
        let is_method = |site: &&RecordedSite| {
            matches!(site.kind, SiteKind::Method | SiteKind::Async)
                && site.skipped.is_none()
                && site.lines.0 > 0
        };
        for site in sites.iter().filter(is_method) {
            files.entry(&site.file).or_default().push((site.lines, site.id));
        }
        // A relative path begins in the workspace, the shortest directory in which such a file
        // exists.
        let mut roots: HashMap<&str, &str> = HashMap::new();
        for function in functions.iter().filter(|function| function.category == Category::User) {
            let Some(source) = function.file.as_deref() else { continue };
            for &file in files
                .keys()
                .filter(|file| Path::new(file).is_relative() && Path::new(source).ends_with(file))
            {
                let root = roots.entry(file).or_insert(source);
                if source.len() < root.len() {
                    *root = source;
                }
            }
        }
        let by_root: HashMap<&str, &str> =
            roots.iter().map(|(&file, &root)| (root, file)).collect();
        let of_function = |function: &Function| {
            let source = function.file.as_deref()?;
            files.get(source).or_else(|| files.get(by_root.get(source)?)).cloned()
        };
        Places {
            of_functions: functions
                .iter()
                .map(|function| of_function(function).unwrap_or_default())
                .collect(),
        }
    }

    /// Returns the innermost method at a line of a function's file.
    pub fn site(&self, (function, line): (FunctionId, u32)) -> Option<SiteId> {
        let around = self.of_functions[function as usize]
            .iter()
            .filter(|((first, last), _)| (*first..=*last).contains(&line));
        around.min_by_key(|((first, last), _)| last - first).map(|&(_, site)| site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(id: u32, file: &str, lines: (u32, u32)) -> RecordedSite {
        RecordedSite {
            id: SiteId(id),
            kind: SiteKind::Method,
            path: format!("app::f{id}"),
            file: file.into(),
            lines,
            skipped: None,
            module: 3,
            facts: String::new(),
        }
    }

    fn function(file: &str) -> Function {
        let category = Category::of("f", Some(file), "/home/me/app/target/release/app", true);
        Function { name: "f".into(), file: Some(file.into()), category, module: "app".into() }
    }

    #[test]
    fn a_line_is_of_the_innermost_method_of_its_own_file() {
        let taffy = "/home/me/.cargo/registry/src/index-1/taffy-0.9.0/src/lib.rs";
        let sites = [
            site(1, "src/lib.rs", (10, 30)),
            site(2, "src/lib.rs", (12, 14)),
            site(3, "member/src/lib.rs", (10, 30)),
            site(4, taffy, (10, 30)),
        ];
        let other = "/home/me/.cargo/registry/src/index-1/other-0.9.0/src/lib.rs";
        let functions = ["/home/me/app/src/lib.rs", "/home/me/app/member/src/lib.rs", taffy, other]
            .map(function);
        let places = Places::new(&sites, &functions);
        let at = |function: u32, line| places.site((function, line)).map(|site| site.0);
        assert_eq!([at(0, 11), at(0, 13), at(0, 31)], [Some(1), Some(2), None]);
        assert_eq!([at(1, 13), at(2, 13)], [Some(3), Some(4)]);
        assert_eq!(at(3, 13), None, "a package of another name has such a file, too");
    }
}
