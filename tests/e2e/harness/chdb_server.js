// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A current ClickHouse behind HTTP, for tests: npm's `chdb` is ClickHouse as a library. It takes what the product sends: a
// query in the target with a body of rows (plain, or ClickHouse's blocks of zstd), settings, and external tables as a form.
//
// usage: node chdb_server.js FOLDER_OF_NODE_MODULES DATA_FOLDER USER PASSWORD; prints its port, and ends with its input.
"use strict";
const fs = require("fs");
const http = require("http");
const path = require("path");

const [modules, data, user, password] = process.argv.slice(2);
const { Session } = require(path.join(modules, "node_modules", "chdb"));
const engine = new Session(path.join(data, "store"));
const NOT_SETTINGS = new Set(["query", "database", "wait_end_of_query", "decompress"]);
const CHECKSUM_BYTES = 16, HEAD_BYTES = 9;
let files = 0;

class Refusal extends Error {
	constructor(status, text) {
		super(text);
		this.status = status;
	}
}

function file(bytes, ending) {
	const name = path.join(data, `body${files++}${ending}`);
	fs.writeFileSync(name, bytes);
	return name;
}

// The frames of zstd in ClickHouse's blocks: one after the other they are a file of zstd.
function frames(body) {
	const found = [];
	for (let at = 0; at < body.length;) {
		const head = at + CHECKSUM_BYTES;
		const bytes = head + HEAD_BYTES <= body.length ? body.readUInt32LE(head + 1) : Infinity;
		if (head + bytes > body.length)
			throw new Refusal(500, "Code: 33. DB::Exception: Cannot read all data. (CANNOT_READ_ALL_DATA)");
		if (body[head] !== 0x90)
			throw new Refusal(500, "Code: 271. DB::Exception: Unknown compression method. (CANNOT_DECOMPRESS)");
		found.push(body.subarray(head + HEAD_BYTES, head + bytes));
		at = head + bytes;
	}
	return Buffer.concat(found);
}

// The parts of a form, by name.
function parts(body, boundary) {
	const found = new Map(), mark = Buffer.from(`--${boundary}`);
	for (let at = body.indexOf(mark); at >= 0;) {
		const next = body.indexOf(mark, at + mark.length);
		if (next < 0)
			break;
		const part = body.subarray(at + mark.length + 2, next - 2), end = part.indexOf("\r\n\r\n");
		found.set(/ name="([^"]*)"/.exec(part.subarray(0, end).toString())[1], part.subarray(end + 4));
		at = next;
	}
	return found;
}

const quoted = text => `'${text.replace(/[\\']/g, "\\$&")}'`;

function settings(params) {
	const set = [];
	for (const [name, value] of params)
		if (!NOT_SETTINGS.has(name) && !/_(structure|format)$/.test(name))
			set.push(`${name} = ${quoted(value)}`);
	return set;
}

async function run(sql) {
	return Buffer.from((await engine.queryAsync(sql, { format: "TabSeparated" })).bytes());
}

async function insert(params, body) {
	const [, into] = /^INSERT INTO (.*) FORMAT RowBinary$/.exec(params.get("query"));
	const packed = params.get("decompress") === "1";
	const rows = file(packed ? frames(body) : body, packed ? ".zst" : ".rows");
	const set = settings(params);
	try {
		return await run(`INSERT INTO ${into} ${set.length ? `SETTINGS ${set.join(", ")}` : ""} ` +
			`SELECT * FROM file(${quoted(rows)}, 'RowBinary', 'auto'${packed ? ", 'zstd'" : ""})`);
	} finally {
		fs.unlinkSync(rows);
	}
}

async function query(params, tables, sql) {
	const made = [];
	try {
		for (const [name, bytes] of tables) {
			const structure = params.get(`${name}_structure`), rows = file(bytes, ".rows");
			made.push([name, rows]);
			await run(`CREATE TEMPORARY TABLE ${name} (${structure})`);
			await run(`INSERT INTO ${name} SELECT * FROM file(${quoted(rows)}, 'RowBinary', ${quoted(structure)})`);
		}
		return await run(sql);
	} finally {
		for (const [name, rows] of made) {
			await run(`DROP TEMPORARY TABLE IF EXISTS ${name}`).catch(() => {});
			fs.unlinkSync(rows);
		}
	}
}

function check(request) {
	const basic = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
	const { authorization, "x-clickhouse-user": name, "x-clickhouse-key": key } = request.headers;
	if (authorization !== basic && !(name === user && key === password))
		throw new Refusal(403, "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)");
}

async function answer(request, body) {
	const params = new URL(request.url, "http://here").searchParams;
	const boundary = /^multipart\/form-data; *boundary=(.*)$/.exec(request.headers["content-type"] || "");
	check(request);
	await run(`USE ${params.get("database") || "default"}`);
	if (boundary)
		return query(params, parts(body, boundary[1]), params.get("query"));
	if (/^INSERT INTO .* FORMAT RowBinary$/.test(params.get("query") || ""))
		return insert(params, body);
	return query(params, new Map(), (params.get("query") || "") + body.toString());
}

let last = Promise.resolve();

function respond(response, status, body) {
	response.writeHead(status, { "Content-Length": body.length });
	response.end(body);
}

// One at a time: temporary tables and the database belong to the session.
function serve(request, response) {
	const chunks = [];
	request.on("data", chunk => chunks.push(chunk));
	request.on("end", () => {
		last = last.then(() => answer(request, Buffer.concat(chunks))).then(
			body => respond(response, 200, body),
			error => respond(response, error.status || 500, Buffer.from(error.message)));
	});
}

const server = http.createServer(serve);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
