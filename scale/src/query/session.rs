//! Preparation of a query: makes the tables that it names, and plans it.

use std::sync::{Arc, LazyLock};

use datafusion::common::TableReference;
use datafusion::dataframe::DataFrame;
use datafusion::execution::context::{SQLOptions, SessionConfig, SessionContext};
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::query::divided_pool::DividedPool;
use crate::query::errors::QueryError;
use crate::query::projections::with_distinct_projections;
use crate::query::source::Source;

/// Query that is ready to run.
pub type Query = DataFrame;

/// Maximum number of operators and keywords of a query. The engine recurses once for each of them,
/// and its time grows with the square of their number.
const MOST_OPERATORS: usize = 2_000;

/// Bytes of memory for all queries of a server together, and bytes on the disk for each of them.
const SHARED_MEMORY: usize = 1 << 30;

/// Bytes of memory for a query, unless it has a bound of its own.
pub const MEMORY: u64 = 2 << 30;
/// Bytes that the engine reserves in each of its partitions for the merge of sorted rows, as far as
/// there is room.
const MERGE: usize = 10 << 20;

/// Returns a configuration in which errors have places in the text of the query.
fn config() -> SessionConfig {
    let mut config = SessionConfig::new();
    config.options_mut().sql_parser.collect_spans = true;
    config
}

/// Returns a session whose queries run on a cluster.
#[cfg(feature = "cluster")]
pub async fn on_cluster(scheduler: &url::Url) -> datafusion::error::Result<SessionContext> {
    use ballista::prelude::{SessionConfigExt, SessionContextExt};
    // The adaptive planner of Ballista 55 cannot repeat a stage. When an executor is lost with the
    // output of a stage, the scheduler drops the reports of the repeated tasks ("Can't find active
    // stage"), and the query never ends.
    let config = config().with_ballista_adaptive_query_planner(false);
    let state = with_distinct_projections(SessionContext::new_with_config(config).state());
    SessionContext::remote_with_state(scheduler.as_str(), state).await
}

/// Prepares a query, which can only read. Sorts, groups and joins that need more than its memory go
/// on in temporary files, where the engine can do that.
pub async fn run(sql: &str, source: &Source, memory: u64) -> Result<Query, QueryError> {
    let memory = usize::try_from(memory).unwrap_or(usize::MAX);
    let mut config = config();
    let merge = memory / config.target_partitions() / 4;
    config.options_mut().execution.sort_spill_reservation_bytes = merge.min(MERGE);
    run_within(Arc::new(DividedPool::new(memory)), None, config, sql, source).await
}

/// Prepares a query that shares a bound of memory with all others of the process.
pub async fn run_bounded(sql: &str, source: &Source) -> Result<Query, QueryError> {
    static POOL: LazyLock<Arc<dyn MemoryPool>> =
        LazyLock::new(|| Arc::new(GreedyMemoryPool::new(SHARED_MEMORY)));
    run_within(POOL.clone(), Some(SHARED_MEMORY as u64), config(), sql, source).await
}

async fn run_within(
    memory: Arc<dyn MemoryPool>,
    disk: Option<u64>,
    config: SessionConfig,
    sql: &str,
    source: &Source,
) -> Result<Query, QueryError> {
    let mut runtime = RuntimeEnvBuilder::new().with_memory_pool(memory);
    if let Some(disk) = disk {
        runtime = runtime.with_max_temp_directory_size(disk);
    }
    let runtime = runtime.build_arc().map_err(|error| QueryError::new(sql, error))?;
    let state =
        with_distinct_projections(SessionContext::new_with_config_rt(config, runtime).state());
    run_on(SessionContext::new_with_state(state), sql, source).await
}

/// Prepares a query in a session.
pub async fn run_on(
    context: SessionContext,
    sql: &str,
    source: &Source,
) -> Result<Query, QueryError> {
    if operators(sql) > MOST_OPERATORS {
        return Err(QueryError::too_long(MOST_OPERATORS));
    }
    source.add_functions(&context);
    let error = |error| match QueryError::new(sql, error) {
        fault if source.recordings().is_empty() => fault.of_sealed_sets(),
        fault => fault,
    };
    let state = context.state();
    let statement =
        state.sql_to_statement(sql, &state.config_options().sql_parser.dialect).map_err(error)?;
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
    let reads_only =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads_only.verify_plan(&plan).map_err(|_| QueryError::reads_only(sql))?;
    Ok(DataFrame::new(state, plan))
}

/// Counts the operators and keywords in a query. Names and constants are the leaves of an
/// expression, so a list of them may be long.
fn operators(sql: &str) -> usize {
    // The parser reports invalid tokens later.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let is_operator = |token: &&Token| match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Number(..) | Token::SingleQuotedString(_) => false,
        Token::Comma | Token::LParen | Token::RParen | Token::Whitespace(_) => false,
        _ => true,
    };
    tokens.iter().filter(is_operator).count()
}
