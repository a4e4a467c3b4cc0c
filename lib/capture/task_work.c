/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which form the kernel names; and for old versions of libbpf, an object that names no other. */
#include "capture/task_work.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "capture/feature.h"
#include "capture/kernel_btf.h"

#define SCHEDULE "bpf_task_work_schedule_resume"
#define SCHEDULE_AUX SCHEDULE "_impl"

enum task_work_form task_work_form(void)
{
	if (kernel_btf_mentions(SCHEDULE))
		return TASK_WORK_PLAIN;
	return kernel_btf_mentions(SCHEDULE_AUX) ? TASK_WORK_AUX : TASK_WORK_NONE;
}

static bool libbpf_compares_weak(void)
{
	return libbpf_major_version() > 1 || libbpf_minor_version() >= 3;
}

/* Of a weak one that no kernel has, nothing is compared. The kernel wants names that C allows. */
static void spoil(const char *name)
{
	((char *)name)[0] = '_';
}

void task_work_prepare(struct bpf_object *object)
{
	const struct btf *types = bpf_object__btf(object);
	int id;

	if (libbpf_compares_weak() || task_work_form() != TASK_WORK_PLAIN)
		return;
	id = btf__find_by_name_kind(types, SCHEDULE_AUX, BTF_KIND_FUNC);
	if (id > 0)
		spoil(btf__name_by_offset(types, btf__type_by_id(types, id)->name_off));
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
