/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plugin of the emulator that counts instructions between two marks of the guest
 * (count_message.h): by name of the task, by mode (user, kernel, BPF), and, where the mark asks for
 * it, by block of code.
 *
 * The guest has one CPU, `-icount` and no address randomisation, so each count is the same in each
 * run. The guest's memory is a file, which the plugin maps: the plugin reads the current task there
 * when the kernel has switched tasks (finish_task_switch) or changed the program of a task
 * (finalize_exec). The guest tells the addresses of the kernel's symbols.
 *
 * A block is counted when it begins; a fault in its middle counts it whole. The interface is QEMU's
 * plugin API, version 1; distributions ship no header for it, so its functions are declared here.
 *
 * arguments: memory=FILE,folder=FOLDER
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count_message.h"

/* --- the interface of QEMU's plugins --- */

typedef uint64_t plugin_id;
typedef uint32_t plugin_memory_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
					   void (*call)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
					  void (*call)(unsigned int, void *), int flags, void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
				      void (*call)(unsigned int, plugin_memory_info, uint64_t,
						   void *),
				      int flags, int access, void *arg);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(plugin_memory_info info, uint64_t address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

#define EXPORT __attribute__((visibility("default")))

extern EXPORT int qemu_plugin_version;
int qemu_plugin_version = 1;

/* --- the guest's memory, nokaslr on x86-64 --- */

#define DIRECT_MAP 0xffff888000000000ULL
#define KERNEL_IMAGE 0xffffffff80000000ULL
/* addresses of modules and BPF programs; the guest loads no module */
#define MODULES 0xffffffffc0000000ULL
#define COMM_BYTES 16

static const uint8_t *memory;
static uint64_t memory_bytes;

static const void *guest_memory(uint64_t at, size_t bytes)
{
	uint64_t physical = at >= KERNEL_IMAGE ? at - KERNEL_IMAGE
			    : at >= DIRECT_MAP ? at - DIRECT_MAP
					       : at;

	return physical < memory_bytes && bytes <= memory_bytes - physical ? memory + physical
									   : NULL;
}

static uint64_t guest_word(uint64_t at)
{
	const uint64_t *word = guest_memory(at, sizeof(*word));

	return word ? *word : 0;
}

/* --- counts --- */

enum mode { USER, KERNEL, BPF, MODES };

#define TASKS_MAX 48

struct task {
	char comm[COMM_BYTES];
	/* number of instructions in each mode, and of switches to this task */
	uint64_t instructions[MODES], switches;
};

struct block {
	struct block *next; /* next block with the same hash */
	uint64_t address;
	uint32_t instructions;
	enum mode mode;
	bool changes_task;
	/* number of times that each task ran this block, while blocks are counted */
	uint64_t *runs;
};

#define BUCKETS (1 << 18)

static struct block *blocks[BUCKETS];
static struct task tasks[TASKS_MAX];
static uint32_t task_count = 1, current;
static bool is_counting, counts_blocks;
static uint64_t current_task, per_cpu_offset, finish_task_switch, finalize_exec, comm_offset;
static const char *folder = ".";
static FILE *chunks, *counts;
static char label[256];

static uint32_t task_named(const char comm[COMM_BYTES])
{
	for (uint32_t i = 0; i < task_count; i++)
		if (!strncmp(tasks[i].comm, comm, COMM_BYTES))
			return i;
	if (task_count == TASKS_MAX)
		return 0;
	memcpy(tasks[task_count].comm, comm, COMM_BYTES);
	return task_count++;
}

static void read_current(void)
{
	uint64_t task = guest_word(guest_word(per_cpu_offset) + current_task);
	const char *comm = task ? guest_memory(task + comm_offset, COMM_BYTES) : NULL;

	current = comm ? task_named(comm) : 0;
}

static void block_runs(unsigned int cpu, void *arg)
{
	struct block *block = arg;

	(void)cpu;
	if (block->changes_task) {
		read_current();
		if (is_counting && block->address == finish_task_switch)
			tasks[current].switches++;
	}
	if (!is_counting)
		return;
	tasks[current].instructions[block->mode] += block->instructions;
	if (!counts_blocks)
		return;
	if (!block->runs)
		block->runs = calloc(TASKS_MAX, sizeof(*block->runs));
	block->runs[current]++;
}

/* --- messages --- */

static bool changes_task(uint64_t address)
{
	return address && (address == finish_task_switch || address == finalize_exec);
}

static void take_note(const char *text)
{
	char name[64];
	uint64_t value;

	if (sscanf(text, "%63s %" SCNx64, name, &value) != 2)
		return;
	if (!strcmp(name, "current_task") || (!strcmp(name, "pcpu_hot") && !current_task))
		current_task = value;
	if (!strcmp(name, "__per_cpu_offset"))
		per_cpu_offset = value;
	if (!strcmp(name, "finish_task_switch"))
		finish_task_switch = value;
	if (!strcmp(name, "finalize_exec"))
		finalize_exec = value;
	if (!strcmp(name, "comm"))
		comm_offset = value;
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct block *block = blocks[i]; block; block = block->next)
			block->changes_task = changes_task(block->address);
}

