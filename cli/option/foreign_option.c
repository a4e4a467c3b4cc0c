/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An option that is not in this table is answered with the nearest existing option. */
#include "foreign_option.h"

#include <stddef.h>
#include <string.h>

static const char stacks_always[] =
	"every event has its stacks; --user-unwind chooses how, --no-user leaves them out";
static const char as_operand[] = "the recording is named without it, as in 'stackmap report FILE'";
static const char trees[] = "--tree shows who calls whom, --callers SYMBOL who calls a function";
static const char text_always[] = "what is printed is text; --no-pager prints it without a pager";
static const char periods[] = "the period stands behind the event, as in -e page-faults/100";
static const char threads[] = "-p PID records all threads of a process, 'report --tid' shows one";

static const struct {
	const char *command, *option, *instead;
} options[] = {
	{"record", "-g", stacks_always},
	{"record", "--call-graph", stacks_always},
	{"record", "-c", periods},
	{"record", "--count", periods},
	{"record", "-t", threads},
	{"record", "--tid", threads},
	{"record", "--freq", "the rate is -F HZ, --frequency HZ"},
	{"record", "--all-cpus", "the whole machine is -a, --all"},
	{"record", "--duration", "'-- sleep SECONDS' ends the recording"},
	{"record", "--mmap-pages", "the size of the rings is -m SIZE, --ring SIZE"},
	{"record", "--overwrite", "--flight SIZE keeps the newest events"},
	{"record", "--switch-output", "--rotate WINDOW begins new files"},
	{"report", "-g", trees},
	{"report", "--call-graph", trees},
	{"report", "--stdio", text_always},
	{"report", "--tui", "'stackmap flamegraph' makes a page to look into"},
	{"report", "--percent-limit", "small shares are left out by --min-percent PERCENT"},
	{"top", "-g", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--call-graph", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--duration", "-n N ends after N refreshes of --delay seconds"},
	{"report", "-i", as_operand},
	{"report", "--input", as_operand},
	{"script", "-i", as_operand},
	{"script", "--input", as_operand},
	{"export", "-i", as_operand},
	{"export", "--input", as_operand},
	{"flamegraph", "-i", as_operand},
	{"flamegraph", "--input", as_operand},
};

const char *foreign_option(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].option, option) && !strcmp(options[i].command, command))
			return options[i].instead;
	return NULL;
}
