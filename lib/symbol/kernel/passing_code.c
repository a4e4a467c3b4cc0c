/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel reports a range on the CPU that loads the code, so each CPU has a dummy event with a
 * ring. The rings are opened first; then the loaded programs are listed by their ids, so no program
 * is missed. This list gives the ranges of a program's functions; their names come from kallsyms,
 * or from the report of the program's end.
 *
 * A range is one entry, however often it is reported. Entries are sorted when they are searched.
 * When a ring has lost reports, all earlier entries are dropped.
 */
#include "passing_code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "intern.h"
#include "order.h"
#include "symbol/kernel/kallsyms.h"

/* Bytes of a CPU's ring, a power of two; it holds some 200 reports. */
#define RING_BYTES_MIN (16U << 10)
#define CPUS_MAX 4096
#define SPANS_MAX (1U << 16)
#define PROGRAMS_MAX (1U << 15)
#define FUNCTIONS_MAX 4096 /* functions of one program */

struct report { /* PERF_RECORD_KSYMBOL */
	struct perf_event_header header;
	u64 start;
	u32 bytes;
	u16 type;
	u16 flags;
	char name[];
};

struct entry {
	u64 start, end;
	u32 name;     /* offset of the name in the pool of names; 0 = the name is not known */
	u32 order;    /* number of the first report of this range; reports are counted from 0 */
	u8 gone;      /* the kernel has reported that the code is gone */
	u8 nameless;  /* the code was a module that is gone: no list has the names of its functions
		       */
	u8 forgotten; /* the code was already gone when passing_code_forget() was last called */
};

struct ring {
	int event;
	struct perf_event_mmap_page *page;
};

struct passing_code {
	struct ring *rings;
	u32 ring_count;
	struct module_list modules;
	struct text_pool names;
	struct entry *entries;
	u32 count, room, orders;
	u64 longest;
	bool is_sorted;
};

static int compare_code_starts(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return order(a->start, b->start) ?: order(a->end, b->end) ?: order(a->order, b->order);
}

/* Joins entries of one range unless their names differ; the latest report says whether the code is
 * gone. */
static void sort_passing_code(struct passing_code *code)
{
	u32 kept = 0;

	if (code->is_sorted || !code->count)
		return;
	qsort(code->entries, code->count, sizeof(*code->entries), compare_code_starts);
	for (u32 i = 0; i < code->count; i++) {
		struct entry *last = kept ? &code->entries[kept - 1] : NULL;
		const struct entry *entry = &code->entries[i];

		if (last && last->start == entry->start && last->end == entry->end &&
		    last->nameless == entry->nameless &&
		    (!last->name || !entry->name || last->name == entry->name)) {
			last->name = last->name ?: entry->name;
			last->gone = entry->gone;
			last->forgotten = entry->forgotten;
		} else {
			code->entries[kept++] = *entry;
		}
	}
	code->count = kept;
	code->is_sorted = true;
}

static void add_code_entry(struct passing_code *code, const struct code_span *span,
			   struct entry entry)
{
	if (span->end <= span->start)
		return;
	entry.start = span->start;
	entry.end = span->end;
	if (code->count == SPANS_MAX)
		passing_code_forget(code);
	if (code->count == SPANS_MAX || text_pool_put(&code->names, span->name, &entry.name) ||
	    array_make_room(code->entries, code->count, code->room))
		return;
	entry.order = code->orders++;
	code->entries[code->count++] = entry;
	code->is_sorted = false;
	if (span->end - span->start > code->longest)
		code->longest = span->end - span->start;
}

void passing_code_add(struct passing_code *code, const struct code_span *span)
{
	add_code_entry(code, span, (struct entry){});
}

void passing_code_remove(struct passing_code *code, const struct code_span *span)
{
	add_code_entry(code, span, (struct entry){.gone = true});
}

enum code_match passing_code_find(struct passing_code *code, u64 address, struct code_span *found)
{
	const struct entry *match = NULL;
	u32 first, end;

	sort_passing_code(code);
	end = bisect(code->count, i, code->entries[i].start <= address);
	for (first = end; first && code->entries[first - 1].start + code->longest > address;) {
		const struct entry *entry = &code->entries[--first];

		if (address >= entry->end)
			continue;
		if (match || entry->nameless)
			return CODE_AMBIGUOUS;
		match = entry;
	}
	if (!match)
		return CODE_UNKNOWN;
	*found = (struct code_span){match->start, match->end, code->names.data + match->name};
	return CODE_KNOWN;
}

void passing_code_forget(struct passing_code *code)
{
	u32 kept = 0;

	sort_passing_code(code);
	for (u32 i = 0; i < code->count; i++) {
		struct entry *entry = &code->entries[i];

		if (entry->gone && entry->forgotten)
			continue;
		entry->forgotten = entry->gone;
		code->entries[kept++] = *entry;
	}
	code->count = kept;
}

/* The kernel makes rings of whole pages, which may have 64 KiB. */
static size_t ring_bytes(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return page > RING_BYTES_MIN ? page : RING_BYTES_MIN;
}

