/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that falsifies its unwind tables and its stack while it is being sampled:
 *
 *   hostile honest   does its work
 *   hostile random   writes random bytes over its own tables, again and again
 *   hostile self     makes every entry of its index point at the index
 *   hostile unsorted has an index whose neighbours have changed places
 *   hostile overlap  makes each function reach over all that follow
 *   hostile poison   makes its copy of the C library's tables say that each frame is a word larger
 *   hostile sframe_unsorted, sframe_overlap, sframe_cfa, sframe_truncated
 *                    the same of its SFrame section: functions that have changed places, that reach
 *                    over all others, whose CFAs are a word too large, whose rows end early
 *   hostile loop     has a chain of frame pointers, and CFAs in memory, that lead to themselves
 *   hostile unmap    unmaps its tables and maps them again, in another thread
 *
 * The program's work does not depend on tables. Exit: 0 if the results are right, 77 if the program
 * has no such section.
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define noinline __attribute__((noinline, noclone))
#define EH_FRAME_HDR 0x6474e550
#define SFRAME 0x6474e554
#define PAGE 4096UL
#define WORK_SECONDS 1
#define INDEX_HEAD 12 /* bytes of .eh_frame_hdr before its index */
#define INDEX_ENTRY 8

static volatile long sink;

/* The unwind tables of an object: from .eh_frame_hdr, or the SFrame section, to the end of its
 * segment. */
struct tables {
	const char *name; /* name of the object; "" for the program itself */
	uint32_t type;	  /* type of the program header */
	uint8_t *start, *end;
	uint8_t *segment;
	size_t segment_bytes;
	off_t segment_offset;
};

static void tables_in(struct tables *tables, struct dl_phdr_info *info, uintptr_t header)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + load->p_vaddr;

		if (load->p_type != PT_LOAD || header < start || header >= start + load->p_filesz)
			continue;
		tables->start = (uint8_t *)header;
		tables->end = (uint8_t *)start + load->p_filesz;
		tables->segment = (uint8_t *)(start & -PAGE);
		tables->segment_bytes = load->p_filesz + (start & (PAGE - 1));
		tables->segment_offset = load->p_offset & -PAGE;
	}
}

static int tables_of(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct tables *tables = arg;

	(void)bytes;
	if (*tables->name ? !strstr(info->dlpi_name, tables->name) : *info->dlpi_name)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == tables->type)
			tables_in(tables, info, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1;
}

static struct tables tables_find(const char *name, uint32_t type)
{
	struct tables tables = {.name = name, .type = type};

	dl_iterate_phdr(tables_of, &tables);
	if (!tables.start && type == SFRAME)
		_exit(77);
	if (!tables.start || mprotect(tables.segment, tables.segment_bytes, PROT_READ | PROT_WRITE))
		_exit(2);
	return tables;
}

noinline static long leaf(long n)
{
	for (int i = 0; i < 200; i++) {
		n = n * 6364136223846793005L + 1442695040888963407L;
		__asm__ volatile("" : "+r"(n));
	}
	return n;
}

