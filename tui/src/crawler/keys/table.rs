//! Table of keys, with the names and the sentences of all commands.
//!
//! Dispatch, the help, the hints at the bottom, the palette and the documentation read it. With a
//! table for each, they could differ from the keys; a test compares `docs/crawler.md`.

use metaspy_reader::control::Change;
use ratatui::crossterm::event::KeyCode::{
    self, BackTab, Backspace, Char, Down, End, Enter as Return, Esc, Home, Left, PageDown, PageUp,
    Right, Tab, Up,
};

use super::{Binding, Key, KeyScope};
use crate::crawler::command::Command::{self, *};
use crate::crawler::command::{Caret, Screen, Step, Zoom as Time};
use crate::crawler::theme::Theme;

/// Binds a key to a command, with its name in the palette and a sentence for the help.
const fn bind(
    place: KeyScope,
    key: KeyCode,
    command: Command,
    name: &'static str,
    help: &'static str,
) -> Binding {
    Binding {
        place,
        key: Key { code: key, control: false },
        command,
        name,
        help,
        hint: "",
        argument: "",
    }
}

/// Binds a further key to the previous command.
const fn also(place: KeyScope, key: KeyCode, command: Command) -> Binding {
    bind(place, key, command, "", "")
}

/// Binds a letter together with Control to the previous command.
const fn control(place: KeyScope, letter: char, command: Command) -> Binding {
    Binding { key: Key { code: Char(letter), control: true }, ..also(place, Char(letter), command) }
}

