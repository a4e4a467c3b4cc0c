/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An option that is not in this table is answered with the nearest existing option. */
#include "foreign_option.h"

#include <string.h>

#include "option.h"

static const char stacks_always[] =
	"every event has its stacks; --user-unwind chooses how, --no-user leaves them out";
static const char trees[] = "--tree shows who calls whom, --callers SYMBOL who calls a function";
static const char periods[] = "the period stands behind the event, as in -e page-faults/100";
static const char threads[] = "-p PID records all threads of a process, 'report --tid' shows one";

static const struct {
	const char *command, *option, *instead;
} options[] = {
	{"record", "--call-graph", stacks_always},
	{"record", "-c", periods},
	{"record", "--count", periods},
	{"record", "-t", threads},
	{"record", "--tid", threads},
	{"record", "--filter",
	 "tasks are chosen by -p, --comm and --cgroup, CPUs by --cpu; fields are no choice yet"},
	{"record", "--duration", "'-- sleep SECONDS' ends the recording"},
	{"record", "--mmap-pages", "the size of the rings is -m SIZE, --ring SIZE"},
	{"record", "--overwrite", "--flight SIZE keeps the newest events"},
	{"record", "--switch-output", "--rotate WINDOW begins new files"},
	{"report", "-g", trees},
	{"report", "--call-graph", trees},
	{"report", "--tui", "'stackmap flamegraph' makes a page to look into"},
	{"report", "--percent-limit", "small shares are left out by --min-percent PERCENT"},
	{"script", "-F",
	 "a line has all fields; 'export --format' has other forms, 'report --fields' chooses "
	 "columns"},
	{"script", "--fields",
	 "a line has all fields; 'export --format' has other forms, 'report --fields' chooses "
	 "columns"},
	{"top", "--stdio", "--batch prints text"},
	{"top", "-g", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--call-graph", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--duration", "-n N ends after N refreshes of --delay seconds"},
};

/* Options that mean the same here, and the commands that take them. */
static const struct {
	const char *commands;
	struct option_row row;
} same[] = {
	{"report script export flamegraph",
	 {.name = "input", .letter = 'i', .type = OPTION_OPERAND, .argument = "FILE"}},
	{"report", {.name = "stdio", .type = OPTION_USUAL}},
	{"record", {.name = "g", .letter = 'g', .type = OPTION_USUAL}},
	{"record top",
	 {.name = "freq", .type = OPTION_SAME, .words = "frequency", .argument = "HZ"}},
	{"record top", {.name = "all-cpus", .type = OPTION_SAME, .words = "all"}},
};

static const struct {
	const char *name, *instead;
} commands[] = {
	{"sched", "'record --time' and 'report --thread-time' say where the time of threads went, "
		  "'record --wakers' and 'report --wakers' who ended their waits"},
	{"lock", "'record --locks' and 'report --locks' show who waited for which lock, and who "
		 "released it"},
	{"annotate", "no view shows instructions; 'script' prints the address of each frame"},
	{"stat", "'record' counts events with their stacks, and 'report -s event' adds them up"},
	{"trace", "'record -e syscalls:*' records system calls, 'script' prints them"},
	{"probe", "functions are named when they are recorded: record -e u:PATH:FUNC or -e k:FUNC"},
	{"evlist", "'report' shows the events of a recording, 'list' those of this machine"},
	{"buildid-list", "'report --missing' shows build ids of files without names"},
	{"mem", "accesses to memory are not sampled; 'record -e page-faults' records faults"},
	{"c2c", "accesses to memory are not sampled"},
};

const struct option_row *foreign_row(const char *command, size_t i)
{
	for (size_t j = 0; j < sizeof(same) / sizeof(*same); j++) {
		const char *words = same[j].commands, *word;
		size_t length;

		while ((word = option_word(&words, &length)))
			if (length == strlen(command) && !strncmp(word, command, length) && !i--)
				return &same[j].row;
	}
	return NULL;
}

const char *foreign_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].instead;
	return NULL;
}

const char *foreign_option(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].option, option) && !strcmp(options[i].command, command))
			return options[i].instead;
	return NULL;
}