noinline static long work(int depth, long n)
{
	if (depth == 0)
		return leaf(n);
	return work(depth - 1, n + depth) ^ leaf(depth);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Spends most of its time in the C library. */
noinline static int library_work(void)
{
	int numbers[500];

	for (int i = 0; i < 500; i++)
		numbers[i] = i * 7919 % 1009;
	qsort(numbers, 500, sizeof(numbers[0]), compare);
	return numbers[0] + numbers[499];
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void nothing(const struct tables *tables)
{
	(void)tables;
}

static void write_random(const struct tables *tables)
{
	static uint64_t state = 88172645463325252ULL;

	for (uint8_t *byte = tables->start; byte < tables->end; byte++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*byte = state;
	}
}

static uint32_t index_count(const struct tables *tables)
{
	uint32_t count;

	memcpy(&count, tables->start + 8, sizeof(count));
	return count;
}

static void write_self(const struct tables *tables)
{
	int32_t zero = 0;

	for (uint32_t i = 0; i < index_count(tables); i++)
		memcpy(tables->start + INDEX_HEAD + i * INDEX_ENTRY + 4, &zero, sizeof(zero));
}

static void write_unsorted(const struct tables *tables)
{
	uint8_t *entry = tables->start + INDEX_HEAD, kept[INDEX_ENTRY];

	for (uint32_t i = 0; i + 1 < index_count(tables); i += 2, entry += 2 * INDEX_ENTRY) {
		memcpy(kept, entry, INDEX_ENTRY);
		memcpy(entry, entry + INDEX_ENTRY, INDEX_ENTRY);
		memcpy(entry + INDEX_ENTRY, kept, INDEX_ENTRY);
	}
}

/* An FDE: its length, its CIE, where its code begins, and how long that is. */
static void write_overlap(const struct tables *tables)
{
	static const uint32_t bytes = INT32_MAX;

	for (uint32_t i = 0; i < index_count(tables); i++) {
		int32_t fde;

		memcpy(&fde, tables->start + INDEX_HEAD + i * INDEX_ENTRY + 4, sizeof(fde));
		memcpy(tables->start + fde + 12, &bytes, sizeof(bytes));
	}
}

/* DW_CFA_def_cfa rsp, 8 of the CIEs becomes rsp, 16. */
static void write_poison(const struct tables *tables)
{
	static const uint8_t honest[] = {0x0c, 0x07, 0x08};

	for (uint8_t *byte = tables->start; byte + sizeof(honest) < tables->end; byte++)
		if (!memcmp(byte, honest, sizeof(honest)))
			byte[2] = 16;
}

/* The section's header of 28 bytes, an index of functions and their rows: core/unwind/sframe.c. */
struct sframe {
	uint8_t *index, *rows;
	uint32_t functions, entry_bytes;
};

#define SFRAME_FUNCTIONS 8
#define SFRAME_ROW_BYTES 16
#define SFRAME_INDEX 20
#define SFRAME_ROWS 24
#define SFRAME_HEADER_BYTES 28

static uint32_t get(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static struct sframe sframe_open(const struct tables *tables)
{
	uint8_t *first = tables->start + SFRAME_HEADER_BYTES + tables->start[7];

	return (struct sframe){
		.index = first + get(tables->start + SFRAME_INDEX),
		.rows = first + get(tables->start + SFRAME_ROWS),
		.functions = get(tables->start + SFRAME_FUNCTIONS),
		.entry_bytes = tables->start[2] == 1 ? 17 : 20,
	};
}

static void sframe_unsorted(const struct tables *tables)
{
	struct sframe sframe = sframe_open(tables);
	uint8_t kept[20], *entry = sframe.index;

	for (uint32_t i = 0; i + 1 < sframe.functions; i += 2, entry += 2 * sframe.entry_bytes) {
		memcpy(kept, entry, sframe.entry_bytes);
		memcpy(entry, entry + sframe.entry_bytes, sframe.entry_bytes);
		memcpy(entry + sframe.entry_bytes, kept, sframe.entry_bytes);
	}
}

static void sframe_overlap(const struct tables *tables)
{
	static const uint32_t bytes = INT32_MAX;
	struct sframe sframe = sframe_open(tables);

	for (uint32_t i = 0; i < sframe.functions; i++)
		memcpy(sframe.index + i * sframe.entry_bytes + 4, &bytes, sizeof(bytes));
}

/* Row by row: an offset of 1, 2 or 4 bytes, an information byte, and words, of which the first is
 * the CFA's offset. */
static void sframe_cfa(const struct tables *tables)
{
	struct sframe sframe = sframe_open(tables);

	for (uint32_t i = 0; i < sframe.functions; i++) {
		const uint8_t *entry = sframe.index + i * sframe.entry_bytes;
		uint8_t *row = sframe.rows + get(entry + 8);

		for (uint32_t rows = get(entry + 12); rows; rows--) {
			uint8_t info;

			row += 1U << (entry[16] & 3);
			info = *row++;
			*row += 8;
			row += ((info >> 1) & 15U) << ((info >> 5) & 3);
		}
	}
}

static void sframe_truncated(const struct tables *tables)
{
	uint32_t half = get(tables->start + SFRAME_ROW_BYTES) / 2;

	memcpy(tables->start + SFRAME_ROW_BYTES, &half, sizeof(half));
}

/* True if each piece of work has the result of the first one. */
static int work_on(void (*lie)(const struct tables *tables), const struct tables *tables)
{
	long first = work(30, 1);
	int first_in_library = library_work(), is_right = 1;
	double end = cpu_seconds() + WORK_SECONDS;

	while (cpu_seconds() < end) {
		lie(tables);
		for (int i = 0; i < 50; i++)
			is_right &= work(30, 1) == first;
		for (int i = 0; i < 20; i++)
			is_right &= library_work() == first_in_library;
	}
	return is_right;
}

/* Runs with a frame pointer that points at itself, in code without a table; then with a CFA that is
 * read from the address that it points to. */
void spin_by_frame_pointer(void);
void spin_by_cfa(void);
__asm__(".globl spin_by_frame_pointer\n"
	"spin_by_frame_pointer:\n"
	"push %rbp\n"
	"lea 1f(%rip), %rax\n"
	"push %rax\n"
	"push %rsp\n"
	"mov %rsp, %rbp\n"
	"mov %rsp, (%rsp)\n"
	"mov $200000, %ecx\n"
	"1: nop\n"
	"dec %ecx\n"
	"jnz 1b\n"
	"add $16, %rsp\n"
	"pop %rbp\n"
	"ret\n"
	".globl spin_by_cfa\n"
	"spin_by_cfa:\n"
	".cfi_startproc\n"
	"push %rax\n"
	"mov %rsp, (%rsp)\n"
	"mov $200000, %ecx\n"
	".cfi_escape 0x0f, 3, 0x77, 0, 0x06\n" /* *(rsp) */
	"1: nop\n"
	"dec %ecx\n"
	"jnz 1b\n"
	"pop %rax\n"
	"ret\n"
	".cfi_endproc\n");

static int loop(void)
{
	double end = cpu_seconds() + WORK_SECONDS;

	while (cpu_seconds() < end) {
		spin_by_frame_pointer();
		spin_by_cfa();
	}
	return 1;
}

/* The function must not use data next to the tables, such as constants, as the pages are unmapped.
 */
static void *unmap_and_map(void *arg)
{
	const struct tables *tables = arg;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (!sink) {
		munmap(tables->segment, tables->segment_bytes);
		for (volatile int i = 0; i < 2000; i++)
			;
		mmap(tables->segment, tables->segment_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED,
		     file, tables->segment_offset);
		for (volatile int i = 0; i < 2000; i++)
			;
	}
	close(file);
	return NULL;
}

static int unmap(struct tables *tables)
{
	long first = work(30, 1);
	int is_right = 1;
	pthread_t thread;

	if (pthread_create(&thread, NULL, unmap_and_map, tables))
		return 0;
	for (int i = 0; i < 100000; i++)
		is_right &= work(30, 1) == first;
	sink = 1;
	pthread_join(thread, NULL);
	return is_right;
}

static int run(const char *mode)
{
	struct tables tables;

	if (!strcmp(mode, "loop"))
		return loop();
	tables = tables_find(!strcmp(mode, "poison") ? "libc.so" : "",
			     !strncmp(mode, "sframe_", 7) ? SFRAME : EH_FRAME_HDR);
	if (!strcmp(mode, "sframe_unsorted"))
		return work_on(sframe_unsorted, &tables);
	if (!strcmp(mode, "sframe_overlap"))
		return work_on(sframe_overlap, &tables);
	if (!strcmp(mode, "sframe_cfa"))
		return work_on(sframe_cfa, &tables);
	if (!strcmp(mode, "sframe_truncated"))
		return work_on(sframe_truncated, &tables);
	if (!strcmp(mode, "random"))
		return work_on(write_random, &tables);
	if (!strcmp(mode, "self"))
		return work_on(write_self, &tables);
	if (!strcmp(mode, "unsorted"))
		return work_on(write_unsorted, &tables);
	if (!strcmp(mode, "overlap"))
		return work_on(write_overlap, &tables);
	if (!strcmp(mode, "poison"))
		return work_on(write_poison, &tables);
	return unmap(&tables);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "honest"))
		return !work_on(nothing, NULL);
	return !run(argv[1]);
}
