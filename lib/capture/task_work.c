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

/* By which tasks that wait are found (bpf/settle.h): from 6.2 on. */
static const char *const others[] = {"bpf_task_from_pid", "bpf_task_release"};

enum task_work_form task_work_form(void)
{
	if (kernel_btf_mentions(SCHEDULE))
		return TASK_WORK_PLAIN;
	return kernel_btf_mentions(SCHEDULE_AUX) ? TASK_WORK_AUX : TASK_WORK_NONE;
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
	const struct btf *types = bpf_object__btf(object);
	enum task_work_form form = task_work_form();

	if (form != TASK_WORK_PLAIN)
		name_nothing(types, SCHEDULE);
	if (form != TASK_WORK_AUX)
		name_nothing(types, SCHEDULE_AUX);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!kernel_btf_mentions(others[i]))
			name_nothing(types, others[i]);
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
