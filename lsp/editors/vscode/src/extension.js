// Starts `metaspy lsp` for the workspace, and shows what it answers.
"use strict";

const fs = require("fs");
const os = require("os");
const path = require("path");
const { execFile } = require("child_process");
const vscode = require("vscode");
const { Client } = require("./client");
const { Decorations, FileHeat } = require("./decorations");

// The program that made this extension.
const INSTALLED = "METASPY_PROGRAM";
const METRICS = [
  "calls",
  "self-time",
  "total-time",
  "time-per-call",
  "receivers",
  "allocations",
  "memory",
  "instructions",
  "allocations-per-call",
  "memory-per-call",
  "instructions-per-call",
];
const RUST = { language: "rust", scheme: "file" };

/** @type {Client | undefined} */
let client;

/** @param {any} range */
function toRange(range) {
  const { start, end } = range;
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** @param {vscode.TextDocument} document */
function about(document) {
  return { textDocument: { uri: document.uri.toString() } };
}

/** @param {vscode.TextDocument} document @param {vscode.Position} position */
function aboutPlace(document, position) {
  return { ...about(document), position: { line: position.line, character: position.character } };
}

function settings() {
  const all = vscode.workspace.getConfiguration("metaspy");
  const flags = ["lenses", "hints", "findings", "inlays", "hovers", "symbols"];
  const names = ["metric", "scale", "runs", "recordings", "targets", ...flags];
  return Object.fromEntries(names.map((name) => [name, all.get(name)]));
}

function program() {
  const chosen = vscode.workspace.getConfiguration("metaspy").get("program", "");
  return chosen || (fs.existsSync(INSTALLED) ? INSTALLED : "metaspy");
}

function folders() {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.map((folder) => ({ uri: folder.uri.toString(), name: folder.name }));
}

/** @param {vscode.TextDocument} document */
function isRust(document) {
  return document.languageId === "rust" && document.uri.scheme === "file";
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const log = vscode.window.createOutputChannel("metaspy");
  const decorations = new Decorations();
  const fileHeat = new FileHeat();
  const diagnostics = vscode.languages.createDiagnosticCollection("metaspy");
  const status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  status.command = "metaspy.chooseRuns";
  /** @type {vscode.EventEmitter<void>} */
  const changed = new vscode.EventEmitter();

  /** @param {string} method @param {any} params */
  const notified = (method, params) => {
    if (method === "metaspy/changed") {
      changed.fire();
      refresh();
    } else if (method === "textDocument/publishDiagnostics") {
      diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
    } else if (method === "window/showMessage") {
      vscode.window.showWarningMessage(params.message);
    } else if (method === "window/logMessage") {
      log.appendLine(params.message);
    }
  };
  const server = new Client(program(), notified, (message) => {
    log.appendLine(message);
    if (server.isOver) {
      vscode.window.showErrorMessage(`${message}. Is metaspy installed (cargo install metaspy-cli)?`);
    }
  });
  client = server;

  /** @param {any} sent */
  function toDiagnostic(sent) {
    // The numbers of the protocol begin with 1, and those of the editor with 0.
    const diagnostic = new vscode.Diagnostic(toRange(sent.range), sent.message, sent.severity - 1);
    diagnostic.tags = sent.tags;
    diagnostic.code = sent.code;
    diagnostic.source = sent.source;
    return diagnostic;
  }

  async function refresh() {
    for (const editor of vscode.window.visibleTextEditors) {
      if (isRust(editor.document)) {
        decorations.draw(editor, await server.request("metaspy/heat", about(editor.document)));
      }
    }
    fileHeat.show((await server.request("metaspy/files", {})) ?? []);
    const runs = await picked();
    status.text = runs.length === 0 ? "metaspy: no run" : `metaspy: ${runs.map((run) => run.id).join(" + ")}`;
    status.tooltip = runs.map((run) => `${run.label}${run.live ? " (running)" : ""}`).join("\n");
    status.show();
  }

  /** @returns {Promise<any[]>} */
  async function picked() {
    const result = await server.request("metaspy/runs", {});
    return (result?.runs ?? []).filter((/** @type {any} */ run) => run.picked);
  }

  /** @param {vscode.TextDocument} document */
  const opened = (document) => {
    if (isRust(document)) {
      const { version } = document;
      const text = { uri: document.uri.toString(), languageId: "rust", version, text: document.getText() };
      server.notify("textDocument/didOpen", { textDocument: text });
    }
  };

  await server.request("initialize", {
    processId: process.pid,
    rootUri: folders()[0]?.uri ?? null,
    workspaceFolders: folders(),
    initializationOptions: settings(),
    capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } }, workspace: { workspaceFolders: true } },
  });
  server.notify("initialized", {});
  vscode.workspace.textDocuments.forEach(opened);

  const execute = (/** @type {string} */ command, /** @type {any[]} */ args) =>
    server.request("workspace/executeCommand", { command, arguments: args }).catch((error) => {
      vscode.window.showErrorMessage(error.message);
    });

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let quiet;
  context.subscriptions.push(
    log,
    decorations,
    diagnostics,
    status,
    changed,
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (isRust(document)) {
        const textDocument = { uri: document.uri.toString(), version: document.version };
        const contentChanges = [{ text: document.getText() }];
        server.notify("textDocument/didChange", { textDocument, contentChanges });
        clearTimeout(quiet);
        quiet = setTimeout(refresh, 300);
      }
    }),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (isRust(document)) {
        server.notify("textDocument/didClose", about(document));
      }
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("metaspy")) {
        server.notify("workspace/didChangeConfiguration", { settings: { metaspy: settings() } });
      }
    }),
    vscode.workspace.onDidChangeWorkspaceFolders((event) => {
      const list = (/** @type {readonly vscode.WorkspaceFolder[]} */ all) =>
        all.map((folder) => ({ uri: folder.uri.toString(), name: folder.name }));
      const change = { added: list(event.added), removed: list(event.removed) };
      server.notify("workspace/didChangeWorkspaceFolders", { event: change });
    }),
    vscode.window.onDidChangeVisibleTextEditors(refresh),
    vscode.window.registerFileDecorationProvider(fileHeat),
    vscode.languages.registerHoverProvider(RUST, {
      async provideHover(document, position) {
        const found = await server.request("textDocument/hover", aboutPlace(document, position));
        return found ? new vscode.Hover(new vscode.MarkdownString(found.contents.value), toRange(found.range)) : null;
      },
    }),
    vscode.languages.registerCodeLensProvider(RUST, {
      onDidChangeCodeLenses: changed.event,
      async provideCodeLenses(document) {
        const lenses = (await server.request("textDocument/codeLens", about(document))) ?? [];
        return lenses.map((/** @type {any} */ lens) => {
          const range = toRange(lens.range);
          const args = [document.uri, range.start];
          return new vscode.CodeLens(range, { title: lens.command.title, command: "metaspy.callers", arguments: args });
        });
      },
    }),
    vscode.languages.registerInlayHintsProvider(RUST, {
      onDidChangeInlayHints: changed.event,
      async provideInlayHints(document, { start, end }) {
        const within = { ...about(document), range: { start, end } };
        const hints = (await server.request("textDocument/inlayHint", within)) ?? [];
        return hints.map((/** @type {any} */ hint) => {
          const at = new vscode.Position(hint.position.line, hint.position.character);
          const shown = new vscode.InlayHint(at, hint.label, vscode.InlayHintKind.Type);
          shown.tooltip = hint.tooltip;
          return shown;
        });
      },
    }),
    vscode.languages.registerDocumentSymbolProvider(
      RUST,
      {
        async provideDocumentSymbols(document) {
          const symbols = (await server.request("textDocument/documentSymbol", about(document))) ?? [];
          return symbols.map((/** @type {any} */ symbol) => {
            const [whole, name] = [toRange(symbol.range), toRange(symbol.selectionRange)];
            // The protocol counts kinds from 1.
            return new vscode.DocumentSymbol(symbol.name, symbol.detail, symbol.kind - 1, whole, name);
          });
        },
      },
      { label: "metaspy" },
    ),
    vscode.commands.registerCommand("metaspy.chooseRuns", async () => {
      const { runs } = (await server.request("metaspy/runs", {})) ?? { runs: [] };
      const items = runs.map((/** @type {any} */ run) => {
        const many = run.recordings.length;
        const description = `${many} process${many === 1 ? "" : "es"}${run.live ? ", running" : ""}`;
        return { label: run.label, description, detail: run.problem ?? undefined, id: run.id, picked: run.picked };
      });
      const words = [
        { label: "The newest run", id: "newest", picked: false },
        { label: "All runs, as one", id: "all", picked: false },
      ];
      const options = { canPickMany: /** @type {true} */ (true), title: "Runs to show" };
      /** @type {(vscode.QuickPickItem & { id: string })[]} */
      const all = [...words, ...items];
      const chosen = await vscode.window.showQuickPick(all, options);
      if (chosen && chosen.length > 0) {
        const word = words.find((word) => chosen.includes(word));
        await execute("metaspy.pick", word ? [word.id] : chosen.map((item) => item.id));
      }
    }),
    vscode.commands.registerCommand("metaspy.chooseMetric", async () => {
      const metric = await vscode.window.showQuickPick(METRICS, { title: "Metric of the heat" });
      if (metric) {
        await execute("metaspy.metric", [metric]);
      }
    }),
    vscode.commands.registerCommand("metaspy.emptyRuns", () => execute("metaspy.empty", [])),
    vscode.commands.registerCommand("metaspy.callers", async (uri, position) => {
      const editor = vscode.window.activeTextEditor;
      const at = position ?? editor?.selection.active;
      const of = uri ?? editor?.document.uri;
      if (!of || !at) {
        return;
      }
      const place = { textDocument: { uri: of.toString() }, position: { line: at.line, character: at.character } };
      const edges = (await server.request("metaspy/edges", place)) ?? [];
      if (edges.length === 0) {
        vscode.window.showInformationMessage("No callers were recorded: run cargo metaspy test --timed");
        return;
      }
      await choose(edges.map((/** @type {any} */ edge) => ({
        label: `${edge.direction === "caller" ? "$(arrow-left)" : "$(arrow-right)"} ${edge.name ?? "code without hooks"}`,
        description: `${edge.calls} calls`,
        uri: edge.uri,
        range: edge.range,
      })));
    }),
    vscode.commands.registerCommand("metaspy.hot", async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor) {
        const heat = await server.request("metaspy/heat", about(editor.document));
        const functions = [...(heat?.functions ?? [])].sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
        const uri = editor.document.uri.toString();
        await choose(functions.map((of) => ({ label: of.name, description: of.text, uri, range: of.range })));
      }
    }),
    vscode.commands.registerCommand("metaspy.blueprint", async () => {
      const kind = await vscode.window.showQuickPick(["structural", "behavioural", "coverage"], { title: "Picture" });
      const files = (await picked()).flatMap((run) => run.recordings);
      if (kind && files.length > 0) {
        const page = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "metaspy-")), `${kind}.html`);
        await metaspy(["blueprint", kind, ...files, "--html", page]);
        const options = { enableScripts: true, retainContextWhenHidden: true };
        const panel = vscode.window.createWebviewPanel("metaspy.blueprint", kind, vscode.ViewColumn.Active, options);
        panel.webview.html = fs.readFileSync(page, "utf8");
        fs.rmSync(path.dirname(page), { recursive: true });
      }
    }),
    vscode.commands.registerCommand("metaspy.crawler", async () => {
      const files = (await picked()).flatMap((run) => run.recordings);
      if (files.length > 0) {
        vscode.window.createTerminal({ name: "metaspy", shellPath: program(), shellArgs: ["open", ...files] }).show();
      }
    }),
  );

  /** @param {any[]} items */
  async function choose(items) {
    const item = await vscode.window.showQuickPick(items);
    if (item?.uri) {
      const selection = toRange(item.range);
      await vscode.window.showTextDocument(vscode.Uri.parse(item.uri), { selection });
    }
  }

  /** @param {string[]} args @returns {Promise<void>} */
  function metaspy(args) {
    return new Promise((resolve, reject) => {
      execFile(program(), args, (error, _, said) => {
        if (error) {
          vscode.window.showErrorMessage(said || error.message);
          reject(error);
        } else {
          resolve();
        }
      });
    });
  }

  await refresh();
  return { server, decorations, fileHeat };
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
