//! Queries that answer common questions, for `metaspy query --examples`. Tests run all of them.

/// A question and its query.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The question.
    pub question: &'static str,
    /// The query.
    pub sql: &'static str,
}

/// The queries.
pub const EXAMPLES: &[Example] = &[
    Example {
        question: "what is wrong with the program, and what shows it",
        sql: "SELECT kind, title, site, subject, events, round(100 * time_share, 1) AS time_percent, command\n\
              FROM findings WHERE NOT small AND state = 'open' ORDER BY number",
    },
    Example {
        question: "which objects, how often, how long",
        sql: "SELECT subject_kind, subject_key, label, calls, total_ns FROM subjects ORDER BY calls DESC LIMIT 10",
    },
    Example {
        question: "which object, at which site, and what share of the whole",
        sql: "SELECT subject_kind, subject_key, site, calls, round(100.0 * calls / sum(calls) OVER (), 1) AS percent\n\
              FROM tallies ORDER BY calls DESC LIMIT 10",
    },
    Example {
        question: "what caused the slowest events, and what did they cause",
        sql: "SELECT event, site, took_ns, causes(event) AS causes, effects(event) AS effects\n\
              FROM (SELECT event, site, took_ns FROM events ORDER BY took_ns DESC NULLS LAST LIMIT 5)",
    },
    Example {
        question: "which root cause has most effects",
        sql: "SELECT r.site AS root_cause, count(*) AS effects\n\
              FROM (SELECT root(event) AS root FROM events) AS e JOIN events AS r ON r.event = e.root\n\
              GROUP BY r.site ORDER BY effects DESC",
    },
    Example {
        question: "where did a late result wait between two threads",
        sql: "SELECT c.thread AS sent_on, e.thread AS received_on, e.site, e.time_ns - c.time_ns AS waited_ns\n\
              FROM events AS e JOIN events AS c\n\
              ON e.cause = c.event AND e.process = c.process AND e.host = c.host AND e.run = c.run\n\
              WHERE e.lane <> c.lane ORDER BY waited_ns DESC LIMIT 10",
    },
    Example {
        question: "where did this request spend its time, service by service",
        sql: "WITH entries AS (SELECT * FROM events WHERE trace IS NOT NULL AND cause IS NULL),\n\
              others AS (SELECT c.trace, c.run, c.host, c.process, sum(e.took_ns) AS waited_ns\n\
              FROM entries AS e JOIN events AS c ON c.span = e.remote_parent GROUP BY c.trace, c.run, c.host, c.process)\n\
              SELECT trace, host, process, sum(took_ns) AS total_ns, sum(took_ns) - coalesce(max(waited_ns), 0) AS self_ns\n\
              FROM entries LEFT JOIN others USING (trace, run, host, process)\n\
              GROUP BY trace, run, host, process ORDER BY trace, total_ns DESC",
    },
    Example {
        question: "which service calls which, how often, and how long that takes",
        sql: "SELECT c.process AS caller, c.site AS at, e.process AS callee, e.site, count(*) AS calls, sum(e.took_ns) AS took_ns\n\
              FROM events AS e JOIN events AS c ON c.span = e.remote_parent\n\
              GROUP BY c.process, c.site, e.process, e.site ORDER BY took_ns DESC",
    },
    Example {
        question: "does anything happen without its reason",
        sql: "SELECT site, count(*) AS roots FROM events WHERE cause IS NULL AND remote_parent IS NULL\n\
              GROUP BY site ORDER BY roots DESC",
    },
    Example {
        question: "did it get worse, from one recording to the other",
        sql: "SELECT run, process, site, sum(calls) AS calls, sum(total_ns) AS total_ns FROM tallies\n\
              GROUP BY run, process, site ORDER BY site, run, process",
    },
    Example {
        question: "where was the program when it was killed",
        sql: "SELECT thread, site, subject_kind, subject_key, time_ns FROM events\n\
              WHERE outcome = 'running' ORDER BY time_ns",
    },
    Example {
        question: "which calls failed, and what had called them",
        sql: "SELECT site, cause_site, outcome, count(*) AS calls FROM events\n\
              WHERE outcome IN ('none', 'err', 'failed', 'panicked', 'cancelled') GROUP BY site, cause_site, outcome ORDER BY calls DESC",
    },
    Example {
        question: "how slow is the slowest hundredth",
        sql: "SELECT site, count(took_ns) AS calls, median(took_ns) AS median_ns,\n\
              approx_percentile_cont(0.99) WITHIN GROUP (ORDER BY took_ns) AS p99_ns\n\
              FROM events GROUP BY site ORDER BY p99_ns DESC NULLS LAST",
    },
    Example {
        question: "how many calls in each second",
        sql: "SELECT time_ns / 1000000000 AS second, count(*) AS calls FROM events GROUP BY second ORDER BY second",
    },
    Example {
        question: "which observed code never ran",
        sql: "SELECT site, file, first_line FROM sites AS s\n\
              WHERE NOT EXISTS (SELECT 1 FROM tallies AS t WHERE t.process = s.process AND t.site_id = s.site_id)",
    },
    Example {
        question: "how complete is what I see",
        sql: "SELECT process, state, calls, stored, folded, counted, lost, warning FROM recordings",
    },
];

/// The queries as text.
pub fn text() -> String {
    let queries =
        EXAMPLES.iter().map(|Example { question, sql }| format!("-- {question}\n{sql};\n\n"));
    queries.chain(["-- run one of them:  metaspy query 'SELECT …' run.spy\n".to_owned()]).collect()
}
