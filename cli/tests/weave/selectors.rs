//! Selectors and subjects that are mistakes: they are answered before anything is compiled.

use crate::common::{Package, manifest};

/// Tests run side by side, so each has a package of its own.
fn package(name: &str) -> Package {
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest("selecting", "2024", "")),
            (
                "src/main.rs",
                "struct Scene(u32);\nimpl Scene {\n    pub fn measure(&self, node_id: u32) -> Option<u32> {\n        \
                 self.0.checked_add(node_id)\n    }\n}\nconst fn fixed() -> u32 {\n    3\n}\nfn main() {\n    \
                 Scene(fixed()).measure(1);\n}\n",
            ),
        ],
    )
}

fn check(package: &Package, line: &[&str], words: &[&str]) {
    let did = package.try_metaspy(&[&["build"], line].concat());
    assert_eq!((did.code, did.compiled()), (2, vec![]), "{line:?}: {}", did.stderr);
    for word in words {
        assert!(did.stderr.contains(word), "{line:?}: {word}: {}", did.stderr);
    }
}

#[test]
fn a_selector_that_is_none_shows_how_to_write_one() {
    let package = package("selecting_words");
    check(
        &package,
        &["--weave", "pub fn Scene::*"],
        &["`Scene::*` in `pub fn Scene::*`", "`pub taffy::**`", "`** lines>=10`"],
    );
    check(&package, &["--without", "a b"], &["`b` in `a b`"]);
}

#[test]
fn a_selector_that_matches_nothing_is_reported() {
    let package = package("selecting_nothing");
    check(&package, &["--weave", "Scene::* -> Result<*>"], &["1 have this path"]);
    check(&package, &["--weave", "pub mesure -> Option<*>"], &["did you mean", "Scene::measure"]);
    check(&package, &["--without", "nope::*"], &["--without: no function matches `nope::*`"]);
    check(&package, &["--without", "Scene::mesure"], &["did you mean", "Scene::measure"]);
    check(&package, &["--weave", "selectin::**"], &["did you mean selecting::**?"]);
}

#[test]
fn a_subject_that_a_function_does_not_have_is_answered_with_its_parameters() {
    let package = package("selecting_parameters");
    check(
        &package,
        &["--subject", "measure=nodeid"],
        &["`selecting::Scene::measure`", "did you mean node_id?"],
    );
    check(
        &package,
        &["--subject", "measure=x.id"],
        &["no parameter `x`", "its parameters are self, node_id"],
    );
    check(&package, &["--subject", "main=x"], &["no parameter with a plain name"]);
}

#[test]
fn a_subject_of_nothing_that_is_selected_is_a_mistake() {
    let package = package("selecting_subjects");
    check(&package, &["--subject", "mesure=node_id"], &["did you mean", "Scene::measure"]);
    check(
        &package,
        &["--weave", "main", "--subject", "Scene::measure=node_id"],
        &["--weave selects functions"],
    );
    check(
        &package,
        &["--subject", "measure"],
        &["`measure` names no subject", "`Scene::*=self.id`"],
    );
}

#[test]
fn a_subject_that_the_compiler_refuses_is_an_error_and_other_hooks_stay() {
    let package = Package::new(
        "selecting_refused",
        &[
            ("Cargo.toml", &manifest("refused", "2024", "")),
            (
                "src/main.rs",
                "struct User {\n    id: u32,\n}\nimpl User {\n    fn one(&self) -> u32 {\n        self.id\n    }\n    \
                 fn two(&self) {}\n}\nfn main() {\n    let user = User { id: 7 };\n    user.two();\n    \
                 println!(\"{}\", user.one());\n}\n",
            ),
        ],
    );
    let did = package.try_metaspy(&["run", "--subject", "User::*=self.idd"]);
    assert_eq!((did.code, did.calls("refused::main")), (2, Some(1)), "{}", did.stderr);
    let line = "--subject 'User::*=self.idd': the compiler refuses the hooks of refused::User::one, refused::User::two: \
                no field `idd`";
    assert!(did.stderr.contains(line), "{}", did.stderr);
    let again = package.try_metaspy(&["run", "--subject", "User::*=self.idd"]);
    assert!(
        again.code == 2 && again.stderr.contains(line),
        "not only when it compiles: {}",
        again.stderr
    );
    let did = package.metaspy(&["run", "--subject", "User::*=self.id"]);
    assert_eq!(
        (did.calls("refused::User::one"), did.calls("refused::User::two")),
        (Some(1), Some(1))
    );
}
