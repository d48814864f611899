//! The rules of the design that a machine can check: arrows between packages, their metadata, the
//! layout of recordings, module docs, environment variables, reads and writes of files, quoted
//! screens, and import circles.
//!
//! Each rule has a budget: the faults that are still in the tree. A budget only ever falls.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/counts.rs"]
mod counts;
#[path = "tidy/environment.rs"]
mod environment;
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layout.rs"]
mod layout;
#[path = "tidy/packages.rs"]
mod packages;
#[path = "tidy/screens.rs"]
mod screens;
#[path = "tidy/source.rs"]
mod source;

use std::sync::OnceLock;

use source::{Source, repository};

/// Dependencies between packages that the table in `arrows.rs` does not have.
const ARROW_BUDGET: usize = 0;
/// Shifts and masks of recorded words outside `metaspy-core/format`.
const LAYOUT_BUDGET: usize = 0;
/// Modules without `//!` docs.
const MODULE_DOCS_BUDGET: usize = 0;
/// Files in the largest import circle of a package.
const CIRCLE_BUDGET: usize = 8;
/// Rooms in the largest circle of a package, where a room is a file with the folder of its name.
const ROOM_BUDGET: usize = 0;

#[test]
fn packages_depend_on_each_other_only_as_the_table_allows() {
    fail_over(ARROW_BUDGET, "arrows that the design does not have", &arrows::faults());
}

#[test]
fn an_exception_of_an_arrow_is_needed() {
    fail_over(
        0,
        "exceptions in `arrows.rs` that no Cargo.toml needs: delete them",
        &arrows::needless(),
    );
}

#[test]
fn every_package_can_be_published_and_found() {
    fail_over(0, "metadata that a published package lacks", &packages::faults());
}

#[test]
fn only_the_format_shifts_and_masks_recorded_words() {
    let (faults, needless) = layout::faults(sources());
    fail_over(
        LAYOUT_BUDGET,
        "shifts and masks outside `metaspy-core/format`: give the format a function",
        &faults,
    );
    fail_over(0, "exceptions in `layout.rs` that match no line: delete them", &needless);
}

#[test]
fn files_are_read_and_written_in_one_way() {
    let (faults, needless) = files::faults(sources());
    fail_over(0, "plain reads and writes of files: use `metaspy_reader::files`", &faults);
    fail_over(0, "exceptions in `files.rs` that match no line: delete them", &needless);
}

#[test]
fn messages_go_through_the_function_that_cleans_them() {
    let prints = |source: &&Source| source.is_product() && !source.path.starts_with("benches/");
    let lines = sources().iter().filter(prints).flat_map(|source| {
        let code = source.code.lines().enumerate();
        code.filter(|(_, line)| line.contains("eprintln!") || line.contains("eprint!"))
            .map(|(at, line)| format!("{}:{}: {}", source.path, at + 1, line.trim()))
    });
    fail_over(
        0,
        "messages that quote names as they are: use `text::print_message`",
        &lines.collect::<Vec<_>>(),
    );
}

#[test]
fn every_module_has_docs() {
    let missing: Vec<_> = sources().iter().flat_map(Source::modules_without_docs).collect();
    fail_over(
        MODULE_DOCS_BUDGET,
        "modules without `//!` docs: write two or three sentences",
        &missing,
    );
}

#[test]
fn the_documents_list_every_environment_variable() {
    fail_over(
        0,
        "variables that `docs/environment.md` does not list",
        &environment::faults(sources()),
    );
}

#[test]
fn screens_in_the_documents_have_the_words_of_the_program() {
    fail_over(
        0,
        "sentences of quoted screens that no string of the program has",
        &screens::faults(sources()),
    );
}

#[test]
fn modules_import_in_small_circles() {
    let sources = sources();
    let mut faults = Vec::new();
    for package in packages::folders() {
        let folder = format!("{package}src");
        let files = imports::circles(sources, &folder);
        let rooms = imports::room_circles(sources, &folder);
        for (name, circles, budget) in
            [("files", files, CIRCLE_BUDGET), ("rooms", rooms, ROOM_BUDGET)]
        {
            let Some(largest) = circles.first() else { continue };
            let members = largest.members.len();
            println!("{folder}: {members} {name} in the largest circle");
            if members > budget {
                let fault = format!("{folder}: more than {budget} {name} import each other");
                faults.push(format!("{fault}\n{largest}"));
            }
        }
    }
    fail_over(0, "circles", &faults);
}

#[test]
fn counts() {
    let counts = counts::Counts::new(sources());
    println!("{counts}");
    fail_over(0, "shapes that are more frequent than before", &counts.faults());
}

/// All sources, read once.
fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| source::read_all(&repository()))
}

/// Fails with the list if it has more than `budget` entries.
fn fail_over(budget: usize, what: &str, faults: &[String]) {
    println!("{what}: {} (budget {budget})\n{}", faults.len(), faults.join("\n"));
    assert!(
        faults.len() <= budget,
        "{what}: {} (budget {budget})\n{}",
        faults.len(),
        faults.join("\n")
    );
}
