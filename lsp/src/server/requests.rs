//! Requests of the client and their results.

use lsp_server::{ErrorCode, Request};
use lsp_types::request::{
    CodeLensRequest, DocumentSymbolRequest, ExecuteCommand, HoverRequest, InlayHintRequest,
    Request as _,
};
use lsp_types::{
    ExecuteCommandParams, Hover, HoverContents, MarkupContent, MarkupKind, Position,
    TextDocumentIdentifier,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Server;
use crate::markdown::Style;
use crate::settings::Flag;
use crate::views::View;
use crate::views::{edges, files, heat, hover, inlays, lenses, symbols};

/// Request for the heat of a document.
const HEAT: &str = "metaspy/heat";
/// Request for the heat of all files.
const FILES: &str = "metaspy/files";
/// Request for the callers and callees of a function.
const EDGES: &str = "metaspy/edges";
/// Request for the list of runs.
const RUNS: &str = "metaspy/runs";

/// Parameters that all requests about a document share.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    text_document: TextDocumentIdentifier,
    #[serde(default)]
    position: Position,
}

type Fault = (ErrorCode, String);

impl Server {
    /// Computes the result of a request.
    pub(crate) fn result_of(&mut self, request: Request) -> Result<Value, Fault> {
        match request.method.as_str() {
            HoverRequest::METHOD => self.about(
                request,
                |settings| settings.hovers,
                |server, view, position| {
                    let byte = view.document.lines.byte(position, view.columns)?;
                    let style = server.style();
                    let (value, bytes) = hover::at(view, byte, style)?;
                    let kind = if style == Style::Plain {
                        MarkupKind::PlainText
                    } else {
                        MarkupKind::Markdown
                    };
                    let contents = HoverContents::Markup(MarkupContent { kind, value });
                    Some(json!(Hover { contents, range: Some(view.range(&bytes)) }))
                },
            ),
            CodeLensRequest::METHOD => self.about(
                request,
                |settings| settings.lenses,
                |_, view, _| Some(json!(lenses::of(view))),
            ),
            InlayHintRequest::METHOD => self.about(
                request,
                |settings| settings.inlays,
                |_, view, _| Some(json!(inlays::of(view))),
            ),
            DocumentSymbolRequest::METHOD => self.about(
                request,
                |settings| settings.symbols,
                |_, view, _| Some(json!(symbols::of(view))),
            ),
            HEAT => self.about(request, |_| Flag(true), |_, view, _| Some(json!(heat::of(view)))),
            EDGES => self.about(
                request,
                |_| Flag(true),
                |_, view, position| {
                    let byte = view.document.lines.byte(position, view.columns)?;
                    Some(json!(edges::at(view, byte)))
                },
            ),
            FILES => Ok(json!(files::of(&self.snapshot, &self.settings))),
            RUNS => Ok(json!({ "selection": self.settings.runs, "runs": self.snapshot.runs })),
            ExecuteCommand::METHOD => {
                let ExecuteCommandParams { command, arguments, .. } = read(request)?;
                self.execute(&command, arguments)
                    .map_err(|message| (ErrorCode::InvalidParams, message))
            }
            method => Err((ErrorCode::MethodNotFound, format!("metaspy has no request {method}"))),
        }
    }

    /// Computes the result of a request about an open document. It is null without recorded
    /// numbers, or if a setting is off.
    fn about(
        &self,
        request: Request,
        is_on: impl Fn(&crate::settings::Settings) -> Flag,
        result: impl Fn(&Server, &View<'_>, Position) -> Option<Value>,
    ) -> Result<Value, Fault> {
        let About { text_document, position } = read(request)?;
        let document =
            self.documents.open.get(text_document.uri.as_str()).filter(|_| is_on(&self.settings).0);
        let view = document.and_then(|document| self.view(document));
        Ok(view.and_then(|view| result(self, &view, position)).unwrap_or(Value::Null))
    }
}

fn read<P: DeserializeOwned>(request: Request) -> Result<P, Fault> {
    let method = request.method;
    serde_json::from_value(request.params)
        .map_err(|error| (ErrorCode::InvalidParams, format!("{method}: {error}")))
}
