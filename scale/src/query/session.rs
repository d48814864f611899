//! A query: the tables that it names are made, and the engine runs it.

use std::sync::{Arc, LazyLock};

use datafusion::common::TableReference;
use datafusion::dataframe::DataFrame;
use datafusion::execution::context::{SQLOptions, SessionConfig, SessionContext};
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::query::errors::QueryError;
use crate::query::source::Source;

/// A query that is ready to run.
pub type Query = DataFrame;

/// Operators and keywords of a query at most. The engine descends once for each of them, and takes the square of their
/// number as time.
const MOST_OPERATORS: usize = 2_000;

/// Bytes that all bounded queries may take in memory, and each of them on the disk.
const MEMORY: usize = 1 << 30;

/// Functions that make a value of any length from a number. The engine does not count their memory.
const LENGTHENING: [&str; 7] = ["repeat", "lpad", "rpad", "array_repeat", "array_resize", "range", "generate_series"];

/// Errors have places in the text of the query.
fn config() -> SessionConfig {
    let mut config = SessionConfig::new();
    config.options_mut().sql_parser.collect_spans = true;
    config
}

/// A session whose queries run on a cluster.
#[cfg(feature = "cluster")]
pub async fn on_cluster(scheduler: &url::Url) -> datafusion::error::Result<SessionContext> {
    use ballista::prelude::{SessionConfigExt, SessionContextExt};
    // The adaptive planner of Ballista 55 cannot repeat a stage. When an executor is lost with the output of a stage, the
    // scheduler drops the reports of the repeated tasks ("Can't find active stage"), and the query never ends.
    let config = config().with_ballista_adaptive_query_planner(false);
    SessionContext::remote_with_state(scheduler.as_str(), SessionContext::new_with_config(config).state()).await
}

/// Prepares a query. It can read, and nothing else.
pub async fn run(sql: &str, source: &Source) -> Result<Query, QueryError> {
    run_on(SessionContext::new_with_config(config()), sql, source).await
}

/// Prepares a query that shares a bound of memory with all others of the process.
pub async fn run_bounded(sql: &str, source: &Source) -> Result<Query, QueryError> {
    static POOL: LazyLock<Arc<dyn MemoryPool>> = LazyLock::new(|| Arc::new(GreedyMemoryPool::new(MEMORY)));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(POOL.clone()).with_max_temp_directory_size(MEMORY as u64);
    let runtime = runtime.build_arc().map_err(|error| QueryError::new(sql, error))?;
    let context = SessionContext::new_with_config_rt(config(), runtime);
    LENGTHENING.iter().for_each(|name| context.deregister_udf(name));
    run_on(context, sql, source).await
}

/// Prepares a query in a session.
pub async fn run_on(context: SessionContext, sql: &str, source: &Source) -> Result<Query, QueryError> {
    if operators(sql) > MOST_OPERATORS {
        return Err(QueryError::too_long(MOST_OPERATORS));
    }
    source.add_functions(&context);
    let error = |error| match QueryError::new(sql, error) {
        fault if source.recordings().is_empty() => fault.of_sealed_sets(),
        fault => fault,
    };
    let state = context.state();
    let statement = state.sql_to_statement(sql, &state.config_options().sql_parser.dialect).map_err(error)?;
    for table in state.resolve_table_references(&statement).map_err(error)? {
        let TableReference::Bare { table: name } = &table else { continue };
        match source.table(&context, name).await.map_err(error)? {
            Some(provider) => {
                context.register_table(table.clone(), provider).map_err(error)?;
            }
            None => return Err(QueryError::no_table(sql, name, source.names())),
        }
    }
    let state = context.state();
    let plan = state.statement_to_plan(statement).await.map_err(error)?;
    let reads_only = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads_only.verify_plan(&plan).map_err(|_| QueryError::reads_only(sql))?;
    Ok(DataFrame::new(state, plan))
}

/// The number of operators and keywords in a query. Names and constants are the leaves of an expression, so a list of them
/// may be long.
fn operators(sql: &str) -> usize {
    // The parser reports what is no token.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let is_operator = |token: &&Token| match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Number(..) | Token::SingleQuotedString(_) => false,
        Token::Comma | Token::LParen | Token::RParen | Token::Whitespace(_) => false,
        _ => true,
    };
    tokens.iter().filter(is_operator).count()
}
