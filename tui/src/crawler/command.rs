//! Everything that a reader can ask of the crawler.

/// A wish, however it was uttered: by key, by mouse, or by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Leave the crawler.
    Quit,
    /// Show or hide the keys.
    Help,
    /// SortChange to a screen.
    Show(Screen),
    /// The next tab of the right pane.
    NextTab,
    /// The tab before it.
    PreviousTab,
    /// Move the cursor of whatever has the focus.
    Move(Step),
    /// Do what the row under the cursor stands for.
    Enter,
    /// One level out: close the help, leave the pane, take the filter away.
    Leave,
    /// Go to the cause of the selected event.
    GoToCause,
    /// Look at the effects of the selected event.
    GoToEffects,
    /// Look at all events of the selected subject.
    GoToSubject,
    /// Back to the exact view that a walk came from.
    Back,
    /// Undo a step back.
    Forward,
    /// Write the filter.
    EditFilter,
    /// Write a text to search for.
    Search,
    /// The next place where the search text stands.
    NextMatch,
    /// The place before.
    PreviousMatch,
    /// Put a mark on the event, or take it off.
    Mark,
    /// Go to the next mark.
    NextMark,
    /// Stop looking at what a live recording does, or look again.
    Pause,
    /// Let the newest events run through, the selection staying where it is.
    Follow,
    /// Open the source of the event in the editor.
    OpenSource,
    /// Sort by the next column.
    SortNext,
    /// Sort by the column before.
    SortPrevious,
    /// Sort the other way round.
    SortReverse,
    /// List the subjects that were never observed.
    NeverObserved,
    /// The next production that never matched, or method that never ran.
    NextUncovered,
    /// Show what stands within the row; in a row that shows it, go there.
    Unfold,
    /// Hide what stands within the row; in a row that hides it, go to what is around.
    Fold,
    /// Show everything.
    UnfoldAll,
    /// Hide the methods.
    FoldAll,
    /// The mouse was pressed here.
    Click {
        /// From the left, 0 first.
        column: u16,
        /// From the top, 0 first.
        row: u16,
    },
    /// A character for the line being written.
    Type(char),
    /// Take the last character back.
    Erase,
    /// Take the whole line back.
    ClearPrompt,
}

/// The screens that a recording has, in the order of their keys.
pub type Screens = &'static [Screen];

/// The screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    /// What happened, and why.
    Events,
    /// To whom, and how often.
    Subjects,
    /// Where in the code.
    Sites,
    /// On which threads.
    Lanes,
    /// Which rules of a grammar: only for recordings that have some.
    Productions,
    /// Where in the structure of the program: only for recordings with methods.
    Structure,
}

impl Screen {
    /// All of them, in the order of their keys.
    pub const ALL: [Screen; 6] =
        [Screen::Events, Screen::Subjects, Screen::Sites, Screen::Lanes, Screen::Productions, Screen::Structure];

    /// Its key: the same in every recording.
    pub const fn digit(self) -> char {
        match self {
            Screen::Events => '1',
            Screen::Subjects => '2',
            Screen::Sites => '3',
            Screen::Lanes => '4',
            Screen::Productions => '5',
            Screen::Structure => '6',
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Screen::Events => "Events",
            Screen::Subjects => "Subjects",
            Screen::Sites => "Sites",
            Screen::Lanes => "Lanes",
            Screen::Productions => "Productions",
            Screen::Structure => "Structure",
        }
    }
}

/// How far the cursor goes.
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
    /// To the first row there is.
    First,
    /// To the last.
    Last,
}

impl Step {
    /// Where a cursor at `at` lands among `len` rows of which `height` are seen at once.
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
