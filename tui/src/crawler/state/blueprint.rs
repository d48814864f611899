//! Blueprint of the run: callers and callees with their times, the coverage of a method's calls,
//! the savings of a cache, and the patterns of coverage. The pictures are those of `metaspy
//! blueprint`.

use std::sync::Arc;

use metaspy_blueprints::graph::Method;
use metaspy_blueprints::scene::Fill;
use metaspy_blueprints::{Graph, Kind as Blueprint, Options, Scene, emit, picture};
use metaspy_probe::SiteId;
use metaspy_reader::{Filter, Store};
use metaspy_report::coverage::TRUST;
use metaspy_report::program::Returned;
use metaspy_report::text::wrap;

use super::cursor::Cursor;
use super::table::{Cell, Column, Kind, Rows, TableList, Tone, Width};
use super::{filter_edit, indent};

/// Lines below the table.
const FOOTER: usize = 3;

/// Pictures that the screen can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picture {
    /// Tree of calls by time.
    #[default]
    Behavioural,
    /// Calls of a method, with their coverage by tests.
    Calls,
    /// Methods whose results a cache could save.
    Caching,
    /// Five patterns of coverage.
    Patterns,
}

impl Picture {
    /// All pictures, in the order in which a key switches between them.
    pub const ALL: [Picture; 4] =
        [Picture::Behavioural, Picture::Calls, Picture::Caching, Picture::Patterns];

    /// Returns the name in the title of the screen.
    pub fn name(self) -> &'static str {
        match self {
            Picture::Behavioural => "calls by time",
            Picture::Calls => "calls and coverage",
            Picture::Caching => "what a cache could save",
            Picture::Patterns => "patterns of coverage",
        }
    }
}

/// Screen of the blueprint.
#[derive(Clone, Debug, Default)]
pub struct BlueprintView {
    /// Picture that is shown.
    pub picture: Picture,
    /// Path of the method at the top; `None` for the whole program.
    pub from: Option<String>,
    /// Methods and their calls; `None` before the first reading.
    pub graph: Option<Arc<Graph>>,
    /// Part of the graph that the picture shows: the methods below the method at the top.
    shown: Option<Arc<Graph>>,
    /// Lines of the picture, which are the rows of the table.
    pub lines: Arc<Vec<emit::Line>>,
    /// Reason why there are no lines.
    pub problem: Option<String>,
    /// Notes on the parts that the picture leaves out.
    pub notes: Arc<Vec<String>>,
    cursor: Cursor,
}

impl BlueprintView {
    /// Reads the methods and the calls that pass the filter.
    pub fn read(mut self, store: &Store, filter: &Filter) -> Self {
        let mut graph = Graph::read(store, filter).or_profile();
        graph.recorded_hooks().into_iter().for_each(|cost| graph.subtract_hooks(cost));
        self.graph = Some(Arc::new(graph));
        self.draw();
        self
    }

    /// Shows the result of a reading. The cursor stays on its method.
    pub fn accept(&mut self, read: BlueprintView) {
        let method = self.current().map(|line| line.name.clone());
        self.graph = read.graph;
        self.draw();
        let found = method.and_then(|name| self.lines.iter().position(|line| line.name == name));
        self.cursor.follow(found, self.lines.len());
    }

    /// Switches to the next picture.
    pub(crate) fn show_next(&mut self) {
        let at = Picture::ALL.iter().position(|&picture| picture == self.picture).unwrap_or(0);
        self.picture = Picture::ALL[(at + 1) % Picture::ALL.len()];
        self.draw();
        self.cursor.reset();
    }

    /// Puts the method under the cursor at the top. Returns false if there is none.
    pub fn focus(&mut self) -> bool {
        let (Some(graph), Some(method)) =
            (&self.graph, self.current().and_then(|line| line.method))
        else {
            return false;
        };
        self.from = Some(graph.methods[method].path.clone());
        if matches!(self.picture, Picture::Caching | Picture::Patterns) {
            self.picture = Picture::Behavioural;
        }
        self.draw();
        self.cursor.reset();
        true
    }

    /// Returns the line under the cursor.
    pub fn current(&self) -> Option<&emit::Line> {
        self.lines.get(self.cursor.row)
    }

    fn draw(&mut self) {
        let Some(graph) = &self.graph else { return };
        let from = self.from.as_deref().filter(|_| self.is_tree());
        let below = from.map(|path| Graph::clone(graph).below(path)).transpose();
        let graph = match below {
            Ok(below) => below.map_or_else(|| graph.clone(), Arc::new),
            Err(problem) => {
                (self.lines, self.notes, self.problem) =
                    (Arc::default(), Arc::default(), Some(problem));
                return;
            }
        };
        let draw = |kind| picture::draw(kind, &graph, &Options::default());
        let shown = match self.picture {
            Picture::Behavioural => {
                draw(Blueprint::Behavioural).map(|scene| (emit::outline(&scene, &graph), scene))
            }
            Picture::Calls => {
                draw(Blueprint::Calls).map(|scene| (emit::outline(&scene, &graph), scene))
            }
            Picture::Caching => {
                draw(Blueprint::Structural).map(|scene| (emit::lists(&scene, &graph), scene))
            }
            Picture::Patterns => {
                draw(Blueprint::Coverage).map(|scene| (emit::lists(&scene, &graph), scene))
            }
        };
        let (lines, notes, problem) = match shown {
            Ok((lines, scene)) => {
                let problem = lines.is_empty().then(|| self.why_empty(&graph));
                (lines, self.notes_of(scene), problem)
            }
            Err(error) => (Vec::new(), Vec::new(), Some(error.to_string())),
        };
        (self.lines, self.notes, self.problem) = (Arc::new(lines), Arc::new(notes), problem);
        self.shown = Some(graph);
    }

