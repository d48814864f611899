//! The rules of the design that a machine can check: arrows between packages, their metadata, the layout of recordings,
//! module docs, plain words, environment variables, and import circles.
//!
//! Each rule has a budget: the faults that are still in the tree. A budget only ever falls.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/environment.rs"]
mod environment;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layout.rs"]
mod layout;
#[path = "tidy/packages.rs"]
mod packages;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use std::sync::OnceLock;

use source::{Source, repository};

/// Dependencies between packages that the table in `arrows.rs` does not have.
const ARROW_BUDGET: usize = 0;
/// Shifts and masks of recorded words outside `metaspy-core/format`.
const LAYOUT_BUDGET: usize = 0;
/// Modules without `//!` docs.
const MODULE_DOCS_BUDGET: usize = 0;
/// Listed words in 1,000, in all packages together.
const WORDS_BUDGET: f64 = 2.0;
/// Listed words in 1,000, in the worst package.
const PACKAGE_WORDS_BUDGET: f64 = 2.0;
/// Files in the largest import circle of a package of the core.
const CIRCLE_BUDGET: usize = 5;

#[test]
fn packages_depend_on_each_other_only_as_the_table_allows() {
    fail_over(ARROW_BUDGET, "arrows that the design does not have", &arrows::faults());
}

#[test]
fn an_exception_of_an_arrow_is_needed() {
    fail_over(0, "exceptions in `arrows.rs` that no Cargo.toml needs: delete them", &arrows::needless());
}

#[test]
fn every_package_can_be_published_and_found() {
    fail_over(0, "metadata that a published package lacks", &packages::faults());
}

#[test]
fn only_the_format_shifts_and_masks_recorded_words() {
    let (faults, needless) = layout::faults(sources());
    fail_over(LAYOUT_BUDGET, "shifts and masks outside `metaspy-core/format`: give the format a function", &faults);
    fail_over(0, "exceptions in `layout.rs` that match no line: delete them", &needless);
}

#[test]
fn messages_go_through_the_function_that_cleans_them() {
    let prints = |source: &&Source| source.is_product() && !source.path.starts_with("benches/");
    let lines = sources().iter().filter(prints).flat_map(|source| {
        let code = source.code.lines().enumerate();
        code.filter(|(_, line)| line.contains("eprintln!") || line.contains("eprint!"))
            .map(|(at, line)| format!("{}:{}: {}", source.path, at + 1, line.trim()))
    });
    fail_over(0, "messages that quote names as they are: use `text::print_message`", &lines.collect::<Vec<_>>());
}

#[test]
fn every_module_has_docs() {
    let missing: Vec<_> = sources().iter().flat_map(Source::modules_without_docs).collect();
    fail_over(MODULE_DOCS_BUDGET, "modules without `//!` docs: write two or three sentences", &missing);
}

#[test]
fn functions_have_plain_names() {
    let faults: Vec<_> = sources().iter().flat_map(words::functions).collect();
    fail_over(0, "functions with a listed word in their name: name what they do", &faults);
}

#[test]
fn comments_docs_and_messages_use_plain_words() {
    let report = words::report(sources());
    println!("{report}");
    assert!(
        report.per_mille() <= WORDS_BUDGET && report.worst_package() <= PACKAGE_WORDS_BUDGET,
        "more than {WORDS_BUDGET} of the listed words in 1,000, or {PACKAGE_WORDS_BUDGET} in one package: \
         reword the files below (CONTRIBUTING.md has examples)\n{report}"
    );
}

#[test]
fn the_documents_list_every_environment_variable() {
    fail_over(0, "variables that `docs/environment.md` does not list", &environment::faults(sources()));
}

#[test]
fn modules_of_the_core_import_in_small_circles() {
    let sources = sources();
    for package in ["metaspy-core/src", "metaspy-core/reader/src", "metaspy-core/format/src", "metaspy-core/probe/src"]
    {
        for circle in imports::circles(sources, package) {
            println!("{package}: a circle of {circle}");
            let largest = circle.files.len();
            assert!(largest <= CIRCLE_BUDGET, "{package}: more than {CIRCLE_BUDGET} files import each other\n{circle}");
        }
    }
}

/// All sources, read once.
fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| source::read_all(&repository()))
}

/// Fails with the list if it has more than `budget` entries.
fn fail_over(budget: usize, what: &str, faults: &[String]) {
    println!("{what}: {} (budget {budget})\n{}", faults.len(), faults.join("\n"));
    assert!(faults.len() <= budget, "{what}: {} (budget {budget})\n{}", faults.len(), faults.join("\n"));
}
