/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a recording in which one stack is used without and with a leaf: write_leaf FILE. The
 * stack's innermost frame is the first byte of `second`; as a return address, behind a leaf, it
 * belongs to `first`.
 */
#include <stdio.h>
#include <string.h>

#include "trace/write/writer.h"

#define BEGIN 0x1000
#define BYTES 64
#define EVENTS 3

static int write_names(struct trace_writer *writer)
{
	static const char *const names[] = {"first", "second", "leaf"};
	const struct trace_source source = {
		.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""};
	const struct trace_mapping mapping = {
		.number = 1, .kind = MAPPING_FILE, .path = "/usr/bin/program"};
	int err = trace_writer_source(writer, &source) ?: trace_writer_mapping(writer, &mapping);

	for (u32 i = 0; i < 3 && !err; i++) {
		const struct trace_symbol symbol = {
			.mapping = 1, .start = BEGIN + BYTES * i, .size = BYTES, .name = names[i]};

		err = trace_writer_symbol(writer, &symbol);
	}
	return err;
}

/* The first and the last event have the stack alone, the second one has a leaf. */
static int write_events(struct trace_writer *writer)
{
	const u64 frames[] = {FRAME_USER(1, BEGIN + BYTES), FRAME_USER(1, BEGIN + 8)};
	const struct trace_stack stack = {.flags = STACK_USER, .depth = 2, .frames = frames};
	struct trace_event event = {
		.tid = 1, .kernel = TRACE_NO_STACK, .kernel_reason = REASON_NO_FRAMES};
	int err = trace_writer_stack(writer, &stack, &event.user);

	for (u32 i = 0; i < EVENTS && !err; i++) {
		event.time = i + 1;
		event.leaf = i == 1 ? FRAME_USER(1, BEGIN + 2 * BYTES + 4) : 0;
		err = trace_writer_event(writer, &event);
	}
	return err;
}

int main(int argc, char **argv)
{
	static const struct trace_info info = {.cpus = 1,
					       .bits = 14,
					       .hostname = "host",
					       .kernel = "6.1.0",
					       .machine = "x86_64",
					       .command = "stackmap record",
					       .version = "0.1.0"};
	const struct trace_ledger ledger = {.produced = EVENTS, .recorded = EVENTS};
	struct trace_writer *writer;
	int err;

	if (argc != 2)
		return 2;
	err = trace_writer_create(argv[1], &info, &writer, NULL);
	if (!err) {
		err = write_names(writer)
			      ?: write_events(writer)
			      ?: trace_writer_ledger(writer, &ledger, NULL, 0);
		err = trace_writer_close(&writer) ?: err;
	}
	if (err)
		fprintf(stderr, "write_leaf: %s\n", strerror(-err));
	return err != 0;
}
