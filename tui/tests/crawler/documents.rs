//! The documents list the keys that the crawler has.

use metaspy_tui::crawler::command::Screen;
use metaspy_tui::crawler::keys::Keys;

/// The table of keys of a screen, for `docs/crawler.md`. Keys of every screen are in the table of
/// events only.
fn table(screen: Screen) -> String {
    let everywhere: Vec<String> = Keys::default()
        .help(Screen::Events, &Screen::ALL)
        .into_iter()
        .map(|line| line.help)
        .collect();
    let lines = Keys::default().help(screen, &Screen::ALL).into_iter();
    let own = lines.filter(|line| screen == Screen::Events || !everywhere.contains(&line.help));
    let rows: String = own
        .map(|line| {
            let keys: Vec<String> = line.keys.split(' ').map(|key| format!("`{key}`")).collect();
            format!("| {} | {} |\n", keys.join(" "), line.help)
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("### {}\n\n| key | does |\n|---|---|\n{rows}\n", screen.name())
}

#[test]
fn the_documents_list_every_key() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/crawler.md");
    let text = std::fs::read_to_string(page).expect("the page is in the repository");
    let tables: String = Screen::ALL.into_iter().map(table).collect();
    let expected = format!("## Keys\n\n{}", tables.trim_end());
    if std::env::var_os("METASPY_UPDATE_DOCS").is_some() {
        let before = text.split("## Keys").next().unwrap_or_default();
        std::fs::write(page, format!("{before}{expected}\n")).expect("the page can be written");
        return;
    }
    assert!(
        text.contains(&expected),
        "docs/crawler.md lacks this (METASPY_UPDATE_DOCS=1 writes it):\n{expected}"
    );
}
