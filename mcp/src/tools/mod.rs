//! The tools: their names, descriptions and schemas, and the function that answers.

mod compare;
mod events;
mod expect;
mod findings;
mod profiled_rows;
mod query;
mod recordings;
mod rows;
mod run;
mod source;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::{Answer, ToolError};
use crate::arguments::{self, Call};
use crate::session::Session;

pub use recordings::summary_of;

/// A tool, with the function that answers.
pub struct Entry {
    /// What a client lists.
    pub tool: Tool,
    answer: Box<Answering>,
}

type Answering = dyn Fn(&Session, JsonObject, &Call<'_>) -> Result<Answer, ToolError> + Send + Sync;

impl Entry {
    fn new<I, O>(
        name: &'static str,
        title: &str,
        description: &'static str,
        answer: fn(&Session, I, &Call<'_>) -> Result<Answer, ToolError>,
    ) -> Entry
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: JsonSchema + 'static,
    {
        let mut tool = Tool::new(name, description, JsonObject::new())
            .with_title(title)
            .with_input_schema::<I>()
            .with_output_schema::<O>()
            .with_annotations(
                ToolAnnotations::with_title(title)
                    .read_only(true)
                    .destructive(false)
                    .idempotent(true)
                    .open_world(false),
            );
        let schema = Arc::make_mut(&mut tool.input_schema);
        let known: Vec<String> = match schema.get("properties") {
            Some(Value::Object(properties)) => properties.keys().cloned().collect(),
            _ => Vec::new(),
        };
        arguments::describe(schema);
        let answer = Box::new(move |session: &Session, arguments: JsonObject, call: &Call<'_>| {
            answer(session, arguments::parse(arguments, &known)?, call)
        });
        Entry { tool, answer }
    }

    /// Answers a call.
    pub fn answer(&self, session: &Session, arguments: JsonObject, call: &Call<'_>) -> Result<Answer, ToolError> {
        (self.answer)(session, arguments, call)
    }
}

/// Returns the tools of a session.
pub fn entries(session: &Session) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new::<_, recordings::Output>(
            "recordings",
            "Recordings",
            "Lists the recordings that can be read, with their programs and sizes: those the server was started with, \
             running processes, and files of the workspace. Start here if you do not know what is recorded.",
            recordings::answer,
        ),
        Entry::new::<_, findings::Output>(
            "findings",
            "Findings",
            "States what is wrong with the recorded program, the most expensive first: work that is repeated, objects \
             that take most of the time, caches that never hit, messages heard twice, and more. Each finding has its cost, \
             its source line, exact evidence, and a filter that selects its events. Start here for `why is this slow`.",
            findings::answer,
        ),
        Entry::new::<_, findings::ExplainOutput>(
            "explain",
            "Explain a kind of finding",
            "Explains a kind of finding: what it states, why it matters, what to do, when it is wrong, and what to record. \
             Without a kind, lists all kinds.",
            findings::explain,
        ),
        Entry::new::<_, rows::Output>(
            "rows",
            "Rows of counts and times",
            "Counts calls and times, one row for each site, subject (domain object), cause, sender, type, package, or \
             sampled function, calling context, or type that arrived at a method. Total time contains what was called, self \
             time does not.",
            rows::answer,
        ),
        Entry::new::<_, events::Output>(
            "event",
            "Events",
            "Shows one event by its id, with its site, subject, cause, duration, outcome, arguments and links; or lists \
             the events that pass a filter: the first, the last, or the slowest.",
            events::answer,
        ),
        Entry::new::<_, events::CausesOutput>(
            "causes",
            "Causes of an event",
            "Follows the causes of an event up to its root: what led to it, across tasks and threads.",
            events::causes,
        ),
        Entry::new::<_, events::EffectsOutput>(
            "effects",
            "Effects of an event",
            "Lists what an event led to directly, across tasks and threads, and counts it by site.",
            events::effects,
        ),
        Entry::new::<_, compare::Output>(
            "compare",
            "Compare two versions",
            "Compares recordings of two versions of a program: what runs more often, and what takes longer. Counts are \
             exact. Times have an interval if each version has several recordings.",
            compare::answer,
        ),
        Entry::new::<_, expect::Output>(
            "expect",
            "Check an expectation",
            "Checks that every event that passes one filter also passes another, as in `site:layout => cause:change`: \
             no layout without a change among its reasons. Names the events that miss it.",
            expect::answer,
        ),
        Entry::new::<_, source::Output>(
            "source",
            "Source of a site",
            "Shows the source lines around a site. Only files of the workspace are read.",
            source::answer,
        ),
    ];
    if session.engine.is_some() {
        entries.push(Entry::new::<_, query::Output>(
            "query",
            "Query in SQL",
            "Answers a query in SQL over the tables of recordings, such as `SELECT site, count(*) AS calls FROM events \
             GROUP BY site ORDER BY calls DESC`. Without a query, lists the tables and their columns. It only reads.",
            query::answer,
        ));
    }
    if !session.allowed.is_empty() {
        let mut entry = Entry::new::<_, run::Output>(
            "run",
            "Run a program",
            "Runs a command in the workspace, to record it, and lists the recordings that it made. Only commands that \
             the server was started with may run; an error names them. No shell is involved.",
            run::answer,
        );
        let annotations = ToolAnnotations::with_title("Run a program").read_only(false).destructive(true);
        entry.tool.annotations = Some(annotations.idempotent(false).open_world(true));
        entries.push(entry);
    }
    entries
}
