//! Panels on the screen of another program.

use std::time::{Duration, Instant};

use metaspy_tui::{Panel, Panels};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::widgets::Paragraph;

use crate::fixture;

/// A program with a line of its own, a panel on each side, and one below that is too small.
fn draw(panels: &mut Panels, sides: [Panel; 2]) -> String {
    let mut terminal = Terminal::new(TestBackend::new(100, 16)).expect("a test screen");
    let began = Instant::now();
    // What is read beside the screen is in one of the next drawings.
    loop {
        let draw = |frame: &mut ratatui::Frame<'_>| {
            frame.render_widget(Paragraph::new("a line of the program"), Rect::new(0, 0, 100, 1));
            frame.render_stateful_widget(sides[0], Rect::new(2, 1, 48, 14), panels);
            frame.render_stateful_widget(sides[1], Rect::new(50, 1, 50, 14), panels);
            frame.render_stateful_widget(Panel::Sites, Rect::new(0, 15, 100, 1), panels);
        };
        terminal.draw(draw).expect("a test screen");
        if !panels.is_reading() || began.elapsed() > Duration::from_secs(60) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal
        .draw(|frame| {
            frame.render_widget(Paragraph::new("a line of the program"), Rect::new(0, 0, 100, 1));
            frame.render_stateful_widget(sides[0], Rect::new(2, 1, 48, 14), panels);
            frame.render_stateful_widget(sides[1], Rect::new(50, 1, 50, 14), panels);
        })
        .expect("a test screen");
    let text = terminal.backend().to_string();
    text.lines()
        .map(|line| line.trim_matches('"').trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

#[test]
fn a_program_draws_panels_over_a_recording_on_its_own_screen() {
    let mut panels = Panels::new(fixture::open(&fixture::closed("panels.spy", 3)));
    for _ in 0..4 {
        assert_eq!(panels.key(Panel::Events, key(KeyCode::Down)), None);
    }
    let screen = draw(&mut panels, [Panel::Events, Panel::Causes]);
    assert!(screen.starts_with("a line of the program\n  ┌ 57 events"), "{screen}");
    insta::assert_snapshot!("panels_events_and_causes", screen);
    let screen = draw(&mut panels, [Panel::Sites, Panel::Detail]);
    insta::assert_snapshot!("panels_sites_and_detail", screen);
}

#[test]
fn a_table_without_rows_is_read_once() {
    let mut panels = Panels::new(fixture::open(&fixture::closed("panel-empty.spy", 0)));
    let screen = draw(&mut panels, [Panel::Subjects, Panel::Sites]);
    assert!(!panels.is_reading(), "{screen}");
}

#[test]
fn a_key_acts_on_its_panel_and_opens_no_prompt() {
    let mut panels = Panels::new(fixture::open(&fixture::closed("panel-keys.spy", 3)));
    draw(&mut panels, [Panel::Sites, Panel::Events]);
    // Its first row is the most frequent site; Enter filters by it.
    panels.key(Panel::Sites, key(KeyCode::Enter));
    panels.key(Panel::Events, key(KeyCode::Char('f')));
    panels.key(Panel::Events, key(KeyCode::Char('?')));
    let screen = draw(&mut panels, [Panel::Events, Panel::Subjects]);
    assert!(screen.contains("measure #5") && !screen.contains("layout #1"), "{screen}");
}
