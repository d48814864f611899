//! Table of keys, with the names and the sentences of all commands.
//!
//! Dispatch, the help, the hints at the bottom, the palette and the documentation read it. With a
//! table for each, they could differ from what a key does; a test compares `docs/crawler.md`.

use metaspy_reader::control::Change;
use ratatui::crossterm::event::KeyCode::{
    self, BackTab, Backspace, Char, Down, End, Enter as Return, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up,
};

use super::{Binding, Key, Place};
use crate::crawler::command::Command::{self, *};
use crate::crawler::command::{Caret, Screen, Step, Zoom as Time};
use crate::crawler::theme::Theme;

/// Binds a key to a command, with its name in the palette and a sentence for the help.
const fn bind(place: Place, key: KeyCode, command: Command, name: &'static str, help: &'static str) -> Binding {
    Binding { place, key: Key { code: key, control: false }, command, name, help, hint: "", argument: "" }
}

/// Binds a further key to the previous command.
const fn also(place: Place, key: KeyCode, command: Command) -> Binding {
    bind(place, key, command, "", "")
}

/// Binds a letter together with Control to the previous command.
const fn control(place: Place, letter: char, command: Command) -> Binding {
    Binding { key: Key { code: Char(letter), control: true }, ..also(place, Char(letter), command) }
}

/// Lists a command without a key, for the palette.
const fn unbound(command: Command, name: &'static str, help: &'static str) -> Binding {
    bind(Place::Screens, KeyCode::Null, command, name, help)
}

impl Binding {
    /// Sets the word for the argument in the palette.
    const fn takes(self, argument: &'static str) -> Binding {
        Binding { argument, ..self }
    }

    /// Sets the word for the bottom line.
    const fn hint(self, hint: &'static str) -> Binding {
        Binding { hint, ..self }
    }
}

