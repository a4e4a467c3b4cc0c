/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and tasks that any user can make to overload a recorder or to lead it into a trap:
 *
 *   flood notes FOLDER      runs code of eight sparse files, each with 40,000 program headers of
 *                           the same 512 MiB of empty notes
 *   flood symbols FOLDER    code of eight files with a symbol table of 512 MiB
 *   flood frames FOLDER     code of a file whose unwind tables are 64 MiB of records without index
 *   flood dwarf FOLDER      code of a file with debugging entries nested 16 million deep, and
 *                           512 MiB of lines
 *   flood jitdump FOLDER    generated code, with a jitdump of a million functions
 *   flood perfmap FOLDER    generated code, with a perf map of 64 MiB
 *   flood fifo FOLDER       generated code, with a FIFO for a perf map, that has no writer
 *   flood fifos FOLDER      code of a file whose path is a FIFO in the process's mount namespace
 *   flood rewrite FOLDER    code of files that are rewritten all the time
 *   flood mappings FOLDER   code in 50,000 mappings of a file
 *   flood names FOLDER      changes the name of the task 10,000 times a second
 *
 * Prints a line when everything is set up, and runs until it is killed. A perf map is
 * /tmp/perf-PID.map, which the caller removes.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "neighbour_code.h"

#define FILES_MAX 8
#define CODE_AT (4UL << 20)
#define MASS_AT (8UL << 20)
#define MASS_BYTES (512UL << 20)
#define TABLE_BYTES (64UL << 20)
#define NESTED (16UL << 20)
#define NOTE_HEADERS 40000
#define JIT_FUNCTIONS 1000000
#define MAPPINGS 50000

/* Makes a file with code at CODE_AT, and room behind the code. */
static int make_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	check(file >= 0 && !ftruncate(file, MASS_AT + MASS_BYTES) &&
		      pwrite(file, neighbour_code, sizeof(neighbour_code), CODE_AT) ==
			      sizeof(neighbour_code),
	      path);
	return file;
}

static void put(int file, const void *data, size_t bytes, off_t at)
{
	check(pwrite(file, data, bytes, at) == (ssize_t)bytes, "write");
}

static Elf64_Ehdr elf_header(void)
{
	return (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
}

/* Writes program headers behind the ELF header; their segments lie up to CODE_AT. */
static void put_segments(int file, const Elf64_Phdr *segments, int count)
{
	Elf64_Ehdr header = elf_header();

	header.e_phoff = sizeof(header);
	header.e_phnum = count;
	put(file, &header, sizeof(header), 0);
	put(file, segments, count * sizeof(*segments), sizeof(header));
}

static void write_notes(int file)
{
	Elf64_Phdr *headers = calloc(NOTE_HEADERS, sizeof(*headers));

	check(headers != NULL, "memory");
	for (int i = 0; i < NOTE_HEADERS; i++)
		headers[i] = (Elf64_Phdr){.p_type = PT_NOTE,
					  .p_offset = MASS_AT,
					  .p_filesz = MASS_BYTES,
					  .p_align = 4};
	put_segments(file, headers, NOTE_HEADERS);
	free(headers);
}

static void put_sections(int file, const Elf64_Shdr *sections, int count)
{
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_filesz = MASS_AT,
			   .p_memsz = MASS_AT,
			   .p_align = PAGE};
	Elf64_Ehdr header = elf_header();

	header.e_phoff = sizeof(header);
	header.e_phnum = 1;
	header.e_shoff = PAGE;
	header.e_shnum = count;
	header.e_shstrndx = count - 1;
	put(file, &header, sizeof(header), 0);
	put(file, &load, sizeof(load), sizeof(header));
	put(file, sections, count * sizeof(*sections), PAGE);
}

