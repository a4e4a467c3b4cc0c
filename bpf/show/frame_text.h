/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One frame as a line of text. User functions have no names here, since names would require reading
 * files. Kernel functions have names; an address that must stay hidden is not printed.
 */
#ifndef BPF_FRAME_TEXT_H
#define BPF_FRAME_TEXT_H

#include "reading.h"
#include "state/engine_maps.h"

/* 1 if kptr_restrict hid the kernel's addresses when the instance started */
const volatile u32 hides_addresses = 0;

/*
 * True for printable ASCII. Beyond ASCII a decision would need the bytes around: controls and
 * invalid bytes are among those characters.
 */
static __always_inline bool is_printable_ascii(u8 c)
{
	return c >= ' ' && c < 0x7f;
}

struct name_put {
	struct seq_file *seq;
	const struct mapping_record *record;
	u32 at;
};

/*
 * Prints one byte of a file name. A name may hold any bytes: control characters would end lines, or
 * control the terminal.
 */
static long file_name_print_byte(u32 i, struct name_put *name)
{
	u32 at = name->at + i;
	u8 c;

	core_one_register(at);
	if (at >= MAPPING_PATH_BYTES)
		return 1;
	c = name->record->path[at];
	if (!c)
		return 1;
	if (!is_printable_ascii(c))
		c = '?';
	bpf_seq_write(name->seq, &c, 1);
	return 0;
}

/*
 * Prints a substitute for a file without a path: memory with a descriptor, or a path that could not
 * be read.
 */
static __always_inline void file_name_substitute_print(struct seq_file *seq,
						       const struct mapping_record *record)
{
	if (record->path_whole)
		BPF_SEQ_PRINTF(seq, "[unknown]");
	else
		BPF_SEQ_PRINTF(seq, "...");
}

/* Prints the component of a file's path that begins at byte `at`. */
static __always_inline void file_name_print(struct seq_file *seq,
					    const struct mapping_record *record, u32 at)
{
	struct name_put name = {.seq = seq, .record = record, .at = at};

	if (!record->path_bytes)
		file_name_substitute_print(seq, record);
	else
		bpf_loop(MAPPING_PATH_BYTES, file_name_print_byte, &name, 0);
}

static __always_inline void user_frame_print(struct seq_file *seq, u64 frame)
{
	u32 number = FRAME_MAPPING(frame);
	struct mapping_record *record = bpf_map_lookup_elem(&mappings, &number);

	if (frame == FRAME_OMITTED_SOME) {
		BPF_SEQ_PRINTF(seq, "[frames omitted]");
		return;
	}
	if (FRAME_IS_OMITTED(frame)) {
		BPF_SEQ_PRINTF(seq, "[%llu frames omitted]", FRAME_OFFSET(frame));
		return;
	}
	if (number == MAPPING_SCRIPT(SCRIPT_CPYTHON))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_CPYTHON);
	else if (number == MAPPING_SCRIPT(SCRIPT_PHP))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_PHP);
	else if (number == MAPPING_SCRIPT(SCRIPT_RUBY))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_RUBY);
	else if (number == MAPPING_SCRIPT(SCRIPT_JAVA))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_JAVA);
	else if (number == MAPPING_SCRIPT(SCRIPT_JAVA_COMPILED))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_JAVA_COMPILED);
	else if (number == MAPPING_SCRIPT(SCRIPT_V8))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_V8);
	else if (number == MAPPING_SCRIPT(SCRIPT_V8_COMPILED))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_V8_COMPILED);
	else if (number == MAPPING_SCRIPT(SCRIPT_V8_INLINED))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_V8_INLINED);
	else if (number == MAPPING_SCRIPT(SCRIPT_PERL))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_PERL);
	else if (number == MAPPING_SCRIPT(SCRIPT_JAVA_INLINED))
		BPF_SEQ_PRINTF(seq, SCRIPT_NAME_JAVA_INLINED);
	else if (record && record->key.kind == MAPPING_FILE)
		file_name_print(seq, record, 0);
	else if (record && record->key.kind == MAPPING_VDSO)
		BPF_SEQ_PRINTF(seq, "[vdso]");
	else if (record && record->key.kind == MAPPING_ANON)
		BPF_SEQ_PRINTF(seq, "[anon]");
	else
		BPF_SEQ_PRINTF(seq, "[unknown]");
	BPF_SEQ_PRINTF(seq, "+0x%llx", FRAME_OFFSET(frame));
}

/* True if %pS prints a name and not the address. */
static __always_inline bool has_kernel_symbol_name(u64 frame)
{
	char text[4] = {};

	BPF_SNPRINTF(text, sizeof(text), "%pS", frame);
	return text[0] != '0';
}

/*
 * A return address belongs to the call before it, even if that call is the last instruction of its
 * function. A frame that is no return address, such as the begin of a probed function, is printed
 * as it is.
 */
static __always_inline void kernel_frame_print(struct seq_file *seq, u64 frame, bool is_return)
{
	if (hides_addresses && !has_kernel_symbol_name(frame))
		BPF_SEQ_PRINTF(seq, "[unknown]");
	else if (is_return)
		BPF_SEQ_PRINTF(seq, "%pB", frame);
	else
		BPF_SEQ_PRINTF(seq, "%pS", frame);
}

static __always_inline void frame_name_print(struct seq_file *seq, u64 frame, bool is_return)
{
	if (FRAME_IS_KERNEL(frame))
		kernel_frame_print(seq, frame, is_return);
	else
		user_frame_print(seq, frame);
}

/* Prints frame i of a stack in the map. */
static __always_inline void frame_print(struct seq_file *seq, u64 frame, u32 i)
{
	BPF_SEQ_PRINTF(seq, "  [%u] ", i);
	frame_name_print(seq, frame, i || config.leaf);
	BPF_SEQ_PRINTF(seq, "\n");
}

#endif
