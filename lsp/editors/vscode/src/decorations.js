// What the protocol does not have: bars in the gutter, marks in the overview ruler, heat in the explorer.
"use strict";

const vscode = require("vscode");

// By class: few, several, many.
const COLOURS = ["#8a8a8a", "#3794ff", "#d7a100", "#e0443e"];
const THEME = ["disabledForeground", "charts.blue", "charts.yellow", "charts.red"];
const LEVELS = 6;

/**
 * A bar of 1 to 6, as a picture for the gutter. Zero is an outline.
 * @param {number} level
 * @param {string} colour
 */
function bar(level, colour) {
  const height = (14 * level) / LEVELS;
  const inner =
    level === 0
      ? `<rect x="5.5" y="12.5" width="4" height="2" fill="none" stroke="${colour}"/>`
      : `<rect x="5" y="${15 - height}" width="5" height="${height}" fill="${colour}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${inner}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

class Decorations {
  constructor() {
    /** @type {Map<string, vscode.TextEditorDecorationType>} */
    this.types = new Map();
  }

  /**
   * The type for a class and a level. There are at most as many as pictures.
   * @param {number} heatClass
   * @param {number} level
   * @param {boolean} isStale
   */
  type(heatClass, level, isStale) {
    const key = `${heatClass} ${level} ${isStale}`;
    let type = this.types.get(key);
    if (!type) {
      const colour = isStale ? COLOURS[0] : COLOURS[heatClass];
      type = vscode.window.createTextEditorDecorationType({
        gutterIconPath: bar(level, colour),
        gutterIconSize: "contain",
        overviewRulerColor: heatClass > 0 && !isStale ? new vscode.ThemeColor(THEME[heatClass]) : undefined,
        overviewRulerLane: vscode.OverviewRulerLane.Right,
        opacity: isStale ? "0.7" : undefined,
      });
      this.types.set(key, type);
    }
    return type;
  }

  /**
   * Draws the heat of a document; null removes it.
   * @param {vscode.TextEditor} editor
   * @param {any} heat
   */
  draw(editor, heat) {
    /** @type {Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>} */
    const all = new Map();
    for (const type of this.types.values()) {
      all.set(type, []);
    }
    for (const of of heat?.functions ?? []) {
      const type = this.type(of.class, of.level, of.stale);
      const start = new vscode.Position(of.range.start.line, of.range.start.character);
      const end = new vscode.Position(of.range.end.line, of.range.end.character);
      all.set(type, [...(all.get(type) ?? []), { range: new vscode.Range(start, end) }]);
    }
    for (const [type, ranges] of all) {
      editor.setDecorations(type, ranges);
    }
  }

  dispose() {
    for (const type of this.types.values()) {
      type.dispose();
    }
    this.types.clear();
  }
}

/** The heat of files in the explorer. @implements {vscode.FileDecorationProvider} */
class FileHeat {
  constructor() {
    /** @type {Map<string, any>} */
    this.files = new Map();
    /** @type {vscode.EventEmitter<vscode.Uri[]>} */
    this.changed = new vscode.EventEmitter();
    this.onDidChangeFileDecorations = this.changed.event;
  }

  /** @param {any[]} files */
  show(files) {
    const before = [...this.files.keys()];
    this.files = new Map(files.map((file) => [vscode.Uri.parse(file.uri).toString(), file]));
    const all = new Set([...before, ...this.files.keys()]);
    this.changed.fire([...all].map((uri) => vscode.Uri.parse(uri)));
  }

  /** @param {vscode.Uri} uri */
  provideFileDecoration(uri) {
    const file = this.files.get(uri.toString());
    if (!file) {
      return undefined;
    }
    const badge = ["·", "▁", "▂", "▃", "▄", "▅", "▆"][file.level];
    const colour = new vscode.ThemeColor(THEME[file.class]);
    return new vscode.FileDecoration(badge, `metaspy: ${file.text}`, colour);
  }
}

module.exports = { Decorations, FileHeat };
