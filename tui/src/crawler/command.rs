//! Commands of the crawler.

use metaspy_reader::control::Change;

use super::theme::Theme;

pub use super::state::line::Caret;

/// A command, from a key, from the mouse, or from a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Leave the crawler.
    Quit,
    /// Stop the process and return to the shell, until it continues.
    Suspend,
    /// Draw the whole screen again.
    Redraw,
    /// Show or hide the keys.
    Help,
    /// List all commands by name.
    Palette,
    /// Change the colours.
    SetTheme(Theme),
    /// Open a screen.
    Show(Screen),
    /// Open the next tab of the right pane.
    NextTab,
    /// Open the previous tab of the right pane.
    PreviousTab,
    /// Move the cursor of the part that has the focus.
    Move(Step),
    /// Follow the row under the cursor: to its events, or to its subject.
    Enter,
    /// Leave one level: close the help, leave the pane, remove the filter.
    Leave,
    /// Open the next card of the guide.
    NextCard,
    /// Open the previous card of the guide.
    PreviousCard,
    /// Leave the guide.
    LeaveGuide,
    /// Go to the cause of the selected event.
    GoToCause,
    /// Show the effects of the selected event.
    GoToEffects,
    /// Show all events of the selected subject.
    GoToSubject,
    /// Go back to the previous view, with its selection and scroll position.
    Back,
    /// Change the span of time of the lanes.
    Zoom(Zoom),
    /// Undo `Back`.
    Forward,
    /// Edit the filter.
    EditFilter,
    /// Enter a text to search for.
    Search,
    /// Go to the next match of the search.
    NextMatch,
    /// Go to the previous match.
    PreviousMatch,
    /// Show the durations of the events of the row, or of all listed events.
    Times,
    /// Show the subject of the event, or of the row.
    Object,
    /// Keep the subject, to compare others with it.
    Compare,
    /// Export the listed events.
    Export,
    /// Keep the listed events as a recording of their own.
    Keep,
    /// Copy the event as text.
    Copy,
    /// Copy the event and its causes as text, one event a line.
    CopyChain,
    /// Move this many columns to the right in the browser; a negative number moves left.
    Column(isize),
    /// Leave out the events of the row of the pane.
    Exclude,
    /// Save the filter under a name.
    SaveFilter,
    /// Remove a saved filter.
    ForgetFilter,
    /// Add or remove a mark on the event.
    Mark,
    /// Give the mark on the event a name.
    NameMark,
    /// Show the causal path between the newest mark and the event.
    Path,
    /// Go to the next mark.
    NextMark,
    /// Stop or continue updating a live recording.
    Pause,
    /// Select the newest events as they arrive.
    Follow,
    /// Open the source of the event in the editor.
    OpenSource,
    /// Change the observed sites and subjects of the running process.
    Control(Change),
    /// Say which events the running process keeps when they leave the window.
    Rule,
    /// Sort by the next column.
    SortNext,
    /// Sort by the previous column.
    SortPrevious,
    /// Reverse the order.
    SortReverse,
    /// Show the columns of the next method profiler.
    NextProfile,
    /// List the subjects that were never observed.
    NeverObserved,
    /// Go to the next production that never matched, or to the next method that never ran.
    NextUncovered,
    /// Show the next picture of the blueprint.
    NextPicture,
    /// Put the method under the cursor at the top of the blueprint.
    FocusMethod,
    /// Unfold the row; if it is unfolded, go to its first child.
    Unfold,
    /// Fold the row; if it is folded, go to its parent.
    Fold,
    /// Unfold all rows.
    UnfoldAll,
    /// Fold all types, so that no method is shown.
    FoldAll,
    /// A press of the mouse.
    Click {
        /// Column, from the left; the first is 0.
        column: u16,
        /// Row, from the top; the first is 0.
        row: u16,
    },
    /// A step of the mouse wheel.
    Wheel {
        /// Column, from the left; the first is 0.
        column: u16,
        /// Row, from the top; the first is 0.
        row: u16,
        /// Rows to scroll; negative = up.
        by: isize,
    },
    /// Type a character into the prompt.
    Type(char),
    /// Erase the character before the caret.
    Erase,
    /// Erase the word before the caret.
    EraseWord,
    /// Move the caret.
    MoveCaret(Caret),
    /// Complete the word before the caret.
    Complete,
    /// Clear the prompt.
    ClearPrompt,
}

/// A change of the span of time that the lanes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// Show half of the time, around the cursor.
    In,
    /// Show twice the time.
    Out,
    /// Show the whole window.
    Whole,
    /// Move the cursor one column to the left.
    Earlier,
    /// Move the cursor one column to the right.
    Later,
}

/// Screens that a recording has, in the order of their keys.
pub type Screens = &'static [Screen];

