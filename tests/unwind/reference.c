/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reference.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct reference {
	Dwfl *dwfl;
	u64 generation; /* of the mappings that it knows */
	u64 *frames;
	u32 count, max;
	char name[512];
};

static char *no_debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &no_debug_path,
};

struct reference *reference_create(void)
{
	return calloc(1, sizeof(struct reference));
}

void reference_free(struct reference **reference)
{
	if (*reference && (*reference)->dwfl)
		dwfl_end((*reference)->dwfl);
	free(*reference);
	*reference = NULL;
}

static void renew(struct reference *reference, const struct traced *traced)
{
	if (reference->dwfl && reference->generation == traced->generation)
		return;
	if (reference->dwfl)
		dwfl_end(reference->dwfl);
	reference->dwfl = dwfl_begin(&callbacks);
	dwfl_linux_proc_report(reference->dwfl, traced->pid);
	dwfl_report_end(reference->dwfl, NULL, NULL);
	dwfl_linux_proc_attach(reference->dwfl, traced->pid, true);
	reference->generation = traced->generation;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct reference *reference = arg;
	Dwarf_Addr pc;

	if (reference->count == reference->max || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	reference->frames[reference->count++] = pc;
	return DWARF_CB_OK;
}

u32 reference_unwind(struct reference *reference, const struct traced *traced, u64 *frames, u32 max)
{
	renew(reference, traced);
	reference->frames = frames;
	reference->count = 0;
	reference->max = max;
	dwfl_getthread_frames(reference->dwfl, traced->tid, take_frame, reference);
	return reference->count;
}

const char *reference_name(struct reference *reference, u64 address)
{
	Dwfl_Module *module = dwfl_addrmodule(reference->dwfl, address);
	const char *file = "?", *symbol;
	GElf_Off offset = 0;
	GElf_Sym entry;

	if (!module)
		return "?";
	file = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	symbol = dwfl_module_addrinfo(module, address, &offset, &entry, NULL, NULL, NULL);
	snprintf(reference->name, sizeof(reference->name), "%s %s+%#llx", file,
		 symbol ? symbol : "?", (unsigned long long)offset);
	return reference->name;
}