static void write_symbols(int file)
{
	static const char names[] = "\0.symtab\0.strtab\0";
	const Elf64_Shdr sections[] = {
		{},
		{.sh_name = 1,
		 .sh_type = SHT_SYMTAB,
		 .sh_offset = MASS_AT,
		 .sh_size = MASS_BYTES / sizeof(Elf64_Sym) * sizeof(Elf64_Sym), /* a multiple */
		 .sh_entsize = sizeof(Elf64_Sym),
		 .sh_link = 2},
		{.sh_name = 9,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = 2 * PAGE,
		 .sh_size = sizeof(names)},
	};
	Elf64_Sym symbol = {.st_name = 1,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = 1,
			    .st_value = CODE_AT};

	put_sections(file, sections, 3);
	put(file, names, sizeof(names), 2 * PAGE);
	for (off_t at = MASS_AT; at < (off_t)(MASS_AT + MASS_BYTES); at += sizeof(symbol) << 15)
		put(file, &symbol, sizeof(symbol), at);
}

/* Records of the smallest length, none of which covers the code. */
static void write_frames(int file)
{
	const Elf64_Phdr segments[] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_filesz = MASS_AT + TABLE_BYTES,
		 .p_memsz = MASS_AT + TABLE_BYTES,
		 .p_align = PAGE},
	};
	uint32_t *records = malloc(TABLE_BYTES);

	check(records != NULL, "memory");
	for (size_t i = 0; i < TABLE_BYTES / sizeof(*records); i += 4) {
		records[i] = 12;
		records[i + 1] = i ? 4 * i + 4 : 0;
		records[i + 2] = 0x00000001;
		records[i + 3] = 0x00107801;
	}
	put(file, records, TABLE_BYTES, MASS_AT);
	free(records);
	put_segments(file, segments, 1);
}

static void write_dwarf(int file)
{
	static const char names[] =
		"\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_aranges\0.shstrtab";
	static const uint8_t abbreviations[] = {1, 0x0b, 1, 0, 0, 0};
	const Elf64_Shdr sections[] = {
		{},
		{.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = MASS_AT, .sh_size = NESTED},
		{.sh_name = 13,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = 3 * PAGE,
		 .sh_size = sizeof(abbreviations)},
		{.sh_name = 27,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = MASS_AT + NESTED,
		 .sh_size = MASS_BYTES - NESTED},
		{.sh_name = 39,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = MASS_AT + NESTED,
		 .sh_size = MASS_BYTES - NESTED},
		{.sh_name = 54,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = 2 * PAGE,
		 .sh_size = sizeof(names)},
	};
	struct {
		uint32_t bytes;
		uint16_t version;
		uint8_t kind, address_bytes;
		uint32_t abbreviations;
	} unit = {.bytes = NESTED - 4, .version = 5, .kind = 1, .address_bytes = 8};
	uint8_t *entries = malloc(NESTED);

	check(entries != NULL, "memory");
	memset(entries, 1, NESTED);
	memcpy(entries, &unit, sizeof(unit));
	put(file, entries, NESTED, MASS_AT);
	free(entries);
	put(file, names, sizeof(names), 2 * PAGE);
	put(file, abbreviations, sizeof(abbreviations), 3 * PAGE);
	put_sections(file, sections, 6);
}

static void run_files(void (*write_file)(int file), int count)
{
	through_code entries[FILES_MAX];
	char path[16];

	for (int i = 0; i < count; i++) {
		int file;

		snprintf(path, sizeof(path), "file%d", i);
		file = make_file(path);
		write_file(file);
		close(file);
		entries[i] = (through_code)(uintptr_t)(map_file(path, MASS_AT) + CODE_AT);
	}
	run_for_ever(entries, count);
}

static void run_notes(void)
{
	run_files(write_notes, FILES_MAX);
}

static void run_symbols(void)
{
	run_files(write_symbols, FILES_MAX);
}

static void run_frames(void)
{
	run_files(write_frames, 1);
}

static void run_dwarf(void)
{
	run_files(write_dwarf, 1);
}

/* Generated code */

static through_code generate(void)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED, "memory");
	memcpy(memory, neighbour_code, sizeof(neighbour_code));
	check(!mprotect(memory, PAGE, PROT_READ | PROT_EXEC), "generated code");
	return (through_code)(uintptr_t)memory;
}

static void map_path(char *path, size_t bytes)
{
	snprintf(path, bytes, "/tmp/perf-%d.map", getpid());
}

