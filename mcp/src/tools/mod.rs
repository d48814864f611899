//! The tools: their names, descriptions and schemas, and the function that answers.

mod compare;
mod connections;
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

pub(crate) use recordings::summary_of;

/// A tool, with the function that answers.
pub struct Entry {
    /// The name, description and schema that a client lists.
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
    pub fn answer(
        &self,
        session: &Session,
        arguments: JsonObject,
        call: &Call<'_>,
    ) -> Result<Answer, ToolError> {
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
        Entry::new::<_, connections::CausesOutput>(
            "causes",
            "Causes of an event",
            "Follows the causes of an event up to its root: what led to it, across tasks and threads.",
            connections::causes,
        ),
        Entry::new::<_, connections::EffectsOutput>(
            "effects",
            "Effects of an event",
            "Lists what an event led to directly, across tasks and threads, and counts it by site.",
            connections::effects,
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
        let annotations =
            ToolAnnotations::with_title("Run a program").read_only(false).destructive(true);
        entry.tool.annotations = Some(annotations.idempotent(false).open_world(true));
        entries.push(entry);
    }
    entries
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};
    use std::thread;

    use metaspy_probe::{KindId, Subject};
    use metaspy_reader::testing::{Draft, Writer};
    use serde_json::json;

    use super::*;
    use crate::arguments::Common;
    use crate::library::Library;
    use crate::watch::Watch;

    /// Writes a recording of some chunks, and returns its file.
    fn recorded(directory: &Path) -> PathBuf {
        let mut writer = Writer::new(6);
        writer.site(1, "page::frame");
        writer.site(2, "page::layout");
        writer.lane(0, "main");
        for frame in 0..300 {
            let start = frame * 1_000;
            let cause =
                Some(writer.event(Draft { site: 1, start, span: Some(900), ..Draft::default() }));
            for part in 0..100 {
                let subject = Subject::new(KindId(1), part);
                let start = start + part * 5;
                writer.event(Draft {
                    site: 2,
                    subject,
                    start,
                    span: Some(3),
                    cause,
                    ..Draft::default()
                });
            }
        }
        writer.summarise();
        let file = directory.join("run.spy");
        fs::write(&file, writer.bytes()).expect("it can be written");
        file
    }

    fn session(directory: &Path, file: &Path) -> Session {
        let workspace = directory.canonicalize().expect("it is there");
        Session {
            recordings: Library::new(workspace, vec![file.to_owned()]),
            allowed: Vec::new(),
            engine: None,
        }
    }

    fn call(
        session: &Session,
        tool: &str,
        arguments: &Value,
        watch: &Watch,
    ) -> Result<Value, ToolError> {
        let entries = entries(session);
        let entry = entries.iter().find(|entry| entry.tool.name == tool).expect("it is a tool");
        let mut arguments = arguments.as_object().expect("it is an object").clone();
        let common = Common::take(tool, &mut arguments)?;
        let answer =
            watch.interruptible(|| entry.answer(session, arguments, &common.call(watch)))?;
        Ok(answer
            .result(common.max_bytes, str::to_owned)
            .structured_content
            .expect("it has content"))
    }

    #[test]
    fn a_cancelled_call_ends_early_and_leaves_nothing_to_the_next_one() {
        let directory =
            std::env::temp_dir().join(format!("metaspy-cancelled-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("it can be made");
        let file = recorded(&directory);
        let name = file.to_string_lossy();
        let shared = session(&directory, &file);
        for (tool, arguments) in [
            ("rows", json!({})),
            ("rows", json!({ "by": "subject" })),
            ("rows", json!({ "by": "cause" })),
            ("rows", json!({ "by": "type" })),
            ("compare", json!({ "before": name, "after": name, "all": true })),
            ("expect", json!({ "expectation": "site:layout => cause:frame" })),
            ("event", json!({ "order": "slowest" })),
            ("event", json!({ "filter": "took:>1h" })),
            ("findings", json!({ "all": true })),
        ] {
            let asked = Arc::new(AtomicUsize::new(0));
            let questions = asked.clone();
            // The client cancels while the call works: two chunks may be read.
            let cancelled =
                Watch::new(move || questions.fetch_add(1, Ordering::Relaxed) >= 2, |_| {});
            let answer = call(&shared, tool, &arguments, &cancelled);
            assert!(
                answer.is_err_and(|error| error.to_string().contains("cancelled")),
                "{tool} {arguments}"
            );
            assert!(asked.load(Ordering::Relaxed) < 10, "{tool} {arguments} goes on");
            let patient = Watch::new(|| false, |_| {});
            let after = call(&shared, tool, &arguments, &patient).expect("it answers");
            let alone =
                call(&session(&directory, &file), tool, &arguments, &patient).expect("it answers");
            assert_eq!(after, alone, "{tool} {arguments}");
            let again = call(&shared, tool, &arguments, &patient).expect("it answers");
            assert_eq!(again, alone, "{tool} {arguments}");
        }
        fs::remove_dir_all(&directory).expect("it was made above");
    }

    #[test]
    fn a_search_ahead_is_not_made_again_and_a_call_that_waits_for_it_can_be_cancelled() {
        let directory = std::env::temp_dir().join(format!("metaspy-ahead-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("it can be made");
        let shared = session(&directory, &recorded(&directory));
        let (searches, has_begun) = mpsc::channel();
        let (go_on, is_waited_for) = mpsc::channel::<()>();
        let is_waited_for = Mutex::new(is_waited_for);
        thread::scope(|scope| {
            let shared = &shared;
            scope.spawn(move || {
                // The search stands still when it asks whether it is to go on, and ends then.
                let is_cancelled = move || {
                    _ = searches.send(());
                    _ = is_waited_for.lock().expect("no thread panics").recv();
                    true
                };
                shared.recordings.search_ahead(&Watch::new(is_cancelled, |_| {}));
            });
            has_begun.recv().expect("it searches");
            let cancelled = call(shared, "findings", &json!({}), &Watch::new(|| true, |_| {}));
            assert!(cancelled.is_err_and(|error| error.to_string().contains("cancelled")));
            drop(go_on);
        });
        shared.recordings.search_ahead(&Watch::new(|| false, |_| {}));
        let questions = AtomicUsize::new(0);
        // A search would ask more often whether it is to go on.
        let impatient = Watch::new(move || questions.fetch_add(1, Ordering::Relaxed) >= 2, |_| {});
        let found = call(&shared, "findings", &json!({}), &impatient).expect("it has been found");
        assert_eq!(found["events"], 30_300);
        fs::remove_dir_all(&directory).expect("it was made above");
    }
}
