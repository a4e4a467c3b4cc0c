/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small recordings that unfold into much memory: write_bomb KIND COUNT FILE. The recordings are
 * valid, and so regular that their compressed size is tiny.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/writer.h"

#define DEPTH STACK_WORDS_MAX

static const struct trace_info info = {
	.cpus = 1, .hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
static const struct trace_source source = {.name = "cpu-clock", .value_unit = ""};
static const struct trace_mapping mapping = {.number = 1, .path = "/usr/bin/program"};

static u64 frames[DEPTH];

static int put_stack(struct trace_writer *writer, u32 id, u32 *index)
{
	const struct trace_stack stack = {
		.id = id, .generation = 1, .flags = STACK_USER, .depth = DEPTH, .frames = frames};

	return trace_writer_stack(writer, &stack, index);
}

static int put_event(struct trace_writer *writer, const struct trace_event *event)
{
	struct trace_event whole = *event;

	whole.kernel = TRACE_NO_STACK;
	whole.kernel_reason = REASON_NO_FRAMES;
	return trace_writer_event(writer, &whole);
}

/* Stacks with the same frames and different ids. */
static int write_stacks(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++)
		err = put_stack(writer, i + 1, &event.user);
	return err ?: put_event(writer, &event);
}

static int write_placeholders(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++)
		err = trace_writer_placeholder(writer, &event.user);
	return err ?: put_event(writer, &event);
}

/* All frames differ. */
static int write_frames(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		for (u32 f = 0; f < DEPTH; f++)
			frames[f] = FRAME_USER(1, 16ULL * ((u64)i * DEPTH + f + 1));
		err = put_stack(writer, i + 1, &event.user);
	}
	return err ?: put_event(writer, &event);
}

/* Blocks of events of many CPUs with overlapping times. */
static int write_events(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1, .user = TRACE_NO_STACK};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		event.time = i;
		event.cpu = (u16)(i % 512);
		err = put_event(writer, &event);
	}
	return err;
}

/* Each event has a different leaf. */
static int write_leaves(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1};
	int err = put_stack(writer, 1, &event.user);

	for (u32 i = 0; i < count && !err; i++) {
		event.time = i;
		event.leaf = FRAME_USER(1, 0x100000 + 16ULL * i);
		err = put_event(writer, &event);
	}
	return err;
}

static int write_cpus(struct trace_writer *writer, u32 count)
{
	struct trace_event event = {.tid = 1, .user = TRACE_NO_STACK};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		event.cpu = (u16)i;
		err = put_event(writer, &event);
	}
	return err;
}

/* Files and modules with different build ids. */
static int write_files(struct trace_writer *writer, u32 count)
{
	struct trace_mapping file = {
		.kind = MAPPING_FILE, .build_id_bytes = sizeof(u32), .path = "f"};
	struct trace_module module = {.build_id_bytes = sizeof(u32), .name = "m"};
	struct trace_event event = {.tid = 1, .user = TRACE_NO_STACK};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		file.number = module.end = i + 2;
		module.start = i + 1;
		memcpy(file.build_id, &i, sizeof(i));
		memcpy(module.build_id, &i, sizeof(i));
		err = trace_writer_mapping(writer, &file) ?: trace_writer_module(writer, &module);
	}
	return err ?: put_event(writer, &event);
}

static const struct {
	const char *name;
	int (*write)(struct trace_writer *writer, u32 count);
} kinds[] = {
	{"stacks", write_stacks}, {"placeholders", write_placeholders},
	{"frames", write_frames}, {"events", write_events},
	{"leaves", write_leaves}, {"cpus", write_cpus},
	{"files", write_files},
};

static int write_kind(struct trace_writer *writer, const char *name, u32 count)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].write(writer, count);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct trace_writer *writer;
	int err;

	if (argc != 4)
		return 2;
	for (u32 f = 0; f < DEPTH; f++)
		frames[f] = FRAME_USER(1, 16 * (f + 1));
	err = trace_writer_create(argv[3], &info, &writer, NULL);
	err = err ?: trace_writer_source(writer, &source) ?: trace_writer_mapping(writer, &mapping);
	err = err ?: write_kind(writer, argv[1], (u32)strtoul(argv[2], NULL, 10));
	if (err || trace_writer_close(&writer)) {
		fprintf(stderr, "write_bomb: %s\n", strerror(-err));
		return 1;
	}
	return 0;
}