static void copy_from_ring(const struct ring *ring, u64 at, void *to, size_t bytes)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	size_t offset = at % ring_bytes(), first = ring_bytes() - offset;

	if (first > bytes)
		first = bytes;
	memcpy(to, data + offset, first);
	memcpy((char *)to + first, data, bytes - first);
}

/* Reads the kernel's reports. A report whose name has no NUL, which the kernel never writes, is
 * ignored. */
static void read_ksymbol_reports(struct passing_code *code, const struct ring *ring)
{
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	u64 at = ring->page->data_tail;
	_Alignas(struct report) char record[1024];
	const struct report *report = (const struct report *)record;

	while (at < head) {
		struct perf_event_header header;

		copy_from_ring(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.type == PERF_RECORD_LOST)
			code->count = 0;
		at += header.size;
		if (header.type != PERF_RECORD_KSYMBOL || header.size > sizeof(record) ||
		    header.size <= sizeof(*report))
			continue;
		copy_from_ring(ring, at - header.size, record, header.size);
		if (!memchr(report->name, 0, header.size - sizeof(*report)))
			continue;
		add_code_entry(code,
			       &(struct code_span){report->start, report->start + report->bytes,
						   report->name},
			       (struct entry){.gone = report->flags &
						      PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER});
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void passing_code_read_reports(struct passing_code *code)
{
	for (u32 i = 0; i < code->ring_count; i++)
		read_ksymbol_reports(code, &code->rings[i]);
}

/* Opens the ring in which the kernel reports the code that a CPU loads. False: no such CPU, or no
 * permission. */
static bool ring_open(struct ring *ring, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_period = 1,
		.ksymbol = 1,
	};
	size_t bytes = ring_bytes() + sysconf(_SC_PAGESIZE);

	ring->event = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->event < 0)
		return false;
	ring->page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->event, 0);
	if (ring->page != MAP_FAILED)
		return true;
	close(ring->event);
	return false;
}

static void add_program_code(struct passing_code *code, int program, u64 *starts, u32 *bytes)
{
	struct bpf_prog_info info = {
		.nr_jited_ksyms = FUNCTIONS_MAX,
		.jited_ksyms = (u64)starts,
		.nr_jited_func_lens = FUNCTIONS_MAX,
		.jited_func_lens = (u64)bytes,
	};
	u32 info_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &info_bytes) ||
	    info.nr_jited_ksyms != info.nr_jited_func_lens || info.nr_jited_ksyms > FUNCTIONS_MAX)
		return;
	for (u32 i = 0; i < info.nr_jited_ksyms; i++)
		if (starts[i])
			passing_code_add(code,
					 &(struct code_span){starts[i], starts[i] + bytes[i], ""});
}

/* Adds the code of the loaded BPF programs. Only a process with CAP_SYS_ADMIN can list them. */
static void add_loaded_programs(struct passing_code *code)
{
	u64 *starts = calloc(FUNCTIONS_MAX, sizeof(*starts) + sizeof(u32));
	u32 id = 0;

	for (u32 i = 0; starts && i < PROGRAMS_MAX && !bpf_prog_get_next_id(id, &id); i++) {
		int program = bpf_prog_get_fd_by_id(id);

		if (program < 0)
			continue;
		add_program_code(code, program, starts, (u32 *)(starts + FUNCTIONS_MAX));
		close(program);
	}
	free(starts);
}

int passing_code_compare_modules(struct passing_code *code, int modules)
{
	struct module_list now;
	int result = module_list_read_open(modules, &now);

	if (result)
		return result;
	for (u32 i = 0; i < code->modules.count; i++) {
		const struct module *module = &code->modules.modules[i];
		const struct module *same =
			module_list_find(&now, module->name, strlen(module->name));

		if (!same || same->start != module->start || same->end != module->end)
			add_code_entry(code, &(struct code_span){module->start, module->end, ""},
				       (struct entry){.gone = true, .nameless = true});
	}
	module_list_clear(&code->modules);
	code->modules = now;
	return 0;
}

int passing_code_create(int modules, struct passing_code **out)
{
	struct passing_code *code = calloc(1, sizeof(*code));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!code || text_pool_init(&code->names)) {
		free(code);
		return -ENOMEM;
	}
	if (cpus > 0 && cpus <= CPUS_MAX)
		code->rings = calloc(cpus, sizeof(*code->rings));
	for (long cpu = 0; code->rings && cpu < cpus; cpu++)
		code->ring_count += ring_open(&code->rings[code->ring_count], cpu);
	add_loaded_programs(code);
	passing_code_compare_modules(code, modules);
	*out = code;
	return 0;
}

void passing_code_free(struct passing_code **code)
{
	struct passing_code *gone = *code;

	if (!gone)
		return;
	for (u32 i = 0; i < gone->ring_count; i++) {
		munmap(gone->rings[i].page, ring_bytes() + sysconf(_SC_PAGESIZE));
		close(gone->rings[i].event);
	}
	free(gone->rings);
	free(gone->entries);
	module_list_clear(&gone->modules);
	free(text_pool_take(&gone->names));
	free(gone);
	*code = NULL;
}