static void begin(const char *text)
{
	for (uint32_t i = 0; i < task_count; i++)
		memset(tasks[i].instructions, 0,
		       sizeof(tasks[i]) - offsetof(struct task, instructions));
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct block *block = blocks[i]; block; block = block->next) {
			free(block->runs);
			block->runs = NULL;
		}
	counts_blocks = text[0] == '+';
	snprintf(label, sizeof(label), "%s", text + counts_blocks);
	is_counting = true;
	read_current();
}

static void write_counts(void)
{
	static const char *const modes[MODES] = {"user", "kernel", "bpf"};

	for (uint32_t i = 0; i < task_count; i++)
		if (tasks[i].instructions[USER] + tasks[i].instructions[KERNEL])
			fprintf(counts,
				"task\t%s\t%.16s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
				"\n",
				label, tasks[i].comm, tasks[i].instructions[USER],
				tasks[i].instructions[KERNEL], tasks[i].instructions[BPF],
				tasks[i].switches);
	for (uint32_t i = 0; i < BUCKETS && counts_blocks; i++)
		for (struct block *block = blocks[i]; block; block = block->next)
			for (uint32_t task = 0; block->runs && task < task_count; task++)
				if (block->runs[task])
					fprintf(counts,
						"block\t%s\t%.16s\t%s\t%" PRIx64 "\t%" PRIu64 "\n",
						label, tasks[task].comm, modes[block->mode],
						block->address,
						block->runs[task] * block->instructions);
	fflush(counts);
}

static void open_chunks(const char *path)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/%s:%s", folder, label, path);
	for (char *at = name + strlen(folder) + 1; *at; at++)
		*at = *at == '/' ? '_' : *at;
	if (chunks)
		fclose(chunks);
	chunks = fopen(name, "we");
}

static void hear(unsigned int cpu, plugin_memory_info info, uint64_t address, void *arg)
{
	struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);
	const struct count_message *message =
		physical ? guest_memory(qemu_plugin_hwaddr_phys_addr(physical), sizeof(*message))
			 : NULL;

	(void)cpu, (void)arg;
	if (!message || message->bytes > sizeof(message->data))
		return;
	if (message->kind == COUNT_NOTE)
		take_note(message->data);
	if (message->kind == COUNT_BEGIN)
		begin(message->data);
	if (message->kind == COUNT_PAUSE)
		is_counting = false;
	if (message->kind == COUNT_GO_ON) {
		is_counting = true;
		read_current();
	}
	if (message->kind == COUNT_END) {
		is_counting = false;
		write_counts();
	}
	if (message->kind == COUNT_FILE)
		open_chunks(message->data);
	if (message->kind == COUNT_CHUNK && chunks) {
		fwrite(message->data, message->bytes, 1, chunks);
		fflush(chunks);
	}
}

/* --- translation --- */

static enum mode mode_of(uint64_t address)
{
	return !(address >> 63) ? USER : address >= MODULES ? BPF : KERNEL;
}

static struct block *block_of(uint64_t address, uint32_t instructions)
{
	struct block **bucket = &blocks[address * 0x9e3779b97f4a7c15ULL >> 46], *block = *bucket;

	while (block && (block->address != address || block->instructions != instructions))
		block = block->next;
	if (block)
		return block;
	block = calloc(1, sizeof(*block));
	*block = (struct block){.next = *bucket,
				.address = address,
				.instructions = instructions,
				.mode = mode_of(address),
				.changes_task = changes_task(address)};
	*bucket = block;
	return block;
}

static bool is_mark(const struct qemu_plugin_insn *instruction)
{
	uint8_t wanted[10] = {0x48, 0xb8};
	uint64_t magic = COUNT_MAGIC;

	memcpy(wanted + 2, &magic, sizeof(magic));
	return qemu_plugin_insn_size(instruction) == sizeof(wanted) &&
	       !memcmp(qemu_plugin_insn_data(instruction), wanted, sizeof(wanted));
}

static void translate(plugin_id id, struct qemu_plugin_tb *translated)
{
	size_t count = qemu_plugin_tb_n_insns(translated);
	uint64_t address = qemu_plugin_tb_vaddr(translated);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(translated, block_runs, NO_REGISTERS,
					     block_of(address, count));
	for (size_t i = 0; !(address >> 63) && i + 1 < count; i++)
		if (is_mark(qemu_plugin_tb_get_insn(translated, i)))
			qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(translated, i + 1),
							 hear, NO_REGISTERS, READS_AND_WRITES,
							 NULL);
}

static bool map_memory(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *mapped;

	if (file < 0 || fstat(file, &status))
		return false;
	memory_bytes = status.st_size;
	mapped = mmap(NULL, memory_bytes, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	memory = mapped;
	return mapped != MAP_FAILED;
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	char path[512];

	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "memory=", 7) && !map_memory(argv[i] + 7))
			return -1;
		if (!strncmp(argv[i], "folder=", 7))
			folder = strdup(argv[i] + 7);
	}
	snprintf(path, sizeof(path), "%s/counts", folder);
	counts = fopen(path, "we");
	if (!memory || !counts)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
