//! Server loop over the messages of the client and the snapshots of the reader.

mod commands;
mod initialize;
mod requests;
mod transport;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{io, ptr};

use crossbeam_channel::{Receiver, Sender, never, select, tick, unbounded};
use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidOpenTextDocument, LogMessage, Notification as _, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{CodeLensRefresh, Request as _};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, LogMessageParams, MessageType,
    PublishDiagnosticsParams, ShowMessageParams, Uri,
};
use serde::de::DeserializeOwned;

use crate::declarations::Documents;
use crate::document::Document;
use crate::markdown::Style;
use crate::outliner::{self, Read, Text};
use crate::reader::{self, Command};
use crate::settings::{Selection, Settings};
use crate::snapshot::Snapshot;
use crate::views::{View, findings, hints};
use initialize::{Client, Process};

/// Notification that numbers or settings have changed.
pub(crate) const CHANGED: &str = "metaspy/changed";
/// Time after the last change of a text at which its hints are sent.
const QUIET: Duration = Duration::from_millis(200);

/// Time between two checks of the client's process.
const LOOK: Duration = Duration::from_secs(1);

/// Serves a client over standard input and output, until it ends or is gone.
pub fn serve() -> io::Result<()> {
    let (connection, threads) = transport::connect()?;
    match run(connection)? {
        End::Connection => threads.join(),
        // The input thread still waits for messages, so it is not joined.
        End::Process => Ok(()),
    }
}

/// Reason for the end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has sent `exit`, or has closed the connection.
    Connection,
    /// The client's process is gone, although the connection is open.
    Process,
}

/// Serves a client over a connection, until it ends or is gone.
pub fn run(connection: Connection) -> io::Result<End> {
    let Some(client) = Client::meet(&connection) else { return Ok(End::Connection) };
    let (commands, received) = unbounded();
    let (sender, snapshots) = unbounded();
    reader::start(received, sender)?;
    let (texts, outlines) = outliner::start()?;
    let mut server = Server::new(client, connection.sender.clone(), commands, texts);
    server.send_folders();
    server.send_settings();
    server.show_mistakes();
    Ok(server.serve(&connection, &snapshots, &outlines))
}

struct Server {
    client: Client,
    settings: Settings,
    documents: Documents,
    snapshot: Arc<Snapshot>,
    /// Documents that await new hints.
    changed: HashSet<String>,
    /// Open documents for which a log message about an exceeded bound was sent.
    exceeding: HashSet<String>,
    /// Messages that the client has already shown.
    shown: HashSet<String>,
    messages: Sender<Message>,
    reader: Sender<Command>,
    /// Long texts, for the thread that reads them.
    texts: Sender<Text>,
    requests: i32,
}

impl Server {
    fn new(
        client: Client,
        messages: Sender<Message>,
        reader: Sender<Command>,
        texts: Sender<Text>,
    ) -> Server {
        let settings = client.settings.clone();
        Server {
            client,
            settings,
            documents: Documents::default(),
            snapshot: Arc::default(),
            changed: HashSet::new(),
            exceeding: HashSet::new(),
            shown: HashSet::new(),
            messages,
            reader,
            texts,
            requests: 0,
        }
    }

