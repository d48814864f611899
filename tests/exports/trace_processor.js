// Opens a trace with Perfetto's trace processor, and prints the rows of each query as a line of JSON:
//     node trace_processor.js FOLDER TRACE QUERY...
// The folder is that of Perfetto's user interface. Its engine is the trace processor as WebAssembly, in a web worker.
const fs = require("fs");
const path = require("path");

const [folder, trace, ...queries] = process.argv.slice(2);

// Protocol buffers, as far as requests and replies need them: protos/perfetto/trace_processor/trace_processor.proto.
const [APPEND_TRACE, FINALIZE_TRACE, QUERY] = [1, 2, 3];

function varint(value) {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function number(field, value) {
  return Buffer.from([...varint(field * 8), ...varint(value)]);
}

function bytes(field, content) {
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);
}

// The numbers at the start of a buffer, up to the first one that is not taken.
function* varints(buffer, cursor = { at: 0 }) {
  while (cursor.at < buffer.length) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[cursor.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    yield Number(BigInt.asIntN(64, value));
  }
}

// The values of a field of a message.
function all(message, wanted) {
  const cursor = { at: 0 };
  const numbers = varints(message, cursor);
  const take = (length) => message.subarray(cursor.at, (cursor.at += length));
  const found = [];
  for (const tag of numbers) {
    const value = { 0: () => numbers.next().value, 1: () => take(8), 2: () => take(numbers.next().value) }[tag & 7]();
    if (tag >> 3 === wanted) found.push(value);
  }
  return found;
}

// The engine loads its WebAssembly with a request that blocks, and replies through a port.
class XMLHttpRequest {
  open(_, name) {
    this.response = fs.readFileSync(path.join(folder, path.basename(name)));
  }
  send() {}
}
const replies = [];
const port = { postMessage: (reply) => replies.push(Buffer.from(reply)) };
const worker = { location: { href: `file://${folder}/` } };
const engine = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
new Function("self", "process", "WorkerGlobalScope", "XMLHttpRequest", engine)(worker, undefined, Object, XMLHttpRequest);
worker.onmessage({ data: port });

let sequence = 0;

// The replies to a request, each a message.
function request(kind, arguments_ = Buffer.alloc(0)) {
  replies.length = 0;
  const message = Buffer.concat([number(1, sequence++), number(2, kind), arguments_]);
  port.onmessage({ data: new Uint8Array(bytes(1, message)) });
  const messages = replies.flatMap((stream) => all(stream, 1));
  const errors = messages.flatMap((it) => [...all(it, 5), ...all(it, 201).flatMap((result) => all(result, 2))]);
  if (errors.length !== 0) throw new Error(errors.join());
  return messages;
}

// The rows of a query.
function rows(query) {
  const results = request(QUERY, bytes(103, bytes(1, Buffer.from(query)))).flatMap((reply) => all(reply, 203));
  const error = results.flatMap((result) => all(result, 2)).join();
  if (error !== "") throw new Error(`${query}: ${error}`);
  const width = results.flatMap((result) => all(result, 1)).length;
  const cells = results.flatMap((result) => all(result, 3)).flatMap((batch) => {
    const numbers = all(batch, 2).flatMap((packed) => [...varints(packed)]);
    const texts = all(batch, 5).flatMap((joined) => joined.toString().split("\0"));
    const value = { 1: () => null, 2: () => numbers.shift(), 4: () => texts.shift() };
    return all(batch, 1).flatMap((types) => [...types]).map((type) => value[type]());
  });
  return Array.from({ length: cells.length / width }, (_, row) => cells.slice(row * width, (row + 1) * width));
}

// The engine is ready in the next turn of the loop.
setTimeout(() => {
  request(APPEND_TRACE, bytes(101, fs.readFileSync(trace)));
  request(FINALIZE_TRACE);
  for (const query of queries) console.log(JSON.stringify(rows(query)));
});
