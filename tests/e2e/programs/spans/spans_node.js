// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Publishes spans as spans.c does: each of two threads has one record, whose bytes JavaScript writes. The addon (spans_node.c) has the
// thread-local variable, and gives it the address of the record once in each thread.
//
// usage: node spans_node.js ADDON SECONDS   (of CPU time)
"use strict";
const { Worker, isMainThread } = require("worker_threads");

const [path, seconds] = process.argv.slice(2);
const SPAN_AT = 23, VALID_AT = 24, RECORD_BYTES = 28;
const addon = { exports: {} };
process.dlopen(addon, path);

const record = new Uint8Array(new ArrayBuffer(RECORD_BYTES));

function publish(span) {
  record[VALID_AT] = 0;
  record.fill(isMainThread ? 0x70 : 0x71, 0, 16);
  record[SPAN_AT] = span;
  record[VALID_AT] = span < 4 ? 1 : span === 4 ? 2 : 0;
}

addon.exports.attach(record.buffer);
if (isMainThread) new Worker(__filename, { argv: [path, seconds] });
for (let turn = 0; process.cpuUsage().user < seconds * 1e6; turn++) {
  publish(turn % 5 + 1);
  addon.exports.work(turn % 5 + 1);
  record[VALID_AT] = 0;
}