    /// Returns true if the picture is a tree of calls, which may begin at a method.
    fn is_tree(&self) -> bool {
        matches!(self.picture, Picture::Behavioural | Picture::Calls)
    }

    fn why_empty(&self, graph: &Graph) -> String {
        match self.picture {
            Picture::Caching if !graph.has_returns => {
                "no returned values were recorded: build with `cargo metaspy build --returns`, and record METASPY_PROFILE=coverage,calls"
            }
            Picture::Caching if graph.methods.iter().any(|method| method.returns == Some(Returned::NotComparable)) => {
                return format!("no candidate, and values that cannot be compared: {TRUST}");
            }
            Picture::Caching => "no method always returns the same value for a receiver, again and again",
            _ => "no method shows one of the five patterns",
        }
        .into()
    }

    /// Returns the notes of a picture. A list does not need the notes about scales.
    fn notes_of(&self, scene: Scene) -> Vec<String> {
        if self.is_tree() { scene.notes } else { Vec::new() }
    }

    /// Returns the lines below the table.
    pub fn footer(&self, columns: usize) -> Vec<String> {
        let mut lines = wrap(&self.notes.join("; "), columns);
        lines.truncate(FOOTER);
        lines
    }

    /// Returns a number of the line's method, with the sign of an upper bound.
    fn number(
        &self,
        item: usize,
        number: fn(&Method) -> Option<u64>,
        sign: fn(&Graph, usize) -> &'static str,
    ) -> Cell {
        let method = self.lines[item].method.zip(self.shown.as_deref());
        method.map_or(Cell::blank(), |(at, graph)| {
            Cell::optional(number(&graph.methods[at]), sign(graph, at))
        })
    }
}

impl TableList for BlueprintView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let name = |_: &Store, list: &Self, item: usize| {
            let line = &list.lines[item];
            let tone = match (line.method, line.fill) {
                (None, _) => Tone::Strong,
                (_, Fill::NeverRan) => Tone::Alert,
                _ => Tone::Plain,
            };
            Cell::text(line.name.clone()).toned(tone)
        };
        let mut columns = vec![Column::name(self.picture.name(), name)];
        if self.picture == Picture::Behavioural {
            columns.push(
                Column::new(
                    "share",
                    Kind::Bar,
                    Width::Part { of: (1, 4), min: 10 },
                    |_, list: &Self, item| Cell::amount(list.lines[item].share),
                )
                .titled(""),
            );
        }
        columns.push(Column::new(
            "calls",
            Kind::Number,
            Width::Cells(12),
            |_, list: &Self, item| {
                list.number(item, |method| Some(method.executions), Graph::calls_sign)
            },
        ));
        if self.picture == Picture::Behavioural {
            let ns = |method: &Method| method.total_ns.filter(|_| method.executions > 0);
            columns.push(Column::new(
                "total",
                Kind::Time,
                Width::Cells(10),
                move |_, list: &Self, item| list.number(item, ns, Graph::time_sign),
            ));
            columns.push(
                Column::new("self", Kind::Time, Width::Cells(10), |_, list: &Self, item| {
                    list.number(item, |method| method.self_ns, Graph::own_sign)
                })
                .shown_from(70),
            );
            columns.push(
                Column::new("returns", Kind::Text, Width::Cells(15), |_, list: &Self, item| {
                    let graph = list.shown.as_deref();
                    let method =
                        list.lines[item].method.zip(graph).map(|(at, graph)| &graph.methods[at]);
                    Cell::text(
                        method
                            .and_then(|method| method.returns)
                            .map_or("", |returned| returned.word()),
                    )
                })
                .shown_from(90),
            );
        } else if self.picture == Picture::Calls {
            columns.push(Column::new(
                "lines",
                Kind::Number,
                Width::Cells(7),
                |_, list: &Self, item| {
                    list.number(item, |method| Some(u64::from(method.lines)), |_, _| "")
                },
            ));
        }
        if self.picture != Picture::Behavioural {
            columns.push(Column::new(
                "note",
                Kind::Text,
                Width::Part { of: (2, 5), min: 20 },
                |_, list: &Self, item| Cell::text(list.lines[item].note.clone()),
            ));
        }
        columns
    }

    fn tree_lines(&self, item: usize, levels: usize) -> String {
        indent::tree_lines(item, levels, |at| (self.lines[at].parent, self.lines[at].is_last))
    }
}

impl Rows for BlueprintView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.lines.len()
    }

    fn discard(&mut self) {
        (self.graph, self.shown, self.lines) = (None, None, Arc::default());
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1 + FOOTER);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.lines[row].name.clone()
    }

    fn site(&self) -> Option<SiteId> {
        self.graph.as_ref()?.methods[self.current()?.method?].site
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        self.site().map(|site| filter_edit::site_term(store, site))
    }
}
