//! An editor: keystrokes, views and a history.

use metaspy::channels::Callbacks;
use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct View(u32);

type Listeners = Vec<Box<dyn Fn(u64) -> u64>>;

/// The fault: the minimap subscribes when it opens, and again when the colours change, so it is
/// drawn twice.
pub fn minimap(fault: bool) {
    let buffer = Callbacks::new("buffer");
    let mut listeners: Listeners = Vec::new();
    for (view, name) in (0..).zip(["text", "outline", "minimap", "ruler"]) {
        label(View(view), name);
        listeners.push(Box::new(move |change| {
            buffer.callback("changed", || redraw(View(view), change))
        }));
    }
    if fault {
        listeners
            .push(Box::new(move |change| buffer.callback("changed", || redraw(View(2), change))));
    }
    let drawn = (0..500)
        .map(|change| {
            buffer.announce("changed", || {
                listeners.iter().map(|view| view(change)).fold(0, u64::wrapping_add)
            })
        })
        .fold(0, u64::wrapping_add);
    println!("{drawn}");
}

#[observe(subject = view)]
fn redraw(view: View, change: u64) -> u64 {
    compute(8) ^ change ^ u64::from(view.0)
}

/// Correct: two parts of one view listen to the same announcement, each for its own purpose.
pub fn listeners() {
    let saving = Callbacks::new("saving");
    let listeners: Listeners = vec![
        Box::new(move |change| saving.callback("saved", || show_title(View(0), change))),
        Box::new(move |change| saving.callback("saved", || show_line_ends(View(0), change))),
        Box::new(move |change| saving.callback("saved", || show_title(View(1), change))),
        Box::new(move |change| saving.callback("saved", || show_line_ends(View(1), change))),
    ];
    let shown = (0..400)
        .map(|change| {
            saving.announce("saved", || {
                listeners.iter().map(|view| view(change)).fold(0, u64::wrapping_add)
            })
        })
        .fold(0, u64::wrapping_add);
    println!("{shown}");
}

#[observe(subject = view)]
fn show_title(view: View, change: u64) -> u64 {
    compute(4) ^ change ^ u64::from(view.0)
}

#[observe(subject = view)]
fn show_line_ends(view: View, change: u64) -> u64 {
    compute(3) ^ change ^ u64::from(view.0)
}

/// The fault: every now and then a keystroke waits for the index of the whole document. Without it,
/// the index is made when no key is pressed.
pub fn keystrokes(fault: bool) {
    let mut editor = Editor { text: String::new(), indexes: fault };
    for key in 0..1_600 {
        editor.press((b'a' + (key % 26) as u8) as char);
        if !fault && key % 40 == 0 {
            editor.index();
        }
    }
    println!("{}", editor.text.len());
}

struct Editor {
    text: String,
    indexes: bool,
}

#[observe]
impl Editor {
    fn press(&mut self, key: char) {
        self.insert(key);
        self.colour();
        if self.indexes && self.text.len().is_multiple_of(40) {
            self.index();
        }
    }

    fn insert(&mut self, key: char) {
        self.text.push(key);
    }

    fn colour(&self) -> u64 {
        compute(20)
    }

    fn index(&self) -> u64 {
        compute(2_500)
    }
}

/// The fault: a step of the history keeps a copy of all steps before it.
pub fn history(fault: bool) {
    let mut history = History { steps: Vec::new(), copies: Vec::new(), copies_all: fault };
    (0..1_500).for_each(|step| history.record(step));
    println!("{} {}", history.steps.len(), history.copies.len());
}

struct History {
    steps: Vec<String>,
    copies: Vec<String>,
    copies_all: bool,
}

#[observe]
impl History {
    fn record(&mut self, step: u64) {
        compute(3);
        if self.copies_all {
            self.copies = self.steps.clone();
        }
        self.steps.push(format!("insert {step}"));
    }
}

/// Correct: a paste takes as long as it has lines, and some have many.
pub fn pastes() {
    let mut page = Pasted { lines: 0 };
    let mut sizes = Numbers::new(10);
    for _ in 0..400 {
        let lines = if sizes.below(20) == 0 { 60 } else { 1 + sizes.below(3) };
        page.paste(lines);
    }
    println!("{}", page.lines);
}

struct Pasted {
    lines: u64,
}

#[observe]
impl Pasted {
    fn paste(&mut self, lines: u64) {
        (0..lines).for_each(|_| self.insert_line());
    }

    fn insert_line(&mut self) {
        compute(6);
        self.lines += 1;
    }
}
