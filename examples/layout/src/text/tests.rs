use super::*;

fn text(letters: &str, font: Font) -> Text {
    let mut text = Text::default();
    text.push(letters, font);
    text.shape();
    text
}

fn mono() -> Font {
    Font { size: 10.0, mono: true, ..Font::default() }
}

/// Lines and width in letters, of letters six pixels wide.
fn check(letters: &str, available: AvailableSpace, expected: (f32, f32)) {
    let size = text(letters, mono()).measure(available);
    assert_eq!(
        (size.height / mono().line_height(), size.width / 6.0),
        expected,
        "{letters:?} in {available:?}"
    );
}

#[test]
fn lines_break_between_words_where_the_space_ends() {
    let six = AvailableSpace::Definite(6.0 * 6.0);
    check("one two three", six, (3.0, 5.0));
    check("a b c d", six, (2.0, 5.0));
    check("unbreakable", six, (1.0, 11.0));
}

#[test]
fn content_sizes_are_the_widest_word_and_the_whole_line() {
    check("one two three", AvailableSpace::MinContent, (3.0, 5.0));
    check("one two three", AvailableSpace::MaxContent, (1.0, 13.0));
}

#[test]
fn white_space_counts_once() {
    check("  one \n\t two ", AvailableSpace::MaxContent, (1.0, 7.0));
}

#[test]
fn preformatted_text_keeps_its_lines_and_spaces() {
    let pre = Font { pre: true, ..mono() };
    let size = text("one  two\n\nthree\n", pre).measure(AvailableSpace::MinContent);
    assert_eq!((size.height / pre.line_height(), size.width / 6.0), (3.0, 8.0));
}

#[test]
fn a_change_of_style_does_not_break_a_word() {
    let mut text = Text::default();
    text.push("un", mono());
    text.push("break", Font { bold: true, ..mono() });
    text.push("able", mono());
    text.shape();
    assert_eq!(text.measure(AvailableSpace::MinContent).width, 11.0 * 6.0);
}

#[test]
fn typing_and_erasing_restores_the_size() {
    let mut text = text("some text", mono());
    let before = text.measure(AvailableSpace::MaxContent);
    "xyz".chars().for_each(|letter| text.type_letter(letter));
    assert_ne!(text.measure(AvailableSpace::MaxContent), before);
    (0..3).for_each(|_| text.erase_letter());
    assert_eq!(text.measure(AvailableSpace::MaxContent), before);
}

#[test]
fn the_beginning_is_one_short_line() {
    assert_eq!(text(" The\n quick brown fox", mono()).beginning(9), "The quick…");
    assert_eq!(text("fox", mono()).beginning(9), "fox");
}