    /// Handles messages until the client ends or is gone.
    fn serve(
        &mut self,
        connection: &Connection,
        snapshots: &Receiver<Arc<Snapshot>>,
        outlines: &Receiver<Read>,
    ) -> End {
        let looks = if self.client.process.is_some() { tick(LOOK) } else { never() };
        loop {
            let quiet =
                if self.changed.is_empty() { never() } else { crossbeam_channel::after(QUIET) };
            select! {
                recv(connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        // The connection answers `shutdown`, and waits for `exit`.
                        if connection.handle_shutdown(&request).unwrap_or(true) {
                            return End::Connection;
                        }
                        let response = self.answer(request);
                        self.send(response);
                    }
                    Ok(Message::Notification(notification)) if notification.method == "exit" => return End::Connection,
                    Ok(Message::Notification(notification)) => self.note(notification),
                    Ok(Message::Response(_)) => {}
                    Err(_) => return End::Connection,
                },
                recv(snapshots) -> snapshot => match snapshot {
                    Ok(snapshot) => self.show(snapshot),
                    Err(_) => return End::Connection,
                },
                recv(outlines) -> read => match read {
                    Ok(read) => self.set_outline(read),
                    Err(_) => return End::Connection,
                },
                recv(quiet) -> _ => self.send_hints(),
                recv(looks) -> _ => if self.client.process.is_some_and(Process::is_gone) {
                    return End::Process;
                },
            }
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        match self.result_of(request) {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    fn note(&mut self, notification: Notification) {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document }) = params(notification) {
                    self.open(&text_document.uri, text_document.version, text_document.text);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(params) = params::<DidChangeTextDocumentParams>(notification) {
                    // Each change has the whole text, so only the last change counts.
                    if let Some(change) = params.content_changes.into_iter().next_back() {
                        let document = params.text_document;
                        self.open(&document.uri, document.version, change.text);
                    }
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = params(notification) {
                    self.documents.open.remove(text_document.uri.as_str());
                    self.changed.remove(text_document.uri.as_str());
                    self.exceeding.remove(text_document.uri.as_str());
                    self.publish(text_document.uri, Vec::new(), None);
                }
            }
            DidChangeConfiguration::METHOD => {
                if let Some(DidChangeConfigurationParams { settings }) = params(notification)
                    // Some clients only announce that settings have changed, without the settings.
                    && !settings.is_null()
                {
                    self.settings = Settings::read(&settings);
                    self.send_settings();
                    self.show_mistakes();
                    self.refresh();
                }
            }
            DidChangeWorkspaceFolders::METHOD => {
                if let Some(DidChangeWorkspaceFoldersParams { event }) = params(notification) {
                    self.client.change_folders(event);
                    self.send_folders();
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, uri: &Uri, version: i32, text: String) {
        let before = self.documents.open.remove(uri.as_str());
        let document = Document::new(uri.as_str(), version, text, before);
        // The client has opened a file without a folder.
        if self.client.folders.is_empty()
            && let Some(folder) = document.path.as_deref().and_then(|path| path.parent())
        {
            self.client.folders.push(folder.to_owned());
            self.send_folders();
        }
        if let Some((state, text)) = document.to_read() {
            let _ = self.texts.send(Text { uri: uri.as_str().to_owned(), state, text });
        }
        self.documents.open.insert(uri.as_str().to_owned(), document);
        self.changed.insert(uri.as_str().to_owned());
    }

    fn set_outline(&mut self, Read { uri, state, outline }: Read) {
        let document = self.documents.open.get(&uri);
        if document.is_some_and(|document| document.set_outline(state, outline)) {
            self.refresh();
        }
    }

    fn show(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
        // A recording that a setting names is reported even if it is not shown.
        let is_named = !self.settings.recordings.is_empty();
        let runs = self.snapshot.runs.iter().filter(|run| run.picked || is_named);
        let mut problems: Vec<String> = runs
            .filter_map(|run| {
                Some(format!(
                    "metaspy: a recording of `{}` cannot be read: {}",
                    run.label,
                    run.problem.as_ref()?
                ))
            })
            .collect();
        if let Selection::Picked(ids) = &self.settings.runs
            && !self.snapshot.runs.is_empty()
        {
            let names = self.snapshot.names();
            let unknown = self.snapshot.unknown(ids);
            problems.extend(
                unknown.map(|id| format!("metaspy: there is no run `{id}`; the runs are {names}")),
            );
        }
        for message in problems {
            self.show_once(MessageType::WARNING, message);
        }
        if self.snapshot.runs.is_empty() {
            let message =
                "metaspy: there is no recording yet; run `cargo metaspy test` in the workspace"
                    .to_owned();
            if self.shown.insert(message.clone()) {
                self.log(MessageType::INFO, message);
            }
        }
        self.refresh();
    }

    /// Shows the mistakes in the settings to the user.
    fn show_mistakes(&mut self) {
        for message in self.settings.mistakes.clone() {
            self.show_once(MessageType::ERROR, message);
        }
    }

    fn show_once(&mut self, typ: MessageType, message: String) {
        if self.shown.insert(message.clone()) {
            self.notify(ShowMessage::METHOD, ShowMessageParams { typ, message });
        }
    }

    fn log(&self, typ: MessageType, message: String) {
        self.notify(LogMessage::METHOD, LogMessageParams { typ, message });
    }

    /// Sends all hints again, and asks the client to repeat its requests.
    fn refresh(&mut self) {
        self.changed.extend(self.documents.open.keys().cloned());
        self.send_hints();
        if self.client.refreshes_lenses {
            self.requests += 1;
            let id = self.requests.into();
            self.send(Request {
                id,
                method: CodeLensRefresh::METHOD.to_owned(),
                params: serde_json::Value::Null,
            });
        }
        self.notify(CHANGED, serde_json::json!({}));
    }

    fn send_hints(&mut self) {
        for uri in std::mem::take(&mut self.changed) {
            let Some(document) = self.documents.open.get(&uri) else { continue };
            let view = self.view(document);
            let exceeded = view.as_ref().and_then(|view| exceeded_by(document, view));
            let mut diagnostics = Vec::new();
            if let Some(view) = &view {
                if self.settings.hints.0 {
                    diagnostics.extend(hints::of(view));
                }
                if self.settings.findings.0 {
                    diagnostics.extend(findings::of(view));
                }
            }
            if let Some(message) = exceeded.filter(|_| !self.exceeding.contains(&uri)) {
                self.exceeding.insert(uri.clone());
                self.log(MessageType::WARNING, message);
            }
            let Some(document) = self.documents.open.get(&uri) else { continue };
            if let Ok(uri) = uri.parse() {
                self.publish(uri, diagnostics, Some(document.version));
            }
        }
    }

    fn view<'a>(&'a self, document: &'a Document) -> Option<View<'a>> {
        View::new(document, &self.documents, &self.snapshot, self.client.columns, &self.settings)
    }

    fn style(&self) -> Style {
        match self.client.style {
            Style::Markdown if self.settings.links.0 => Style::Links,
            style => style,
        }
    }

    fn publish(&self, uri: Uri, diagnostics: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
        self.notify(
            PublishDiagnostics::METHOD,
            PublishDiagnosticsParams { uri, diagnostics, version },
        );
    }

    fn send_folders(&self) {
        let _ = self.reader.send(Command::Folders(self.client.folders.clone()));
    }

    fn send_settings(&self) {
        let _ = self.reader.send(Command::Settings(Box::new(self.settings.clone())));
    }

    fn notify(&self, method: &str, params: impl serde::Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    /// Sends a message. If the client is gone, the wait for its next message reports it.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.messages.send(message.into());
    }
}

/// Describes the bound that a document exceeds, and the older text that answers in its place.
fn exceeded_by(document: &Document, view: &View<'_>) -> Option<String> {
    let bound = document.exceeded()?;
    let path = document.path.as_deref().unwrap_or(Path::new(""));
    let answer = if ptr::eq(document, view.document) {
        "what is behind this bound has no numbers"
    } else {
        "its numbers are those of its last text within this bound"
    };
    Some(format!("metaspy: {} exceeds a bound: {bound}; {answer}", path.display()))
}

/// Parses the parameters of a notification. Wrong types are ignored, because a notification has no
/// answer.
fn params<P: DeserializeOwned>(notification: Notification) -> Option<P> {
    serde_json::from_value(notification.params).ok()
}