/// Lists a command without a key, for the palette.
const fn unbound(command: Command, name: &'static str, help: &'static str) -> Binding {
    bind(KeyScope::Screens, KeyCode::Null, command, name, help)
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
    bind(KeyScope::Screens, Up, Move(Step::Up), "up", "up, down").hint("↓ move"),
    also(KeyScope::Screens, Char('k'), Move(Step::Up)),
    bind(KeyScope::Screens, Down, Move(Step::Down), "down", ""),
    also(KeyScope::Screens, Char('j'), Move(Step::Down)),
    bind(KeyScope::Screens, PageUp, Move(Step::PageUp), "page up", "a page up, a page down"),
    control(KeyScope::Screens, 'u', Move(Step::PageUp)),
    control(KeyScope::Screens, 'b', Move(Step::PageUp)),
    bind(KeyScope::Screens, PageDown, Move(Step::PageDown), "page down", ""),
    control(KeyScope::Screens, 'd', Move(Step::PageDown)),
    control(KeyScope::Screens, 'f', Move(Step::PageDown)),
    bind(KeyScope::Screens, Home, Move(Step::First), "first", "first row, last row"),
    also(KeyScope::Screens, Char('g'), Move(Step::First)),
    bind(KeyScope::Screens, End, Move(Step::Last), "last", ""),
    also(KeyScope::Screens, Char('G'), Move(Step::Last)),
    bind(
        KeyScope::Tables,
        Char('p'),
        NextProfile,
        "profile",
        "columns of the next method profiler",
    )
    .hint("profile"),
    bind(
        KeyScope::Events,
        Right,
        GoToEffects,
        "effects",
        "effects; in the pane: the event of the row",
    )
    .hint("effects"),
    also(KeyScope::Events, Char('l'), GoToEffects),
    bind(KeyScope::Events, Left, GoToCause, "cause", "cause; in the pane: back to the list")
        .hint("cause"),
    also(KeyScope::Events, Char('h'), GoToCause),
    also(KeyScope::Events, Char('c'), GoToCause),
    bind(KeyScope::Trees, Right, Unfold, "unfold", "unfold; if unfolded: first child")
        .hint("unfold"),
    also(KeyScope::Trees, Char('l'), Unfold),
    bind(KeyScope::Trees, Left, Fold, "fold", "fold; if folded: parent").hint("fold"),
    also(KeyScope::Trees, Char('h'), Fold),
    bind(KeyScope::Structure, Char('+'), UnfoldAll, "unfold all", "unfold all, fold all methods"),
    bind(KeyScope::Structure, Char('-'), FoldAll, "fold all", ""),
    bind(KeyScope::Browser, Right, Column(1), "next column", "next column, column before")
        .hint("column"),
    also(KeyScope::Browser, Char('l'), Column(1)),
    bind(KeyScope::Browser, Left, Column(-1), "column before", ""),
    also(KeyScope::Browser, Char('h'), Column(-1)),
    bind(KeyScope::Lanes, Right, Zoom(Time::Later), "later", "the cursor in time: later, earlier")
        .hint("time"),
    also(KeyScope::Lanes, Char('l'), Zoom(Time::Later)),
    bind(KeyScope::Lanes, Left, Zoom(Time::Earlier), "earlier", ""),
    also(KeyScope::Lanes, Char('h'), Zoom(Time::Earlier)),
    bind(
        KeyScope::Lanes,
        Char('+'),
        Zoom(Time::In),
        "zoom in",
        "zoom in, out, to the whole window",
    )
    .hint("zoom"),
    bind(KeyScope::Lanes, Char('-'), Zoom(Time::Out), "zoom out", ""),
    bind(KeyScope::Lanes, Char('0'), Zoom(Time::Whole), "zoom whole", ""),
    bind(KeyScope::Screens, Backspace, Back, "back", "back to the previous view, as it was")
        .hint("back"),
    also(KeyScope::Screens, Char('['), Back),
    control(KeyScope::Screens, 'o', Back),
    bind(KeyScope::Screens, Char(']'), Forward, "forward", "forward"),
    bind(KeyScope::Events, Char('s'), GoToSubject, "subject", "all events of this subject")
        .hint("subject"),
    bind(KeyScope::Rows, Return, Enter, "open row", "events of this row").hint("its events"),
    bind(KeyScope::Events, Return, Enter, "open", "into the pane; there: the event of the row"),
    bind(KeyScope::Events, Tab, NextTab, "next tab", "next tab of the pane"),
    bind(KeyScope::Events, BackTab, PreviousTab, "previous tab", "previous tab"),
    bind(KeyScope::Browser, Tab, NextTab, "next tab", "next, previous tab of the column"),
    bind(KeyScope::Browser, BackTab, PreviousTab, "previous tab", ""),
    bind(KeyScope::Screens, Char('1'), Show(Screen::Events), "events", "screens"),
    bind(KeyScope::Screens, Char('2'), Show(Screen::Subjects), "subjects", ""),
    bind(KeyScope::Screens, Char('3'), Show(Screen::Sites), "sites", ""),
    bind(KeyScope::Screens, Char('4'), Show(Screen::Lanes), "lanes", ""),
    bind(KeyScope::Screens, Char('5'), Show(Screen::Findings), "findings", ""),
    bind(KeyScope::IfStructure, Char('6'), Show(Screen::Structure), "structure", ""),
    bind(KeyScope::Screens, Char('7'), Show(Screen::Browser), "browser", ""),
    bind(KeyScope::IfProductions, Char('8'), Show(Screen::Productions), "productions", ""),
    bind(
        KeyScope::IfStructure,
        Char('b'),
        Show(Screen::Blueprint),
        "blueprint",
        "blueprint: calls by time, coverage, caches",
    ),
    bind(
        KeyScope::Screens,
        Char('T'),
        Show(Screen::Types),
        "types",
        "types that arrived, targets of calls, what never arrived",
    ),
    bind(
        KeyScope::Screens,
        Char('C'),
        Show(Screen::Functions),
        "functions",
        "functions by processor time, their lines, subjects and events",
    ),
    bind(KeyScope::Blueprint, Char('n'), NextPicture, "next picture", "the next picture or list")
        .hint("picture"),
    bind(KeyScope::Blueprint, Char('z'), FocusMethod, "from here", "only what this method calls")
        .hint("from here"),
    bind(KeyScope::Screens, Char('/'), Search, "search", "search; empty: repeat the last search")
        .hint("search")
        .takes("TEXT"),
    bind(KeyScope::Events, Char('n'), NextMatch, "next match", "next match"),
    bind(KeyScope::Events, Char('N'), PreviousMatch, "previous match", "previous match"),
    bind(
        KeyScope::Screens,
        Char('f'),
        EditFilter,
        "filter",
        "filter: site: subject: took: outcome: cause: lane:",
    )
    .hint("filter")
    .takes("TERMS"),
    bind(
        KeyScope::Screens,
        Char('t'),
        Times,
        "times",
        "durations: percentiles, histogram, the slowest, over time",
    ),
    bind(
        KeyScope::WithSubjects,
        Char('o'),
        Object,
        "object",
        "the subject: numbers, owners, siblings, relations",
    ),
    bind(
        KeyScope::Events,
        Char('='),
        Compare,
        "compare",
        "keep the subject of the tab Object, to compare others",
    ),
    bind(
        KeyScope::Events,
        Char('-'),
        Exclude,
        "leave out",
        "leave out what the row of Facets selects",
    ),
    bind(
        KeyScope::Screens,
        Char('x'),
        Export,
        "export",
        "write the listed events in the format of another tool",
    )
    .takes("FORMAT FILE"),
    bind(
        KeyScope::Screens,
        Char('K'),
        Keep,
        "keep",
        "keep the listed events as a recording of their own",
    ),
    bind(
        KeyScope::Screens,
        Char('a'),
        Control(Change::Arm),
        "arm",
        "arm, disarm what the row selects, in the running process",
    )
    .takes("SITES SUBJECTS"),
    bind(KeyScope::Screens, Char('d'), Control(Change::Disarm), "disarm", "")
        .takes("SITES SUBJECTS"),
    bind(
        KeyScope::Screens,
        Char('A'),
        Control(Change::Only),
        "arm only",
        "arm its subject, and disarm all others at its sites",
    )
    .takes("SITES SUBJECTS"),
    bind(
        KeyScope::Screens,
        Char('R'),
        Rule,
        "rule",
        "which events stay when they leave the window, in the running process",
    )
    .takes("RULES"),
    bind(
        KeyScope::Events,
        Char('y'),
        Copy,
        "copy",
        "copy the event as text, the event with its causes",
    ),
    bind(KeyScope::Events, Char('Y'), CopyChain, "copy causes", ""),
    unbound(SaveFilter, "save filter", "keep the open filter under a name").takes("NAME"),
    unbound(ForgetFilter, "forget filter", "remove the filter with this name").takes("NAME"),
    bind(KeyScope::Events, Char('m'), Mark, "mark", "set or remove a mark").hint("mark"),
    bind(
        KeyScope::Events,
        Char('M'),
        NameMark,
        "name mark",
        "set a mark with a name, kept beside the recording",
    )
    .takes("NAME"),
    bind(
        KeyScope::Events,
        Char('P'),
        Path,
        "path",
        "the path of causes from the newest other mark to here",
    ),
    bind(KeyScope::Events, Char('\''), NextMark, "next mark", "next mark"),
    bind(KeyScope::Screens, Char(' '), Pause, "pause", "pause or continue a live recording")
        .hint("pause"),
    bind(
        KeyScope::Events,
        Char('F'),
        Follow,
        "follow",
        "follow: select the newest event as it arrives",
    ),
    bind(KeyScope::Screens, Char('e'), OpenSource, "source", "open the source in $EDITOR"),
    bind(KeyScope::Sorted, Char('>'), SortNext, "sort", "sort by the next column").hint("sort"),
    bind(KeyScope::Sorted, Char('<'), SortPrevious, "sort back", "sort by the previous column"),
    bind(KeyScope::Sorted, Char('r'), SortReverse, "reverse", "reverse the order"),
    bind(
        KeyScope::Subjects,
        Char('n'),
        NeverObserved,
        "never observed",
        "list the subjects that were never observed",
    )
    .hint("never observed"),
    bind(
        KeyScope::Productions,
        Char('n'),
        NextUncovered,
        "uncovered",
        "next rule that never matched",
    )
    .hint("uncovered"),
    bind(KeyScope::Structure, Char('n'), NextUncovered, "never ran", "next method that never ran")
        .hint("never ran"),
    bind(KeyScope::Screens, Esc, Leave, "leave", "leave the pane; then remove the filter"),
    bind(KeyScope::Screens, Char(':'), Palette, "commands", "all commands by name")
        .hint("commands"),
    bind(KeyScope::Screens, Char('?'), Help, "help", "keys of this screen").hint("help"),
    bind(KeyScope::Screens, Char('q'), Quit, "quit", "quit").hint("quit"),
    control(KeyScope::Screens, 'c', Quit),
    Binding {
        key: Key { code: Char('z'), control: true },
        ..bind(
            KeyScope::Screens,
            Char('z'),
            Suspend,
            "suspend",
            "back to the shell; `fg` continues",
        )
    },
    Binding {
        key: Key { code: Char('l'), control: true },
        ..bind(KeyScope::Screens, Char('l'), Redraw, "redraw", "draw the whole screen again")
    },
    unbound(SetTheme(Theme::Terminal), "theme terminal", "the sixteen colours of the terminal"),
    unbound(SetTheme(Theme::Dark), "theme dark", "colours for a dark background"),
    unbound(SetTheme(Theme::Light), "theme light", "colours for a light background"),
    unbound(
        SetTheme(Theme::ColourBlind),
        "theme colour-blind",
        "colours that all eyes can distinguish",
    ),
    unbound(SetTheme(Theme::Plain), "theme plain", "no colours"),
    bind(KeyScope::Prompt, Return, Enter, "", "").hint("accept"),
    bind(KeyScope::Prompt, Esc, Leave, "", "").hint("cancel"),
    also(KeyScope::Prompt, Backspace, Erase),
    also(KeyScope::Prompt, Tab, Complete).hint("complete"),
    also(KeyScope::Prompt, Up, Move(Step::Up)),
    also(KeyScope::Prompt, Down, Move(Step::Down)),
    also(KeyScope::Prompt, Left, MoveCaret(Caret::Left)),
    also(KeyScope::Prompt, Right, MoveCaret(Caret::Right)),
    also(KeyScope::Prompt, Home, MoveCaret(Caret::Start)),
    also(KeyScope::Prompt, End, MoveCaret(Caret::End)),
    control(KeyScope::Prompt, 'a', MoveCaret(Caret::Start)),
    control(KeyScope::Prompt, 'e', MoveCaret(Caret::End)),
    control(KeyScope::Prompt, 'w', EraseWord),
    control(KeyScope::Prompt, 'u', ClearPrompt),
    control(KeyScope::Prompt, 'c', Quit),
    also(KeyScope::Palette, Up, Move(Step::Up)).hint("↓ move"),
    also(KeyScope::Palette, Down, Move(Step::Down)),
    also(KeyScope::Palette, PageUp, Move(Step::PageUp)),
    also(KeyScope::Palette, PageDown, Move(Step::PageDown)),
    also(KeyScope::Palette, Return, Enter).hint("run"),
    also(KeyScope::Palette, Tab, Complete).hint("complete"),
    also(KeyScope::Palette, Esc, Leave).hint("close"),
    also(KeyScope::Palette, Backspace, Erase),
    also(KeyScope::Palette, Left, MoveCaret(Caret::Left)),
    also(KeyScope::Palette, Right, MoveCaret(Caret::Right)),
    also(KeyScope::Palette, Home, MoveCaret(Caret::Start)),
    also(KeyScope::Palette, End, MoveCaret(Caret::End)),
    control(KeyScope::Palette, 'w', EraseWord),
    control(KeyScope::Palette, 'u', ClearPrompt),
    control(KeyScope::Palette, 'c', Quit),
    also(KeyScope::Help, Up, Move(Step::Up)).hint("↓ move"),
    also(KeyScope::Help, Down, Move(Step::Down)),
    also(KeyScope::Help, Char('k'), Move(Step::Up)),
    also(KeyScope::Help, Char('j'), Move(Step::Down)),
    also(KeyScope::Help, PageUp, Move(Step::PageUp)),
    also(KeyScope::Help, PageDown, Move(Step::PageDown)),
    also(KeyScope::Help, Home, Move(Step::First)),
    also(KeyScope::Help, End, Move(Step::Last)),
    also(KeyScope::Help, Esc, Leave).hint("close"),
    also(KeyScope::Help, Char('?'), Leave),
    also(KeyScope::Help, Char('q'), Leave),
    control(KeyScope::Help, 'c', Quit),
    also(KeyScope::Guide, Return, NextCard).hint("next"),
    also(KeyScope::Guide, Backspace, PreviousCard).hint("back"),
    also(KeyScope::Guide, Esc, LeaveGuide).hint("leave the guide"),
];
