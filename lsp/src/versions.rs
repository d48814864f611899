//! Versions of the recorded source.
//!
//! Runs are read apart by the version of the source, and added up by function, because the source
//! may be edited between them. In one program of all runs, a function that was edited in its place
//! would have the same path and line.

use std::collections::HashMap;

use metaspy_probe::SiteKind;
use metaspy_reader::{RecordedSite, Store};
use metaspy_report::program::Method;

/// Groups recordings by the version of the source, in their order. Two recordings have the same
/// version if all functions that both have are equal and in the same lines.
pub fn of(stores: &[Store]) -> Vec<Vec<Store>> {
    if let [_] | [] = stores {
        return stores.iter().map(|store| vec![store.clone()]).collect();
    }
    let mut versions: Vec<(Version<'_>, Vec<Store>)> = Vec::new();
    for store in stores {
        let sites = store
            .sites()
            .iter()
            .filter(|site| matches!(site.kind, SiteKind::Method | SiteKind::Async));
        let at = versions
            .iter()
            .position(|(version, _)| version.is_of(sites.clone()))
            .unwrap_or_else(|| {
                versions.push(<_>::default());
                versions.len() - 1
            });
        versions[at].0.add(sites);
        versions[at].1.push(store.clone());
    }
    versions.into_iter().map(|(_, stores)| stores).collect()
}

/// Functions of a version: first lines and hashes, by path and file.
#[derive(Default)]
struct Version<'s>(HashMap<(&'s str, &'s str), Vec<(u32, &'s str)>>);

impl<'s> Version<'s> {
    fn is_of(&self, mut sites: impl Iterator<Item = &'s RecordedSite>) -> bool {
        sites.all(|site| self.0.get(&key(site)).is_none_or(|known| known.contains(&code(site))))
    }

    fn add(&mut self, sites: impl Iterator<Item = &'s RecordedSite>) {
        for site in sites {
            let known = self.0.entry(key(site)).or_default();
            if !known.contains(&code(site)) {
                known.push(code(site));
            }
        }
    }
}

fn key(site: &RecordedSite) -> (&str, &str) {
    (&site.path, &site.file)
}

/// Returns the first line, and the hash as it is written.
fn code(site: &RecordedSite) -> (u32, &str) {
    let hash = site.facts.split(' ').find_map(|word| word.strip_prefix("source="));
    (site.lines.0, hash.unwrap_or_default())
}

/// Finder of methods that are the same function in several versions.
///
/// These are the methods with the same path, file and code. The newest version with a function has
/// its present code.
#[derive(Default)]
pub struct Functions<'m> {
    /// Known functions by path and file.
    known: HashMap<(&'m str, &'m str), Vec<Known>>,
    count: usize,
}

/// Function with the versions that have it.
struct Known {
    number: usize,
    /// Hash of the function's tokens, or the line without a hash.
    code: (u32, u32),
    /// Last version that has the function.
    last: usize,
}

impl<'m> Functions<'m> {
    /// Returns the number of a method's function, or `None` for a method of earlier code. The
    /// newest version must come first.
    pub fn number(&mut self, version: usize, method: &'m Method) -> Option<usize> {
        let code = match method.facts.as_ref().map_or(0, |facts| facts.fingerprint) {
            0 => (method.site.lines.0, 0),
            hash => (0, hash),
        };
        let known = self.known.entry((&method.site.path, &method.site.file)).or_default();
        if let Some(same) =
            known.iter_mut().find(|other| other.code == code && other.last != version)
        {
            same.last = version;
            return Some(same.number);
        }
        // These are functions with the same path in a single version.
        let is_new = known.iter().all(|other| other.last == version);
        is_new.then(|| {
            known.push(Known { number: self.count, code, last: version });
            self.count += 1;
            self.count - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use metaspy_format::facts::Facts;
    use metaspy_report::program::MethodProfile;

    use super::*;
    use crate::file_modules::testing::site;

    /// Checks methods `a::f` (version, line, hash). The result has the numbers of their functions.
    fn check(methods: &[(usize, u32, u32)], expected: &[Option<usize>]) {
        let method = |&(_, line, fingerprint): &(usize, u32, u32)| Method {
            site: RecordedSite { lines: (line, line), ..site("a", "f") },
            facts: Some(Facts { fingerprint, ..Facts::default() }),
            profile: MethodProfile::default(),
        };
        let all: Vec<Method> = methods.iter().map(method).collect();
        let mut functions = Functions::default();
        let found: Vec<_> = methods
            .iter()
            .zip(&all)
            .map(|((version, ..), method)| functions.number(*version, method))
            .collect();
        assert_eq!(found, expected, "{methods:?}");
    }

    #[test]
    fn a_moved_function_is_one_and_an_edited_function_has_only_its_newest_code() {
        check(&[(0, 3, 7), (1, 9, 7), (2, 3, 7)], &[Some(0), Some(0), Some(0)]);
        check(&[(0, 3, 7), (1, 3, 8), (2, 3, 7)], &[Some(0), None, Some(0)]);
        check(&[(0, 3, 0), (1, 3, 0), (2, 4, 0)], &[Some(0), Some(0), None]);
    }

    #[test]
    fn functions_of_one_path_in_one_version_are_several() {
        check(
            &[(0, 3, 7), (0, 9, 7), (1, 4, 7), (1, 10, 7)],
            &[Some(0), Some(1), Some(0), Some(1)],
        );
    }

    #[test]
    fn recordings_of_other_lines_or_other_code_are_of_another_version() {
        let of = |line: u32, facts: &str| RecordedSite {
            lines: (line, 9),
            facts: facts.into(),
            ..site("a", "f")
        };
        let (first, moved, edited) =
            (of(3, "c=1 source=7"), of(4, "c=1 source=7"), of(3, "c=1 source=8"));
        let other = RecordedSite { file: "src/b.rs".into(), ..edited.clone() };
        let mut version = Version::default();
        version.add([&first].into_iter());
        assert!(version.is_of([&first, &other].into_iter()));
        assert!(!version.is_of([&moved].into_iter()) && !version.is_of([&edited].into_iter()));
    }
}
