//! The protocol: tools, recordings as resources, one prompt, progress and cancellation.
//!
//! Messages are handled by one thread, and each call works on a thread of its own. A call that
//! panics is an error of this call, and the server goes on. When the client closes standard input,
//! running calls are cancelled and the server ends.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::stdio_pipes;
use tokio::sync::mpsc;

use crate::answer::ToolError;
use crate::arguments::{Common, did_you_mean};
use crate::library::Library;
use crate::prompt;
use crate::session::Session;
use crate::shell::Pattern;
use crate::tools::{self, Entry};
use crate::watch::Watch;

/// The scheme of the addresses of recordings.
const SCHEME: &str = "metaspy:recording/";
/// Resources in a list. The rest has a cursor.
const RESOURCES: usize = 100;
/// The time between two messages of a call that reports nothing itself.
const TICK: Duration = Duration::from_secs(1);
/// The time in which calls end after the client has gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// The options of a server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Recordings: files, directories, processes, and names of live recordings.
    pub recordings: Vec<PathBuf>,
    /// Commands that the tool `run` may start. Without any, there is no such tool.
    pub allow_run: Vec<Pattern>,
    /// The program `metaspy-scale`, if it is installed. Without it, there is no tool `query`.
    pub engine: Option<PathBuf>,
}

/// Serves a client on standard input and output, until it closes the input.
///
/// Source files are read in the current directory only.
///
/// # Errors
///
/// Returns an error if the current directory cannot be found, or if the client does not speak the
/// protocol.
pub fn serve(options: Options) -> io::Result<()> {
    let workspace = std::env::current_dir()?.canonicalize()?;
    let session = Session {
        recordings: Library::new(workspace, options.recordings),
        allowed: options.allow_run,
        engine: options.engine,
    };
    let is_closing = Arc::new(AtomicBool::new(false));
    let server = Server {
        entries: Arc::new(tools::entries(&session)),
        session: Arc::new(session),
        is_closing: is_closing.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let running = server
            .serve(stdio_pipes())
            .await
            .map_err(|error| io::Error::other(error.to_string()))?;
        running.waiting().await.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(())
    });
    is_closing.store(true, Ordering::Relaxed);
    // A program that a call started is ended by its call.
    runtime.shutdown_timeout(PATIENCE);
    ended
}

#[derive(Clone)]
struct Server {
    session: Arc<Session>,
    entries: Arc<Vec<Entry>>,
    is_closing: Arc<AtomicBool>,
}

