//! The findings: each about a picture, with the numbers that prove it.

use crate::recorded::{Failure, Run, change, draw, record};

/// Checks all findings, prints them, and returns how many no longer hold.
pub fn all() -> Result<usize, Failure> {
    let mut report = Report::default();
    page_rank(&mut report)?;
    layout(&mut report)?;
    patterns(&mut report)?;
    deep_tree(&mut report)?;
    sheet(&mut report)?;
    pdf_text(&mut report)?;
    Ok(report.failed)
}

/// Prints the findings, and counts those that do not hold.
#[derive(Default)]
struct Report {
    failed: usize,
}

impl Report {
    fn title(&self, text: &str) {
        println!("\n{text}");
    }

    fn check(&mut self, holds: bool, text: &str) {
        println!("  {} {text}", if holds { "✓" } else { "✗" });
        self.failed += usize::from(!holds);
    }
}

/// One tall box: each page of each round fetches the links of all pages.
fn page_rank(report: &mut Report) -> Result<(), Failure> {
    report.title("petgraph 0.8.3: page_rank fetches the edges of every node for every node");
    let run = record("page_rank", &["petgraph"])?;
    let slow = run.numbers("petgraph::algo::page_rank::page_rank")?;
    let fast = run.numbers("page_rank::page_rank_by_links")?;
    let edges = run.numbers("Graph::edges")?;
    let next = run.numbers("graph_impl::Edges::Iterator::next")?;
    report.check(
        edges.executions >= 5 * 400 * 400,
        &format!("Graph::edges ran {} times: 5 rounds × 400 × 400, and a few", edges.executions),
    );
    report.check(next.executions > 1_000_000, &format!("Edges::next ran {} times", next.executions));
    report.check(
        slow.total > 20 * fast.total,
        &format!("with hooks {:.0?}; once over the links, with the same ranks, {:.2?}", slow.total, fast.total),
    );
    page(report, "structural", &run, "page_rank")
}

/// Two caches whose picture says "1:1" with the work that they are to save.
fn layout(report: &mut Report) -> Result<(), Failure> {
    report.title("taffy 0.15.1: two caches of a grid's items never hit in this page");
    let run = record("layout", &["taffy"])?;
    for (cached, plain) in [
        ("GridItem::minimum_contribution_cached", "GridItem::minimum_contribution"),
        ("GridItem::max_content_contribution_cached", "GridItem::max_content_contribution"),
    ] {
        let cache = run.numbers(cached)?;
        let work = run.numbers(plain)?;
        report.check(
            cache.executions == work.executions,
            &format!("{cached} ran {} times, 1:1 with {plain}", cache.executions),
        );
    }
    let (cache, work) =
        (run.numbers("GridItem::min_content_contribution_cached")?, run.numbers("GridItem::min_content_contribution")?);
    let hits = 100 * (cache.executions - work.executions) / cache.executions;
    report.check(hits > 0, &format!("the similar GridItem::min_content_contribution_cached hits in {hits} %"));
    page(report, "behavioural", &run, "layout")
}

/// Each cell searches the columns for its own, twice.
fn sheet(report: &mut Report) -> Result<(), Failure> {
    report.title("umya-spreadsheet 3.1.1: each new cell searches all columns before its own, twice");
    // The whole crate has 7,800 functions: with a hook in each, it compiles for minutes.
    let run = record(
        "sheet",
        &["column", "columns", "cells", "worksheet"].map(|module| format!("umya_spreadsheet::structs::{module}")),
    )?;
    let cells = run.numbers("Worksheet::cell_mut")?;
    let columns = run.numbers("Columns::column_mut")?;
    let read = run.numbers("column::Column::col_num")?;
    report.check(
        columns.executions >= cells.executions,
        &format!("Columns::column_mut ran for each of {} cells", cells.executions),
    );
    report.check(
        read.executions > 400 * cells.executions,
        &format!("Column::col_num ran {} times, {} for a cell", read.executions, read.executions / cells.executions),
    );
    page(report, "structural", &run, "sheet")
}

/// Each digit of a hexadecimal string is read by four functions.
fn pdf_text(report: &mut Report) -> Result<(), Failure> {
    report.title("lopdf 0.47.0: each digit of a hexadecimal string looks for white space first");
    let run = record("pdf_text", &["lopdf"])?;
    let digits = run.numbers("parser::hex_digit")?;
    let blanks = run.numbers("parser::white_space")?;
    report.check(
        blanks.executions >= digits.executions,
        &format!("parser::white_space ran {} times, hex_digit {} times", blanks.executions, digits.executions),
    );
    let all = run.numbers("pdf_text::main")?;
    let share = 100.0 * (digits.total + blanks.total).as_secs_f64() / all.total.as_secs_f64();
    report.check(share > 5.0, &format!("with hooks, both take {share:.0} % of the time"));
    page(report, "behavioural", &run, "pdf_text")
}

fn page(report: &mut Report, kind: &str, run: &Run, name: &str) -> Result<(), Failure> {
    let page = draw(kind, &[&run.recording], name)?;
    report.title(&format!("  picture: {}", page.display()));
    Ok(())
}

/// Two versions of one crate: the newer one repeats calls.
fn patterns(report: &mut Report) -> Result<(), Failure> {
    report.title("regex-syntax 0.6.29 → 0.8.11: printing a class reads both ends of each range again");
    let old = record("regex_old", &["regex_syntax"])?;
    let new = record("regex_new", &["regex_syntax"])?;
    for method in ["hir::ClassUnicodeRange::start", "hir::ClassUnicodeRange::end"] {
        let before = old.numbers(method)?;
        let after = new.numbers(method)?;
        report.check(
            after.executions > before.executions,
            &format!("{method}: {} → {} calls", before.executions, after.executions),
        );
    }
    let page = draw("evolution", &[&old.recording, &new.recording], "patterns")?;
    report.title(&format!("  picture: {}", page.display()));
    Ok(())
}

/// A known regression between two versions: colour and frame lead to the cache that misses.
fn deep_tree(report: &mut Report) -> Result<(), Failure> {
    report.title("taffy 0.11.0 → 0.12.1: a deep tree of automatic sizes is computed again, because its cache misses");
    let old = record("taffy_old", &["taffy"])?;
    let new = record("taffy_new", &["taffy"])?;
    for method in ["compute::flexbox::compute_flexbox_layout", "tree::cache::Cache::get"] {
        let before = old.numbers(method)?;
        let after = new.numbers(method)?;
        report.check(
            after.executions > 2 * before.executions,
            &format!("{method}: {} → {} calls", before.executions, after.executions),
        );
        let change = change(&old, &new, method)?;
        report.check(change.is_more && change.is_changed, &format!("{method}: vermilion, with a frame"));
    }
    let page = draw("evolution", &[&old.recording, &new.recording], "deep_tree")?;
    report.title(&format!("  picture: {}", page.display()));
    Ok(())
}
