// The extension in Node, with a stand-in for the API of VS Code that writes down what is shown. The server is the real one.
// node stand_in.js EXTENSION FOLDER RESULT
"use strict";

const fs = require("fs");
const Module = require("module");
const path = require("path");
const { pathToFileURL } = require("url");

const [extension, folder, result] = process.argv.slice(2);
const file = path.join(folder, "src", "lib.rs");
const seen = { messages: [], commands: [] };
const providers = {};
const hints = new Map();

class Place {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = a instanceof Place ? [a, b] : [new Place(a, b), new Place(c, d)];
  }
}
class Emitter {
  constructor() {
    this.listeners = [];
    this.event = (listener) => this.listeners.push(listener) && { dispose() {} };
  }
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose() {}
}
const uri = (text) => ({ scheme: text.split(":")[0], toString: () => text, fsPath: text.replace("file://", "") });
const plain = (names) => function (...values) {
  names.forEach((name, at) => (this[name] = values[at]));
};
const disposable = () => ({ dispose() {} });

const text = fs.readFileSync(file, "utf8");
const document = { languageId: "rust", version: 1, uri: uri(pathToFileURL(file).href), getText: () => text };
const drawn = new Map();
const editor = { document, setDecorations: (type, ranges) => drawn.set(type, ranges), selection: { active: new Place(0, 0) } };
const register = (name) => (...all) => {
  providers[name] = all.find((it) => typeof it === "object" && Object.keys(it).some((key) => key.startsWith("provide")));
  return disposable();
};

const vscode = {
  Position: Place,
  Range,
  EventEmitter: Emitter,
  Uri: { parse: uri, file: (of) => uri(pathToFileURL(of).href) },
  Hover: plain(["contents", "range"]),
  MarkdownString: plain(["value"]),
  CodeLens: plain(["range", "command"]),
  DocumentSymbol: plain(["name", "detail", "kind", "range", "selectionRange"]),
  Diagnostic: plain(["range", "message", "severity"]),
  ThemeColor: plain(["id"]),
  FileDecoration: plain(["badge", "tooltip", "color"]),
  OverviewRulerLane: { Right: 4 },
  StatusBarAlignment: { Left: 1 },
  window: {
    visibleTextEditors: [editor],
    activeTextEditor: editor,
    createOutputChannel: () => ({ appendLine: (line) => seen.messages.push(line), dispose() {} }),
    createStatusBarItem: () => (seen.status = { show() {}, dispose() {} }),
    createTextEditorDecorationType: (options) => ({ options, dispose() {} }),
    showErrorMessage: (message) => seen.messages.push(message),
    showWarningMessage: (message) => seen.messages.push(message),
    showQuickPick: async (items) => ((seen.picks = items), undefined),
    onDidChangeVisibleTextEditors: disposable,
    registerFileDecorationProvider: (provider) => ((providers.files = provider), disposable()),
  },
  workspace: {
    workspaceFolders: [{ uri: uri(pathToFileURL(folder).href), name: "library" }],
    textDocuments: [document],
    getConfiguration: () => ({ get: (name, otherwise) => ({ metric: "calls" })[name] ?? otherwise }),
    onDidOpenTextDocument: disposable,
    onDidChangeTextDocument: disposable,
    onDidCloseTextDocument: disposable,
    onDidChangeConfiguration: disposable,
    onDidChangeWorkspaceFolders: disposable,
  },
  languages: {
    createDiagnosticCollection: () => ({ set: (of, all) => hints.set(of.toString(), all), dispose() {} }),
    registerHoverProvider: register("hover"),
    registerCodeLensProvider: register("lenses"),
    registerInlayHintsProvider: register("inlays"),
    registerDocumentSymbolProvider: register("symbols"),
  },
  commands: { registerCommand: (name, run) => seen.commands.push(name) && (providers[name] = run) && disposable() },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const { activate, deactivate } = require(path.join(extension, "src", "extension.js"));

async function until(what, condition) {
  for (let tries = 0; tries < 3000; tries += 1) {
    if (condition()) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain for ${what}`);
}

async function journey() {
  await activate({ subscriptions: [] });
  const marks = () => [...drawn].flatMap(([type, ranges]) => ranges.map(({ range }) => [range.start.line + 1, type.options]));
  await until("decorations", () => marks().length > 0);
  await until("hints", () => hints.get(document.uri.toString())?.length > 0);
  seen.rulers = marks().sort(([a], [b]) => a - b).map(([line, { overviewRulerColor }]) => [line, overviewRulerColor?.id ?? null]);
  seen.pictures = marks().every(([, { gutterIconPath }]) => gutterIconPath.toString().startsWith("data:image/svg+xml;base64,"));
  seen.hints = hints.get(document.uri.toString()).map(({ range, message }) => [range.start.line + 1, message]);
  const line = text.split("\n").findIndex((it) => it.includes("shape.area()"));
  const call = new Place(line, text.split("\n")[line].indexOf("area()"));
  seen.hover = (await providers.hover.provideHover(document, call)).contents.value;
  seen.nothing = await providers.hover.provideHover(document, new Place(0, 0));
  seen.lenses = (await providers.lenses.provideCodeLenses(document)).map(({ command }) => command.title);
  seen.symbols = (await providers.symbols.provideDocumentSymbols(document)).map(({ name, kind }) => [name, kind]);
  seen.file = providers.files.provideFileDecoration(document.uri);
  await providers["metaspy.callers"](document.uri, new Place(9, 8));
  seen.callers = seen.picks.map(({ label, description }) => [label, description]);
  await providers["metaspy.chooseRuns"]();
  seen.runs = seen.picks.map(({ id }) => id);
  seen.status = seen.status.text;
  await deactivate();
}

journey()
  .catch((error) => (seen.problem = error.stack))
  .then(() => fs.writeFileSync(result, JSON.stringify(seen)))
  .then(() => process.exit(0));
