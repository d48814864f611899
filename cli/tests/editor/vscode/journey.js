// An extension that uses VS Code as a user does, and writes down what it shows.
"use strict";

const fs = require("fs");
const vscode = require("vscode");

const uri = vscode.Uri.file(process.env.METASPY_TEST_FILE);
const ask = (command, ...rest) => vscode.commands.executeCommand(command, ...rest);

/** The result of `look`, as soon as there is one. */
async function until(what, look) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look();
    if (found) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Each lens: the line and the text. */
async function lenses() {
  const all = await ask("vscode.executeCodeLensProvider", uri, 100);
  return all.map((lens) => [lens.range.start.line + 1, lens.command.title]).sort(([a], [b]) => a - b);
}

async function journey(seen) {
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  seen.lenses = await until("lenses", async () => (await lenses()).some(([, text]) => text.includes("calls")) && lenses());

  const call = document.positionAt(document.getText().indexOf("area()).sum"));
  const hovers = await ask("vscode.executeHoverProvider", uri, call);
  seen.hover = hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n");
  seen.nothing = await ask("vscode.executeHoverProvider", uri, new vscode.Position(0, 0));
  const all = new vscode.Range(0, 0, document.lineCount, 0);
  const inlays = await ask("vscode.executeInlayHintProvider", uri, all);
  seen.inlays = inlays.map(({ label, position }) => [position.line + 1, label]);
  // The server sends them by itself, after an answer or before it.
  const hints = await until("hints", async () => {
    // Findings have a code.
    const found = vscode.languages.getDiagnostics(uri).filter(({ code }) => !code);
    return found.length > 0 && found;
  });
  seen.hints = hints.map(({ range, message, severity }) => [range.start.line + 1, message.split(" (")[0], severity]);
  seen.symbols = (await ask("vscode.executeDocumentSymbolProvider", uri)).map(({ name, kind }) => [name, kind]);

  const settings = vscode.workspace.getConfiguration("metaspy");
  await settings.update("metric", "self-time", vscode.ConfigurationTarget.Global);
  seen.by_time = await until("times", async () => {
    const titles = (await lenses()).map(([, title]) => title);
    return titles.some((title) => title.includes("self")) && titles;
  });

  ask("metaspy.callers", uri, document.positionAt(document.getText().indexOf("fn area(&self) -> u64 {") + 3));
  seen.caller = await until("the caller", async () => {
    await ask("workbench.action.acceptSelectedQuickOpenItem");
    const { line } = vscode.window.activeTextEditor.selection.active;
    return line > 0 && line + 1;
  });

  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "// above\n"));
  seen.moved = await until("the edit", async () => (await lenses())[0][0] > 10 && (await lenses())[0][0]);

  ask("metaspy.blueprint");
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const picture = await until("the picture", async () => {
    await ask("workbench.action.acceptSelectedQuickOpenItem");
    return tabs().find((tab) => tab.input instanceof vscode.TabInputWebview);
  });
  seen.picture = picture.label;
}

exports.activate = async () => {
  const seen = {};
  await journey(seen).catch((error) => (seen.problem = error.stack));
  const result = process.env.METASPY_TEST_RESULT;
  fs.writeFileSync(`${result}.part`, JSON.stringify(seen));
  fs.renameSync(`${result}.part`, result);
};
