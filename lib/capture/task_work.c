/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which form the kernel names; and an object that names no other, nor what the kernel lacks. */
#include "capture/task_work.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "capture/feature.h"
#include "capture/kernel_btf.h"

#define SCHEDULE "bpf_task_work_schedule_resume"
#define SCHEDULE_AUX SCHEDULE "_impl"

/* What objects may call of the kernel. */
static const char *const names[] = {
	SCHEDULE,
	SCHEDULE_AUX,
	"bpf_rcu_read_lock", /* 6.2, like the next ones */
	"bpf_rcu_read_unlock",
	"bpf_task_from_pid", /* finds tasks that wait (bpf/settle.h) */
	"bpf_task_release",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static enum task_work_form form_of(u64 named)
{
	if (named & 1)
		return TASK_WORK_PLAIN;
	return named & 2 ? TASK_WORK_AUX : TASK_WORK_NONE;
}

enum task_work_form task_work_form(void)
{
	return form_of(kernel_btf_mentions(names, NAMES));
}

/* libbpf takes this name for nothing that is to be looked for. Any other that the kernel lacks it
 * looks for in modules, which takes CAP_SYS_ADMIN. */
static void name_nothing(const struct btf *types, const char *name)
{
	int id = btf__find_by_name_kind(types, name, BTF_KIND_FUNC);

	if (id > 0)
		strcpy((char *)btf__name_by_offset(types, btf__type_by_id(types, id)->name_off),
		       "void");
}

void task_work_prepare(struct bpf_object *object)
{
	u64 named = kernel_btf_mentions(names, NAMES);

	if (form_of(named) == TASK_WORK_PLAIN)
		named &= ~2ULL; /* with another prototype */
	for (u32 i = 0; i < NAMES; i++)
		if (!(named >> i & 1))
			name_nothing(bpf_object__btf(object), names[i]);
}

bool task_work_works(void)
{
	static _Atomic int known; /* 0: not tried yet */
	struct feature_result result;

	if (!known) {
		feature_probe(FEATURE_TASK_WORK, &result);
		known = result.works ? 1 : -1;
	}
	return known > 0;
}
