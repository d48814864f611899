// A client of `metaspy lsp`: messages over its standard input and output. It has no dependencies, so the extension
// needs no build.
"use strict";

const { spawn } = require("child_process");

/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void }} Waiting */

class Client {
  /**
   * @param {string} program
   * @param {(method: string, params: any) => void} notified
   * @param {(message: string) => void} failed
   */
  constructor(program, notified, failed) {
    this.notified = notified;
    this.failed = failed;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    this.next = 1;
    this.isOver = false;
    /** @type {Buffer} */
    this.received = Buffer.alloc(0);
    this.server = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "pipe"] });
    this.server.stdout.on("data", (bytes) => this.receive(bytes));
    this.server.stderr.on("data", (bytes) => failed(String(bytes)));
    // A write to a server that has ended is reported by its end.
    this.server.stdin.on("error", () => {});
    this.server.on("error", (error) => this.end(`${program} cannot be started: ${error.message}`));
    this.server.on("exit", (code) => this.end(`metaspy lsp ended (${code})`));
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    if (this.isOver) {
      return Promise.resolve(null);
    }
    const id = this.next++;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  notify(method, params) {
    this.send({ method, params });
  }

  /** Ends the server. */
  async stop() {
    const ended = this.request("shutdown", null);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000))]);
    this.isOver = true;
    this.send({ method: "exit", params: null });
    this.server.stdin.end();
  }

  /** @param {object} message */
  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.server.stdin.write(body);
  }

  /** @param {Buffer} bytes */
  receive(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const header = this.received.indexOf("\r\n\r\n");
      const length = /Content-Length: (\d+)/i.exec(this.received.toString("latin1", 0, Math.max(header, 0)));
      if (header < 0 || !length) {
        return;
      }
      const begin = header + 4;
      const end = begin + Number(length[1]);
      if (this.received.length < end) {
        return;
      }
      const message = JSON.parse(this.received.toString("utf8", begin, end));
      this.received = this.received.subarray(end);
      this.handle(message);
    }
  }

  /** @param {any} message */
  handle(message) {
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) {
        waiting?.reject(new Error(message.error.message));
      } else {
        waiting?.resolve(message.result);
      }
      return;
    }
    if (message.id !== undefined) {
      this.send({ id: message.id, result: null });
    }
    this.notified(message.method, message.params);
  }

  /** @param {string} why */
  end(why) {
    if (!this.isOver) {
      this.isOver = true;
      this.failed(why);
    }
    for (const waiting of this.waiting.values()) {
      waiting.resolve(null);
    }
    this.waiting.clear();
  }
}

module.exports = { Client };
