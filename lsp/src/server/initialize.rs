//! Start of the protocol: the capabilities of the client and of the server.

use std::path::PathBuf;

use lsp_server::Connection;
use lsp_types::{
    CodeLensOptions, ExecuteCommandOptions, HoverProviderCapability, InitializeParams,
    InitializeResult, MarkupKind, OneOf, PositionEncodingKind, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    WorkspaceFoldersChangeEvent, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use metaspy_reader::platform::process::start_of;
use serde_json::Value;

use super::commands::COMMANDS;
use crate::markdown::Style;
use crate::settings::Settings;
use crate::source::Columns;
use crate::uri;

/// Client with the facts of its `initialize` request.
#[derive(Debug)]
pub struct Client {
    /// Open folders.
    pub folders: Vec<PathBuf>,
    /// Initial settings.
    pub settings: Settings,
    /// Unit of columns.
    pub columns: Columns,
    /// Format of hovers. Links also depend on a setting.
    pub style: Style,
    /// Process of the client; `None` if it is not known.
    pub process: Option<Process>,
    /// True if the client can be asked to request lenses again.
    pub refreshes_lenses: bool,
}

/// Process with its start time, which distinguishes it from a later process with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    id: u32,
    start: u64,
}

impl Process {
    /// Returns the process with this number. On systems other than Unix, other processes are not
    /// known.
    fn new(id: u32) -> Option<Process> {
        let start = start_of(id).filter(|_| cfg!(unix))?;
        Some(Process { id, start })
    }

    /// Returns true if the process has ended.
    pub fn is_gone(self) -> bool {
        start_of(self.id) != Some(self.start)
    }
}

impl Client {
    /// Answers `initialize`. Returns `None` if the client is gone, or if its first message is not
    /// `initialize`.
    pub fn meet(connection: &Connection) -> Option<Client> {
        let (id, params) = connection.initialize_start().ok()?;
        // Clients differ in details, so unreadable options have their defaults.
        let options = params.get("initializationOptions").cloned().unwrap_or(Value::Null);
        let client = Client::new(&serde_json::from_value(params).unwrap_or_default(), &options);
        let info =
            ServerInfo { name: "metaspy".into(), version: Some(env!("CARGO_PKG_VERSION").into()) };
        let result =
            InitializeResult { capabilities: client.capabilities(), server_info: Some(info) };
        connection.initialize_finish(id, serde_json::to_value(result).ok()?).ok()?;
        Some(client)
    }

    fn new(params: &InitializeParams, options: &Value) -> Client {
        let folders = params
            .workspace_folders
            .iter()
            .flatten()
            .filter_map(|folder| uri::to_path(folder.uri.as_str()));
        let mut folders: Vec<PathBuf> = folders.collect();
        #[allow(deprecated, reason = "older clients send nothing else")]
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().and_then(|root| uri::to_path(root.as_str())));
        }
        let capabilities = &params.capabilities;
        let encodings =
            capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
        let has_utf8 = encodings.is_some_and(|all| all.contains(&PositionEncodingKind::UTF8));
        let hover = capabilities.text_document.as_ref().and_then(|text| text.hover.as_ref());
        let formats = hover.and_then(|hover| hover.content_format.as_ref());
        let has_markdown = formats.is_some_and(|formats| formats.contains(&MarkupKind::Markdown));
        let lenses =
            capabilities.workspace.as_ref().and_then(|workspace| workspace.code_lens.as_ref());
        Client {
            folders,
            settings: Settings::read(options),
            columns: if has_utf8 { Columns::Utf8 } else { Columns::Utf16 },
            style: if has_markdown { Style::Markdown } else { Style::Plain },
            process: params.process_id.and_then(Process::new),
            refreshes_lenses: lenses.and_then(|lenses| lenses.refresh_support).unwrap_or(false),
        }
    }

    /// Adds and removes folders.
    pub(crate) fn change_folders(&mut self, event: WorkspaceFoldersChangeEvent) {
        let path = |folder: lsp_types::WorkspaceFolder| uri::to_path(folder.uri.as_str());
        let removed: Vec<PathBuf> = event.removed.into_iter().filter_map(path).collect();
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(event.added.into_iter().filter_map(path));
    }

    fn capabilities(&self) -> ServerCapabilities {
        let encoding = match self.columns {
            Columns::Utf8 => PositionEncodingKind::UTF8,
            Columns::Utf16 => PositionEncodingKind::UTF16,
        };
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            ..TextDocumentSyncOptions::default()
        };
        let folders = WorkspaceFoldersServerCapabilities {
            supported: Some(true),
            change_notifications: Some(OneOf::Left(true)),
        };
        let commands = COMMANDS.map(str::to_owned).to_vec();
        ServerCapabilities {
            position_encoding: Some(encoding),
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            inlay_hint_provider: Some(OneOf::Left(true)),
            document_symbol_provider: Some(OneOf::Left(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands,
                ..ExecuteCommandOptions::default()
            }),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(folders),
                file_operations: None,
            }),
            ..ServerCapabilities::default()
        }
    }
}