static void run_perf_map(void)
{
	through_code entry = generate();
	char path[64];
	FILE *file;

	map_path(path, sizeof(path));
	file = fopen(path, "we");
	check(file != NULL, path);
	for (unsigned long i = 0; i < TABLE_BYTES / 32; i++)
		fprintf(file, "%016lx 1 function%07lu\n", 0x10000 + i, i);
	check(!fclose(file), path);
	run_for_ever(&entry, 1);
}

static void run_fifo(void)
{
	through_code entry = generate();
	char path[64];

	map_path(path, sizeof(path));
	check(!mkfifo(path, 0644), path);
	run_for_ever(&entry, 1);
}

struct jit_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time, flags;
};

struct jit_load {
	uint32_t id, bytes;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t address, code, code_bytes, index;
	char name[8];
	uint8_t byte[8];
};

static void run_jitdump(void)
{
	struct jit_header header = {.magic = 0x4a695444,
				    .version = 1,
				    .bytes = sizeof(header),
				    .machine = EM_X86_64,
				    .pid = getpid()};
	struct jit_load load = {.bytes = sizeof(load),
				.pid = getpid(),
				.tid = getpid(),
				.code_bytes = sizeof(load.byte),
				.name = "jitted"};
	through_code entry = generate();
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	file = fopen(path, "we");
	check(file && fwrite(&header, sizeof(header), 1, file) == 1, path);
	for (uint64_t i = 0; i < JIT_FUNCTIONS; i++) {
		load.index = i;
		load.address = load.code = (uintptr_t)entry + 8 * i;
		check(fwrite(&load, sizeof(load), 1, file) == 1, path);
	}
	check(!fclose(file), path);
	map_file(path, PAGE);
	run_for_ever(&entry, 1);
}

/* Files, mappings and names that change */

static void run_fifos(void)
{
	through_code entry;
	char folder[4096];

	check(getcwd(folder, sizeof(folder)) != NULL, "getcwd");
	close(make_file("file"));
	entry = (through_code)(uintptr_t)(map_file("file", MASS_AT) + CODE_AT);
	enter_namespaces();
	check(!mount("none", folder, "tmpfs", 0, NULL) && !chdir(folder) && !mkfifo("file", 0777),
	      folder);
	run_for_ever(&entry, 1);
}

static void rewrite(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	uint8_t bytes[PAGE];

	for (;;) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = rand();
		memcpy(bytes, ELFMAG, rand() % 2 * SELFMAG);
		put(file, bytes, sizeof(bytes), rand() % 8 * PAGE);
		usleep(100);
	}
}

static void run_rewritten(void)
{
	through_code entry;

	close(make_file("file"));
	entry = (through_code)(uintptr_t)(map_file("file", MASS_AT) + CODE_AT);
	if (!fork_child())
		rewrite("file");
	run_for_ever(&entry, 1);
}

static void run_mappings(void)
{
	int file = make_file("file");
	through_code *entries = calloc(MAPPINGS, sizeof(*entries));

	check(entries != NULL, "memory");
	for (int i = 0; i < MAPPINGS; i++) {
		void *memory = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, CODE_AT);

		check(memory != MAP_FAILED, "mmap");
		entries[i] = (through_code)(uintptr_t)memory;
	}
	run_for_ever(entries, MAPPINGS);
}

static void run_names(void)
{
	through_code entry = generate();
	char name[16];

	if (!fork_child())
		for (unsigned i = 0;; i++) {
			snprintf(name, sizeof(name), "\033[%u", i);
			prctl(PR_SET_NAME, name);
			usleep(40);
		}
	run_for_ever(&entry, 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} floods[] = {
		{"notes", run_notes},	    {"symbols", run_symbols}, {"frames", run_frames},
		{"dwarf", run_dwarf},	    {"jitdump", run_jitdump}, {"perfmap", run_perf_map},
		{"fifo", run_fifo},	    {"fifos", run_fifos},     {"rewrite", run_rewritten},
		{"mappings", run_mappings}, {"names", run_names},
	};

	for (size_t i = 0; argc == 3 && i < sizeof(floods) / sizeof(floods[0]); i++)
		if (!strcmp(argv[1], floods[i].name)) {
			check(!chdir(argv[2]), argv[2]);
			floods[i].run();
		}
	fprintf(stderr, "usage: flood KIND FOLDER\n");
	return 2;
}
