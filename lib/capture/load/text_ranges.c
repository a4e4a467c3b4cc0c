/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A function ends where the next symbol begins, since symbols of the kernel image are sorted by
 * address. Symbols of modules follow in another order, so the ranges are sorted at the end. */
#include "capture/load/text_ranges.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "order.h"
#include "stack.h"
#include "symbol/kernel/kallsyms.h"

static const struct {
	const char *prefix;
	enum text_kind kind;
} functions[] = {
	{"__traceiter_", TEXT_TRACER},
	{"__bpf_trace_", TEXT_TRACER},
	{"__kretprobe_trampoline", TEXT_TRACER},
	{"arch_rethook_trampoline", TEXT_TRACER},
	{"return_to_handler", TEXT_TRACER},
	{"sysvec_", TEXT_INTERRUPT},
	{"fred_sysvec_", TEXT_INTERRUPT},
	{"common_interrupt", TEXT_INTERRUPT},
	{"spurious_interrupt", TEXT_INTERRUPT},
	{"exc_nmi", TEXT_INTERRUPT},
	{"fred_exc_nmi", TEXT_INTERRUPT},
	{"xen_pv_evtchn_do_upcall", TEXT_INTERRUPT},
	{"__do_softirq", TEXT_SOFT_INTERRUPT},
	{"handle_softirqs", TEXT_SOFT_INTERRUPT},
	{"__schedule", TEXT_TASK},
	{"exit_to_user_mode_loop", TEXT_TASK},
	{"do_notify_resume", TEXT_TASK},
	{"irqentry_exit", TEXT_TASK},
	{"task_work_run", TEXT_TASK},
	{"asm_exc_", TEXT_ENTRY},
	{"asm_sysvec_", TEXT_ENTRY},
	{"asm_common_interrupt", TEXT_ENTRY},
	{"asm_spurious_interrupt", TEXT_ENTRY},
	{"asm_int80_emulation", TEXT_ENTRY},
	{"asm_fred_entrypoint_", TEXT_ENTRY},
	{"end_repeat_nmi", TEXT_ENTRY},
	/* arm64's names are elLEVEL_BITS_EXCEPTION; functions that end in _handler are written in
	 * C */
	{"el0t_32_irq_handler", TEXT_INTERRUPT},
	{"el0t_32_fiq_handler", TEXT_INTERRUPT},
	{"el0t_32_", TEXT_OTHER},
	{"el0t_64_irq_handler", TEXT_INTERRUPT},
	{"el0t_64_fiq_handler", TEXT_INTERRUPT},
	{"el0t_64_", TEXT_OTHER},
	{"el1h_64_irq_handler", TEXT_INTERRUPT},
	{"el1h_64_fiq_handler", TEXT_INTERRUPT},
	{"el1h_64_sync_handler", TEXT_OTHER},
	{"el1h_64_error_handler", TEXT_OTHER},
	{"el1h_64_", TEXT_ENTRY},
};

struct parse {
	struct kernel_text *text;
	u64 open; /* start of a function whose end is not known yet; 0 = none */
	enum text_kind kind;
};

/* True if the name may be that of a function with a kind. False for most names, as no prefix of
 * `functions` begins with the same letters. */
static bool may_be_function_of_text_kind(const char *name, size_t name_bytes)
{
	if (name_bytes < 3)
		return false;
	switch (name[0]) {
	case '_':
		return name[1] == '_' && (name[2] == 't' || name[2] == 'b' || name[2] == 'd' ||
					  name[2] == 's' || name[2] == 'k');
	case 'a':
		return (name[1] == 's' && name[2] == 'm') || (name[1] == 'r' && name[2] == 'c');
	case 'c':
		return name[1] == 'o' && name[2] == 'm';
	case 'd':
		return name[1] == 'o' && name[2] == '_';
	case 'e':
		return name[1] == 'n' || name[1] == 'x' || name[1] == 'l';
	case 'f':
		return name[1] == 'r' && name[2] == 'e';
	case 'h':
		return name[1] == 'a' && name[2] == 'n';
	case 'i':
		return name[1] == 'r' && name[2] == 'q';
	case 'r':
		return name[1] == 'e' && name[2] == 't';
	case 't':
		return name[1] == 'a' && name[2] == 's';
	case 's':
		return name[1] == 'p' || name[1] == 'y';
	default:
		return name[0] == 'x';
	}
}

enum text_kind text_kind_of_name(const char *name, size_t name_bytes)
{
	if (!may_be_function_of_text_kind(name, name_bytes))
		return TEXT_OTHER;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const char *prefix = functions[i].prefix;

		if (name_bytes >= strlen(prefix) && !memcmp(name, prefix, strlen(prefix)))
			return functions[i].kind;
	}
	return TEXT_OTHER;
}

static int add_text_range_of_line(void *arg, const struct kallsyms_line *line)
{
	struct parse *parse = arg;
	struct kernel_text *text = parse->text;

	enum text_kind kind;

	if (parse->open && line->address > parse->open) {
		text->range[text->count++] =
			(struct text_range){.start = parse->open,
					    .bytes = line->address - parse->open,
					    .kind = parse->kind};
		parse->open = 0;
	}
	if (text->count == KERNEL_TEXT_MAX)
		return 1;
	kind = text_kind_of_name(line->name, line->name_bytes);
	if (kind) {
		parse->open = line->address;
		parse->kind = kind;
	}
	return 0;
}

static int compare_text_range_starts(const void *left, const void *right)
{
	const struct text_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void text_ranges_parse(const char *kallsyms, u64 bytes, struct kernel_text *text)
{
	struct parse parse = {.text = text};

	text->count = 0;
	kallsyms_each(kallsyms, bytes, add_text_range_of_line, &parse);
	qsort(text->range, text->count, sizeof(*text->range), compare_text_range_starts);
}

/* Opens an iterator of the BPF program: a file with the symbols, which the program writes when the
 * file is read. Negative: no such file. */
static int open_symbol_list(int program)
{
	int link = program < 0 ? -1 : bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);
	int list = link < 0 ? -1 : bpf_iter_create(link);

	if (link >= 0)
		close(link);
	return list;
}

int text_ranges_read(int program, struct kernel_text *text, struct kernel_copy *copy)
{
	int list = open_symbol_list(program), result;
	char *kallsyms;
	size_t bytes;

	result = kernel_copy_read(list, copy, &kallsyms, &bytes);
	if (list >= 0)
		close(list);
	if (result)
		return result;
	text_ranges_parse(kallsyms, bytes, text);
	free(kallsyms);
	return 0;
}

static enum text_kind find_text_kind(const struct kernel_text *text, u64 address)
{
	const struct text_range *range = text->range;
	u64 count = text->count < KERNEL_TEXT_MAX ? text->count : KERNEL_TEXT_MAX;
	size_t i = bisect(count, at, range[at].start + range[at].bytes <= address);

	return i < count && range[i].start <= address ? range[i].kind : TEXT_OTHER;
}

void text_ranges_mark_interrupted(const struct kernel_text *text, u64 *frames, u32 depth)
{
	for (u32 i = 1; i < depth; i++)
		if (FRAME_IS_KERNEL(frames[i]) && find_text_kind(text, frames[i - 1]) == TEXT_ENTRY)
			frames[i] += FRAME_BEHIND_INTERRUPTED;
}