/// Bindings, in the order in which the help shows them.
pub const BINDINGS: &[Binding] = &[
    bind(Place::Screens, Up, Move(Step::Up), "up", "up, down").hint("↓ move"),
    also(Place::Screens, Char('k'), Move(Step::Up)),
    bind(Place::Screens, Down, Move(Step::Down), "down", ""),
    also(Place::Screens, Char('j'), Move(Step::Down)),
    bind(Place::Screens, PageUp, Move(Step::PageUp), "page up", "a page up, a page down"),
    control(Place::Screens, 'u', Move(Step::PageUp)),
    control(Place::Screens, 'b', Move(Step::PageUp)),
    bind(Place::Screens, PageDown, Move(Step::PageDown), "page down", ""),
    control(Place::Screens, 'd', Move(Step::PageDown)),
    control(Place::Screens, 'f', Move(Step::PageDown)),
    bind(Place::Screens, Home, Move(Step::First), "first", "first row, last row"),
    also(Place::Screens, Char('g'), Move(Step::First)),
    bind(Place::Screens, End, Move(Step::Last), "last", ""),
    also(Place::Screens, Char('G'), Move(Step::Last)),
    bind(Place::Tables, Char('p'), NextProfile, "profile", "columns of the next method profiler").hint("profile"),
    bind(Place::Events, Right, GoToEffects, "effects", "effects; in the pane: the event of the row").hint("effects"),
    also(Place::Events, Char('l'), GoToEffects),
    bind(Place::Events, Left, GoToCause, "cause", "cause; in the pane: back to the list").hint("cause"),
    also(Place::Events, Char('h'), GoToCause),
    also(Place::Events, Char('c'), GoToCause),
    bind(Place::Trees, Right, Unfold, "unfold", "unfold; if unfolded: first child").hint("unfold"),
    also(Place::Trees, Char('l'), Unfold),
    bind(Place::Trees, Left, Fold, "fold", "fold; if folded: parent").hint("fold"),
    also(Place::Trees, Char('h'), Fold),
    bind(Place::Structure, Char('+'), UnfoldAll, "unfold all", "unfold all, fold all methods"),
    bind(Place::Structure, Char('-'), FoldAll, "fold all", ""),
    bind(Place::Browser, Right, Column(1), "next column", "next column, column before").hint("column"),
    also(Place::Browser, Char('l'), Column(1)),
    bind(Place::Browser, Left, Column(-1), "column before", ""),
    also(Place::Browser, Char('h'), Column(-1)),
    bind(Place::Lanes, Right, Zoom(Time::Later), "later", "the cursor in time: later, earlier").hint("time"),
    also(Place::Lanes, Char('l'), Zoom(Time::Later)),
    bind(Place::Lanes, Left, Zoom(Time::Earlier), "earlier", ""),
    also(Place::Lanes, Char('h'), Zoom(Time::Earlier)),
    bind(Place::Lanes, Char('+'), Zoom(Time::In), "zoom in", "zoom in, out, to the whole window").hint("zoom"),
    bind(Place::Lanes, Char('-'), Zoom(Time::Out), "zoom out", ""),
    bind(Place::Lanes, Char('0'), Zoom(Time::Whole), "zoom whole", ""),
    bind(Place::Screens, Backspace, Back, "back", "back to the previous view, as it was").hint("back"),
    also(Place::Screens, Char('['), Back),
    control(Place::Screens, 'o', Back),
    bind(Place::Screens, Char(']'), Forward, "forward", "forward"),
    bind(Place::Events, Char('s'), GoToSubject, "subject", "all events of this subject").hint("subject"),
    bind(Place::Rows, Return, Enter, "open row", "events of this row").hint("its events"),
    bind(Place::Events, Return, Enter, "open", "into the pane; there: the event of the row"),
    bind(Place::Events, Tab, NextTab, "next tab", "next tab of the pane"),
    bind(Place::Events, BackTab, PreviousTab, "previous tab", "previous tab"),
    bind(Place::Browser, Tab, NextTab, "next tab", "next, previous tab of the column"),
    bind(Place::Browser, BackTab, PreviousTab, "previous tab", ""),
    bind(Place::Screens, Char('1'), Show(Screen::Events), "events", "screens"),
    bind(Place::Screens, Char('2'), Show(Screen::Subjects), "subjects", ""),
    bind(Place::Screens, Char('3'), Show(Screen::Sites), "sites", ""),
    bind(Place::Screens, Char('4'), Show(Screen::Lanes), "lanes", ""),
    bind(Place::Screens, Char('5'), Show(Screen::Findings), "findings", ""),
    bind(Place::IfStructure, Char('6'), Show(Screen::Structure), "structure", ""),
    bind(Place::Screens, Char('7'), Show(Screen::Browser), "browser", ""),
    bind(Place::IfProductions, Char('8'), Show(Screen::Productions), "productions", ""),
    bind(
        Place::IfStructure,
        Char('b'),
        Show(Screen::Blueprint),
        "blueprint",
        "blueprint: calls by time, coverage, caches",
    ),
    bind(
        Place::Screens,
        Char('T'),
        Show(Screen::Types),
        "types",
        "types that arrived, targets of calls, what never arrived",
    ),
    bind(
        Place::Screens,
        Char('C'),
        Show(Screen::Functions),
        "functions",
        "functions by processor time, their lines, subjects and events",
    ),
    bind(Place::Blueprint, Char('n'), NextPicture, "next picture", "the next picture or list").hint("picture"),
    bind(Place::Blueprint, Char('z'), FocusMethod, "from here", "only what this method calls").hint("from here"),
    bind(Place::Screens, Char('/'), Search, "search", "search; empty: repeat the last search")
        .hint("search")
        .takes("TEXT"),
    bind(Place::Events, Char('n'), NextMatch, "next match", "next match"),
    bind(Place::Events, Char('N'), PreviousMatch, "previous match", "previous match"),
    bind(Place::Screens, Char('f'), EditFilter, "filter", "filter: site: subject: took: outcome: cause: lane:")
        .hint("filter")
        .takes("TERMS"),
    bind(Place::Screens, Char('t'), Times, "times", "durations: percentiles, histogram, the slowest, over time"),
    bind(Place::WithSubjects, Char('o'), Object, "object", "the subject: numbers, owners, siblings, relations"),
    bind(Place::Events, Char('='), Compare, "compare", "keep the subject of the tab Object, to compare others"),
    bind(Place::Events, Char('-'), Exclude, "leave out", "leave out what the row of Facets selects"),
    bind(Place::Screens, Char('x'), Export, "export", "write the listed events in the format of another tool")
        .takes("FORMAT FILE"),
    bind(Place::Screens, Char('K'), Keep, "keep", "keep the listed events as a recording of their own"),
    bind(
        Place::Screens,
        Char('a'),
        Control(Change::Arm),
        "arm",
        "arm, disarm what the row selects, in the running process",
    )
    .takes("SITES SUBJECTS"),
    bind(Place::Screens, Char('d'), Control(Change::Disarm), "disarm", "").takes("SITES SUBJECTS"),
    bind(
        Place::Screens,
        Char('A'),
        Control(Change::Only),
        "arm only",
        "arm its subject, and disarm all others at its sites",
    )
    .takes("SITES SUBJECTS"),
    bind(
        Place::Screens,
        Char('R'),
        Rule,
        "rule",
        "which events stay when they leave the window, in the running process",
    )
    .takes("RULES"),
    bind(Place::Events, Char('y'), Copy, "copy", "copy the event as text, the event with its causes"),
    bind(Place::Events, Char('Y'), CopyChain, "copy causes", ""),
    unbound(SaveFilter, "save filter", "keep the open filter under a name").takes("NAME"),
    unbound(ForgetFilter, "forget filter", "remove the filter with this name").takes("NAME"),
    bind(Place::Events, Char('m'), Mark, "mark", "set or remove a mark").hint("mark"),
    bind(Place::Events, Char('M'), NameMark, "name mark", "set a mark with a name, kept beside the recording")
        .takes("NAME"),
    bind(Place::Events, Char('P'), Path, "path", "the path of causes from the newest other mark to here"),
    bind(Place::Events, Char('\''), NextMark, "next mark", "next mark"),
    bind(Place::Screens, Char(' '), Pause, "pause", "pause or continue a live recording").hint("pause"),
    bind(Place::Events, Char('F'), Follow, "follow", "follow: select the newest event as it arrives"),
    bind(Place::Screens, Char('e'), OpenSource, "source", "open the source in $EDITOR"),
    bind(Place::Sorted, Char('>'), SortNext, "sort", "sort by the next column").hint("sort"),
    bind(Place::Sorted, Char('<'), SortPrevious, "sort back", "sort by the previous column"),
    bind(Place::Sorted, Char('r'), SortReverse, "reverse", "reverse the order"),
    bind(Place::Subjects, Char('n'), NeverObserved, "never observed", "list the subjects that were never observed")
        .hint("never observed"),
    bind(Place::Productions, Char('n'), NextUncovered, "uncovered", "next rule that never matched").hint("uncovered"),
    bind(Place::Structure, Char('n'), NextUncovered, "never ran", "next method that never ran").hint("never ran"),
    bind(Place::Screens, Esc, Leave, "leave", "leave the pane; then remove the filter"),
    bind(Place::Screens, Char(':'), Palette, "commands", "all commands by name").hint("commands"),
    bind(Place::Screens, Char('?'), Help, "help", "keys of this screen").hint("help"),
    bind(Place::Screens, Char('q'), Quit, "quit", "quit").hint("quit"),
    control(Place::Screens, 'c', Quit),
    Binding {
        key: Key { code: Char('z'), control: true },
        ..bind(Place::Screens, Char('z'), Suspend, "suspend", "back to the shell; `fg` continues")
    },
    Binding {
        key: Key { code: Char('l'), control: true },
        ..bind(Place::Screens, Char('l'), Redraw, "redraw", "draw the whole screen again")
    },
    unbound(SetTheme(Theme::Terminal), "theme terminal", "the sixteen colours of the terminal"),
    unbound(SetTheme(Theme::Dark), "theme dark", "colours for a dark background"),
    unbound(SetTheme(Theme::Light), "theme light", "colours for a light background"),
    unbound(SetTheme(Theme::ColourBlind), "theme colour-blind", "colours that all eyes can distinguish"),
    unbound(SetTheme(Theme::Plain), "theme plain", "no colours"),
    bind(Place::Prompt, Return, Enter, "", "").hint("accept"),
    bind(Place::Prompt, Esc, Leave, "", "").hint("cancel"),
    also(Place::Prompt, Backspace, Erase),
    also(Place::Prompt, Tab, Complete).hint("complete"),
    also(Place::Prompt, Up, Move(Step::Up)),
    also(Place::Prompt, Down, Move(Step::Down)),
    also(Place::Prompt, Left, MoveCaret(Caret::Left)),
    also(Place::Prompt, Right, MoveCaret(Caret::Right)),
    also(Place::Prompt, Home, MoveCaret(Caret::Start)),
    also(Place::Prompt, End, MoveCaret(Caret::End)),
    control(Place::Prompt, 'a', MoveCaret(Caret::Start)),
    control(Place::Prompt, 'e', MoveCaret(Caret::End)),
    control(Place::Prompt, 'w', EraseWord),
    control(Place::Prompt, 'u', ClearPrompt),
    control(Place::Prompt, 'c', Quit),
    also(Place::Palette, Up, Move(Step::Up)).hint("↓ move"),
    also(Place::Palette, Down, Move(Step::Down)),
    also(Place::Palette, PageUp, Move(Step::PageUp)),
    also(Place::Palette, PageDown, Move(Step::PageDown)),
    also(Place::Palette, Return, Enter).hint("run"),
    also(Place::Palette, Tab, Complete).hint("complete"),
    also(Place::Palette, Esc, Leave).hint("close"),
    also(Place::Palette, Backspace, Erase),
    also(Place::Palette, Left, MoveCaret(Caret::Left)),
    also(Place::Palette, Right, MoveCaret(Caret::Right)),
    also(Place::Palette, Home, MoveCaret(Caret::Start)),
    also(Place::Palette, End, MoveCaret(Caret::End)),
    control(Place::Palette, 'w', EraseWord),
    control(Place::Palette, 'u', ClearPrompt),
    control(Place::Palette, 'c', Quit),
    also(Place::Help, Up, Move(Step::Up)).hint("↓ move"),
    also(Place::Help, Down, Move(Step::Down)),
    also(Place::Help, Char('k'), Move(Step::Up)),
    also(Place::Help, Char('j'), Move(Step::Down)),
    also(Place::Help, PageUp, Move(Step::PageUp)),
    also(Place::Help, PageDown, Move(Step::PageDown)),
    also(Place::Help, Home, Move(Step::First)),
    also(Place::Help, End, Move(Step::Last)),
    also(Place::Help, Esc, Leave).hint("close"),
    also(Place::Help, Char('?'), Leave),
    also(Place::Help, Char('q'), Leave),
    control(Place::Help, 'c', Quit),
    also(Place::Guide, Return, NextCard).hint("next"),
    also(Place::Guide, Backspace, PreviousCard).hint("back"),
    also(Place::Guide, Esc, LeaveGuide).hint("leave the guide"),
];
