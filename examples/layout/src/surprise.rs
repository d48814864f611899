//! # The surprise
//!
//! Type one letter into a paragraph of the shipped page. The page has 6,355 nodes, and the letter
//! makes 8 of them dirty: the paragraph and the boxes around it. Taffy does **901** re-layouts. 13
//! of them are of those 8 nodes, and link to the letter. The other 888 (98 %) should not have
//! happened: nothing changed at these nodes, below them or above them, and each had answered the
//! same request before. 827 of them are page breaks: empty boxes without height, which are
//! invisible.
//!
//! It is the story of the MetaSpy paper again, whose edges "were constantly refreshed, even when
//! they were not visible". The crawler shows the reason in three steps. The re-layouts without a
//! linked change are all effects of the measurement of `<main>`. The flex row that puts the page
//! beside its sidebar requests that measurement, because it needs the height of the page. And the
//! stores in it fail. A size whose margins may collapse with those around it (an empty box, a list
//! whose first margin shows through) is a result that taffy's cache does not keep, so each of these
//! boxes is measured anew by every flex or grid container around it, whenever anything in that
//! container changes.
//!
//! | the same letter, the same page, but | re-layouts | needless |
//! |---|---|---|
//! | as it is: the page in a flex row | 901 | 888 |
//! | the page in a grid | 1,737 | 1,718 |
//! | the page in a block | 8 | 0 |
//! | in a flex row, each page break 1 px high | 74 | 61 |
//!
//! A profiler of methods only shows that `layout` is called often. The story shows three more
//! things: the first layout of the page measures each text 2.6 times; a letter reads the caches of
//! all 4,457 children of `<main>` twice, and one in ten of these 9,046 questions finds nothing; and
//! moving the pointer over a paragraph, which adds a class that no rule mentions, costs as much as
//! typing.
//!
//! The tests of this module keep the numbers true.

#[cfg(test)]
mod tests {
    use crate::changes::Change;
    use crate::page::{Limits, Page};
    use crate::tree::{Counts, Scene};

    const HTML: &str = include_str!("../pages/unstable-book.html");
    const ROW: &str = r#"<div id="mdbook-body-container" style="display: flex">"#;
    const BREAK: &str = r#"<div style="break-before: page; page-break-before: always;">"#;

    fn scene(html: &str) -> Scene {
        let mut scene = Page::parse("test", html.as_bytes(), Limits::default()).unwrap().scene();
        scene.relayout().unwrap();
        scene
    }

    fn one_change(html: &str, change: impl Fn(taffy::NodeId) -> Change) -> Counts {
        let mut scene = scene(html);
        let paragraphs: Vec<_> = scene.ids().filter(|&id| &*scene[id].tag == "p").collect();
        let before = scene.counts();
        scene.frame(&[change(paragraphs[paragraphs.len() / 2])], 0.0).unwrap();
        scene.counts() - before
    }

    fn letter(html: &str) -> Counts {
        one_change(html, |node| Change::Type { node, letter: 'x' })
    }

    fn check(html: &str, layouts: u64, needless: u64) {
        assert_ne!(html.len(), 0);
        let counts = letter(html);
        assert_eq!((counts.layouts, counts.needless), (layouts, needless));
    }

    #[test]
    fn a_letter_dirties_8_nodes_and_lays_out_901() {
        check(HTML, 901, 888);
        let counts = letter(HTML);
        assert_eq!((counts.dirtied, counts.forgotten, counts.measures), (8, 890, 2));
        assert_eq!(
            (counts.size_requests + counts.layout_requests, counts.size_hits + counts.layout_hits),
            (9_046, 8_144)
        );
    }

    #[test]
    fn a_grid_measures_twice_and_a_block_never() {
        let with = |style: &str| HTML.replace(ROW, &format!(r#"<div style="{style}">"#));
        check(&with("display: grid; grid-template-columns: 300px 1fr"), 1_737, 1_718);
        check(&with("display: block"), 8, 0);
    }

    #[test]
    fn page_breaks_that_have_a_height_are_measured_once() {
        check(&HTML.replace(BREAK, r#"<div style="padding-top: 1px">"#), 74, 61);
    }

    #[test]
    fn the_first_layout_measures_each_text_more_than_twice() {
        let scene = scene(HTML);
        let texts = scene.ids().filter(|&id| scene[id].text().is_some()).count();
        assert_eq!((scene.counts().measures, texts), (11_427, 4_356));
    }

    #[test]
    fn the_pointer_costs_as_much_as_a_letter() {
        let counts = one_change(HTML, |node| Change::Hover { node });
        assert_eq!(Counts { changes: 1, ..counts }, letter(HTML));
    }
}
