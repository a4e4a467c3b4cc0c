/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs in the guest of bench/count and sends messages to the plugin of the emulator
 * (count_message.h).
 *
 *   count_mark notes        where the kernel keeps the current task and a task's name
 *   count_mark begin LABEL | end | pause | go_on
 *   count_mark file PATH    the content of a file
 *   count_mark run COMMAND...    runs a command; then the kernel's symbols and the parent's
 * mappings
 */
#include <bpf/btf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count_message.h"

static struct count_message message __attribute__((aligned(COUNT_MESSAGE_BYTES)));

static void say(enum count_kind kind, const void *data, size_t bytes)
{
	message.kind = kind;
	message.bytes = bytes;
	memcpy(message.data, data, bytes);
	__asm__ volatile(".p2align 5\n\tmovabs %0, %%rax\n\tmovl $1, (%1)\n\t"
			 :
			 : "i"(COUNT_MAGIC), "r"(&message)
			 : "rax", "memory");
}

static void note(const char *name, unsigned long long value)
{
	char text[256];

	say(COUNT_NOTE, text, snprintf(text, sizeof(text), "%s %llx", name, value) + 1);
}

static bool is_named(const char *symbol, const char *name)
{
	size_t bytes = strlen(name);

	return !strncmp(symbol, name, bytes) && (!symbol[bytes] || symbol[bytes] == '.');
}

static void note_symbols(void)
{
	static const char *const wanted[] = {"current_task", "pcpu_hot", "__per_cpu_offset",
					     "finish_task_switch", "finalize_exec"};
	FILE *symbols = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char name[512];

	while (symbols && fscanf(symbols, "%llx %*c %511s%*[^\n]", &address, name) == 2)
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (is_named(name, wanted[i]))
				note(wanted[i], address);
	if (symbols)
		fclose(symbols);
}

static void note_comm(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), "comm"))
			note("comm", btf_member_bit_offset(type, i) / 8);
	btf__free(btf);
}

static int send_file(const char *path)
{
	char bytes[sizeof(message.data)];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (file < 0)
		return 1;
	say(COUNT_FILE, path, strlen(path) + 1);
	while ((got = read(file, bytes, sizeof(bytes))) > 0)
		say(COUNT_CHUNK, bytes, got);
	close(file);
	return got < 0;
}

/* Sends what gives names to the counted addresses while the recorder that runs this program still
 * has its programs of BPF. The files are not counted. */
static int run(char **command)
{
	pid_t child = fork();
	char path[64];
	int status;

	if (!child) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	say(COUNT_PAUSE, "", 1);
	snprintf(path, sizeof(path), "/proc/%d/maps", getppid());
	status |= send_file("/proc/kallsyms") | send_file(path);
	say(COUNT_GO_ON, "", 1);
	return status != 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "", *value = argc > 2 ? argv[2] : "";

	if (!strcmp(verb, "notes")) {
		note_symbols();
		note_comm();
	} else if (!strcmp(verb, "begin")) {
		say(COUNT_BEGIN, value, strlen(value) + 1);
	} else if (!strcmp(verb, "end")) {
		say(COUNT_END, "", 1);
	} else if (!strcmp(verb, "pause")) {
		say(COUNT_PAUSE, "", 1);
	} else if (!strcmp(verb, "go_on")) {
		say(COUNT_GO_ON, "", 1);
	} else if (!strcmp(verb, "file")) {
		return send_file(value);
	} else if (!strcmp(verb, "run") && argc > 2) {
		return run(argv + 2);
	} else {
		return 2;
	}
	return 0;
}