/// Screens of the crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    /// Events and their causes.
    Events,
    /// Subjects with their counts.
    Subjects,
    /// Sites with their counts.
    Sites,
    /// Threads over time.
    Lanes,
    /// The statements of the recording about its program.
    Findings,
    /// Packages, types and methods; only for recordings that have methods.
    Structure,
    /// Columns that a user or a profiler defines.
    Browser,
    /// Rules of a grammar; only for recordings that contain productions.
    Productions,
    /// Calls as a tree, with times and coverage; only for recordings that have methods.
    Blueprint,
    /// Types of the values that arrived at methods.
    Types,
    /// Functions, ordered by processor time.
    Functions,
}

impl Screen {
    /// All screens, in the order of their keys.
    pub const ALL: [Screen; 11] = [
        Screen::Events,
        Screen::Subjects,
        Screen::Sites,
        Screen::Lanes,
        Screen::Findings,
        Screen::Structure,
        Screen::Browser,
        Screen::Productions,
        Screen::Blueprint,
        Screen::Types,
        Screen::Functions,
    ];

    /// Returns the key that opens the screen, which is the same in every recording.
    pub const fn digit(self) -> char {
        match self {
            Screen::Events => '1',
            Screen::Subjects => '2',
            Screen::Sites => '3',
            Screen::Lanes => '4',
            Screen::Findings => '5',
            Screen::Structure => '6',
            Screen::Browser => '7',
            Screen::Productions => '8',
            Screen::Blueprint => 'b',
            Screen::Types => 'T',
            Screen::Functions => 'C',
        }
    }

    /// Returns the name that the header shows.
    pub fn name(self) -> &'static str {
        match self {
            Screen::Events => "Events",
            Screen::Subjects => "Subjects",
            Screen::Sites => "Sites",
            Screen::Lanes => "Lanes",
            Screen::Findings => "Findings",
            Screen::Structure => "Structure",
            Screen::Browser => "Browser",
            Screen::Productions => "Productions",
            Screen::Blueprint => "Blueprint",
            Screen::Types => "Types",
            Screen::Functions => "Functions",
        }
    }
}

/// Tabs of the right pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Facts and chain of causes of the event.
    #[default]
    Detail,
    /// Tree of causes and links, nearest first.
    Causes,
    /// The tree of effects.
    Effects,
    /// Events of the same subject.
    SameSubject,
    /// Subject of the event: numbers, owners, siblings and every relation.
    Object,
    /// Effects of the same cause.
    Siblings,
    /// Reasons, effects and relations as a drawing in layers.
    Graph,
    /// The most frequent sites, subjects and outcomes of the events that are listed.
    Facets,
    /// The durations of the events that are listed, and their number over time.
    Times,
}

impl Tab {
    /// All tabs, from left to right.
    pub const ALL: [Tab; 9] = [
        Tab::Detail,
        Tab::Causes,
        Tab::Effects,
        Tab::SameSubject,
        Tab::Object,
        Tab::Siblings,
        Tab::Graph,
        Tab::Facets,
        Tab::Times,
    ];

    /// Returns the name in the head of the pane.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Detail => "Detail",
            Tab::Causes => "Causes",
            Tab::Effects => "Effects",
            Tab::SameSubject => "Same",
            Tab::Siblings => "Siblings",
            Tab::Object => "Object",
            Tab::Graph => "Graph",
            Tab::Facets => "Facets",
            Tab::Times => "Times",
        }
    }

    /// Returns true if the tab is about all listed events, and not about the selected event.
    pub(crate) fn is_about_the_list(self) -> bool {
        matches!(self, Tab::Facets | Tab::Times)
    }

    /// Returns the next tab. The last tab is followed by the first.
    pub fn next(self) -> Tab {
        Tab::ALL[(self as usize + 1) % Tab::ALL.len()]
    }

    /// Returns the previous tab. The first tab is preceded by the last.
    pub fn previous(self) -> Tab {
        Tab::ALL[(self as usize + Tab::ALL.len() - 1) % Tab::ALL.len()]
    }
}

/// A movement of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// A screenful up.
    PageUp,
    /// A screenful down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

impl Step {
    /// Returns the row of a cursor after the movement. It was in row `at` of `len` rows, with
    /// `height` rows in view.
    pub fn apply(self, at: usize, len: usize, height: usize) -> usize {
        let page = height.saturating_sub(1).max(1);
        let last = len.saturating_sub(1);
        match self {
            Step::Up => at.saturating_sub(1),
            Step::Down => at + 1,
            Step::PageUp => at.saturating_sub(page),
            Step::PageDown => at + page,
            Step::First => 0,
            Step::Last => last,
        }
        .min(last)
    }
}
