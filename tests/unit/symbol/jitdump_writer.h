/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a jitdump to memory, field by field as in the specification, and reads it. */
#ifndef TESTS_UNIT_SYMBOL_JITDUMP_WRITER_H
#define TESTS_UNIT_SYMBOL_JITDUMP_WRITER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "named_table.h"
#include "symbol/jit/jitdump.h"
#include "unit_test.h"

#define MAGIC 0x4a695444
#define PID 1234
#define HEADER_BYTES 40

static FILE *out;
static char *dump;
static size_t dump_bytes;

static inline int setup(void **state)
{
	(void)state;
	out = open_memstream(&dump, &dump_bytes);
	return !out;
}

static inline int teardown(void **state)
{
	(void)state;
	fclose(out);
	free(dump);
	return 0;
}

static inline void put32(u32 value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static inline void put64(u64 value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static inline void put_header_of(u32 magic, u32 version, u32 bytes, u64 flags)
{
	put32(magic);
	put32(version);
	put32(bytes);
	put32(62); /* EM_X86_64 */
	put32(0xdeadbeef);
	put32(PID);
	put64(1000);
	put64(flags);
}

static inline void put_header(void)
{
	put_header_of(MAGIC, 1, HEADER_BYTES, 0);
}

static inline void put_record(u32 id, u32 bytes)
{
	put32(id);
	put32(bytes);
	put64(2000);
}

/* The code has bytes that look like records. */
static inline void put_code(u64 bytes)
{
	for (u64 i = 0; i < bytes; i++)
		putc("\0\0\0\0\100\0\0\0"[i % 8], out);
}

struct load {
	u32 pid;
	u64 address;
	u64 code;
	u64 code_bytes;
	u64 index;
	const char *name;
	u32 name_bytes; /* length of the name with its NUL */
	u32 bytes;	/* size of the record */
	u64 code_there;
};

static inline void put_load_of(const struct load *load)
{
	put_record(0, load->bytes);
	put32(load->pid);
	put32(load->pid + 1);
	put64(load->address);
	put64(load->code);
	put64(load->code_bytes);
	put64(load->index);
	fwrite(load->name, load->name_bytes, 1, out);
	put_code(load->code_there);
}

static inline struct load load_of(u64 code, u64 bytes, u64 index, const char *name)
{
	return (struct load){PID,
			     code,
			     code,
			     bytes,
			     index,
			     name,
			     strlen(name) + 1,
			     56 + strlen(name) + 1 + bytes,
			     bytes};
}

static inline void put_load(u64 code, u64 bytes, u64 index, const char *name)
{
	struct load load = load_of(code, bytes, index, name);

	put_load_of(&load);
}

static inline void put_move_of(u32 pid, u64 old, u64 code, u64 bytes, u64 index)
{
	put_record(1, 64);
	put32(pid);
	put32(pid);
	put64(code);
	put64(old);
	put64(code);
	put64(bytes);
	put64(index);
}

static inline void put_move(u64 old, u64 code, u64 bytes, u64 index)
{
	put_move_of(PID, old, code, bytes, index);
}

static inline void put_debug_info(u64 code)
{
	static const char file[] = "/src/a.js";

	put_record(2, 16 + 16 + 2 * (16 + sizeof(file)));
	put64(code);
	put64(2);
	for (u32 line = 1; line <= 2; line++) {
		put64(code + line);
		put32(line);
		put32(0);
		fwrite(file, sizeof(file), 1, out);
	}
}

static inline void put_unwinding_info(void)
{
	put_record(4, 16 + 24 + 20);
	put64(20);
	put64(20);
	put64(0);
	put_code(20);
}

static inline int read_bytes(const void *bytes, size_t count, struct generated_code *code)
{
	int file = memfd_create("dump", MFD_CLOEXEC), result;

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, count), count);
	result = jitdump_read_open(file, code);
	close(file);
	return result;
}

static inline struct symbol_table *read_dump(void)
{
	struct generated_code code = {};

	fflush(out);
	assert_int_equal(read_bytes(dump, dump_bytes, &code), 0);
	return table_of(&code);
}

#endif