impl Server {
    fn entry(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.tool.name == name)
    }

    /// Does work on a thread of its own, and passes its progress on to the client.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Server, &Watch) -> T + Send + 'static,
    ) -> Option<T> {
        let (tell, mut told) = mpsc::unbounded_channel::<String>();
        let cancelled = context.ct.clone();
        let is_closing = self.is_closing.clone();
        let is_cancelled = move || cancelled.is_cancelled() || is_closing.load(Ordering::Relaxed);
        let watch = Watch::new(is_cancelled, move |message| _ = tell.send(message));
        let server = self.clone();
        let mut working = tokio::task::spawn_blocking(move || work(&server, &watch));
        let Some(token) = context.meta.get_progress_token() else { return working.await.ok() };
        let began = Instant::now();
        let mut message = "working".to_owned();
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + TICK, TICK);
        let mut is_open = true;
        loop {
            tokio::select! {
                done = &mut working => return done.ok(),
                next = told.recv(), if is_open => match next {
                    Some(next) => message = next,
                    None => { is_open = false; continue }
                },
                _ = ticks.tick() => {}
            }
            // The seconds grow with each message, as the protocol asks for; how many there will be
            // is not known.
            let seconds = began.elapsed().as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), seconds)
                .with_message(message.clone());
            // A client that has gone misses nothing.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let own = Implementation::new("metaspy", env!("CARGO_PKG_VERSION")).with_title("Metaspy");
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(prompt::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.entries.iter().map(|entry| entry.tool.clone()).collect(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).map(|at| self.entries[at].tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(at) = self.entry(&request.name) else {
            return Err(ErrorData::invalid_params(self.unknown_tool(&request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let result =
            self.work(&context, move |server, watch| server.answer(at, arguments, watch)).await;
        if request.name == "recordings" {
            // A client that lists the recordings asks for findings next, and reads the answer
            // first.
            let server = self.clone();
            tokio::task::spawn_blocking(move || {
                let is_closing = server.is_closing.clone();
                let watch = Watch::new(move || is_closing.load(Ordering::Relaxed), |_| ());
                server.session.recordings.search_ahead(&watch);
            });
        }
        Ok(result
            .unwrap_or_else(|| {
                ToolError::new(
                    "metaspy failed at this call, which is a fault of metaspy; other calls go on",
                )
                .result()
            })
            .into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let start: usize = match cursor.as_deref().map(str::parse) {
            None => 0,
            Some(Ok(start)) => start,
            Some(Err(_)) => {
                return Err(ErrorData::invalid_params(
                    "this is no cursor of a list of resources",
                    None,
                ));
            }
        };
        let known = self
            .work(&context, |server, _| server.session.recordings.known())
            .await
            .unwrap_or_default();
        let is_long = known.len() > start.saturating_add(RESOURCES);
        let resources = known.iter().skip(start).take(RESOURCES).map(|known| {
            let name = metaspy_report::text::clean(&known.name).into_owned();
            Resource::new(address(&known.name), name)
                .with_description("A recording of metaspy: its program, calls, events and problems")
                .with_mime_type("application/json")
        });
        let mut list = ListResourcesResult::with_all_items(resources.collect());
        list.next_cursor = is_long.then(|| (start + RESOURCES).to_string());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let wanted = uri.clone();
        let read = move |server: &Server, _: &Watch| {
            let known = server.session.recordings.known();
            let found = known.iter().find(|known| address(&known.name) == wanted)?;
            let recording = tools::summary_of(&server.session, found);
            serde_json::to_string_pretty(&recording).ok()
        };
        let Some(Some(text)) = self.work(&context, read).await else {
            let message = "there is no such recording: resources/list has the addresses of all";
            return Err(ErrorData::resource_not_found(message, None));
        };
        let text = metaspy_report::text::clean_lines(&text);
        let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![
            PromptArgument::new("recording")
                .with_description("A name of the tool `recordings`")
                .with_required(false),
            PromptArgument::new("what")
                .with_description("What is slow, in your words")
                .with_required(false),
        ];
        let prompt = Prompt::new(prompt::NAME, Some(prompt::DESCRIPTION), Some(arguments))
            .with_title(prompt::TITLE);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != prompt::NAME {
            let message = format!("there is no prompt of this name: there is {}", prompt::NAME);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(|value| value.as_str());
        let text = prompt::text(argument("recording"), argument("what"));
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages).with_description(prompt::DESCRIPTION).into())
    }
}

impl Server {
    /// Answers a call, on the thread of the call.
    fn answer(
        &self,
        at: usize,
        mut arguments: rmcp::model::JsonObject,
        watch: &Watch,
    ) -> CallToolResult {
        let entry = &self.entries[at];
        let common = match Common::take(&entry.tool.name, &mut arguments) {
            Ok(common) => common,
            Err(error) => return error.result(),
        };
        match watch.interruptible(|| entry.answer(&self.session, arguments, &common.call(watch))) {
            Ok(answer) => answer.result(common.max_bytes, |place| common.cursor(place)),
            Err(error) => error.result(),
        }
    }

    fn unknown_tool(&self, name: &str) -> String {
        let names = || self.entries.iter().map(|entry| Cow::as_ref(&entry.tool.name));
        let advice = did_you_mean(name, names());
        let advice = advice
            .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        let name: String = metaspy_report::text::clean(name).chars().take(80).collect();
        match name.as_str() {
            "query" => {
                "`query` needs metaspy-scale: cargo install --locked --path scale, in a clone of metaspy".to_owned()
            }
            "run" => "no program may run: the user starts the server with --allow-run 'cargo metaspy *'".to_owned(),
            _ => format!("there is no tool `{name}`: {advice}"),
        }
    }
}

/// The address of a recording as a resource.
fn address(name: &str) -> String {
    let mut address = SCHEME.to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(byte.into())
            }
            byte => address += &format!("%{byte:02X}"),
        }
    }
    address
}
