/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reference.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct reference {
	Dwfl *dwfl;
	u64 generation; /* generation of the mappings that the Dwfl knows */
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

/* The Dwfl knows one thread, traced->tid, whose registers come from `traced`. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return ((struct traced *)arg)->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	*thread = arg;
	return ((struct traced *)arg)->tid == tid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	(void)dwfl;
	return traced_read(arg, address, word, sizeof(*word));
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct traced *traced = arg;
	Dwarf_Word value[REGISTER_COUNT];

	for (u32 i = 0; i < REGISTER_COUNT; i++)
		value[i] = traced->registers.value[i];
	return dwfl_thread_state_registers(thread, 0, REGISTER_COUNT, value);
}

static const Dwfl_Thread_Callbacks known_thread = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static void attach(struct reference *reference, const struct traced *traced)
{
	if (traced->stack)
		dwfl_attach_state(reference->dwfl, NULL, traced->pid, &known_thread,
				  (void *)traced);
	else
		dwfl_linux_proc_attach(reference->dwfl, traced->pid, true);
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
	attach(reference, traced);
	reference->generation = traced->generation;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct reference *reference = arg;
	Dwarf_Addr pc;
	bool is_exact;

	if (reference->count == reference->max || !dwfl_frame_pc(frame, &pc, &is_exact))
		return DWARF_CB_ABORT;
	if (reference->count && is_exact)
		pc += FRAME_BEHIND_INTERRUPTED;
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
