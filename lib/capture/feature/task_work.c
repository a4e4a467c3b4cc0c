/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which form the kernel names; and an object that names no other, nor what the kernel lacks. */
#include "capture/feature/task_work.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <string.h>

#include "capture/feature/boot_facts.h"
#include "capture/feature/feature.h"
#include "capture/feature/kernel_btf.h"

#define SCHEDULE "bpf_task_work_schedule_resume"
#define SCHEDULE_AUX SCHEDULE "_impl"

/* What objects may call of the kernel. */
static const char *const names[] = {
	SCHEDULE,
	SCHEDULE_AUX,
	"bpf_rcu_read_lock", /* 6.2, like the next ones */
	"bpf_rcu_read_unlock",
	"bpf_task_from_pid", /* finds tasks that wait (bpf/deferral/unwind_blocked.h) */
	"bpf_task_release",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Reads which of `names` the kernel's types have, as bits. Takes some milliseconds. */
static u64 find_named(void)
{
	u64 bits = kernel_btf_mentions(names, NAMES);

	for (u32 i = 0; bits && i < NAMES; i++)
		boot_fact_keep(BOOT_FACTS_FOLDER, names[i], bits >> i & 1);
	return bits;
}

/* The same, kept for the process and until the next boot. */
static u64 named(void)
{
	static _Atomic u64 known;
	const u64 is_known = 1ULL << 63;
	u64 bits = is_known;

	if (known)
		return known;
	for (u32 i = 0; i < NAMES; i++) {
		int fact = boot_fact(BOOT_FACTS_FOLDER, names[i]);

		if (fact < 0) {
			bits = find_named() | is_known;
			break;
		}
		bits |= (u64)fact << i;
	}
	known = bits;
	return bits;
}

enum task_work_form task_work_form(void)
{
	u64 bits = named();

	if (bits & 1)
		return TASK_WORK_PLAIN;
	return bits & 2 ? TASK_WORK_AUX : TASK_WORK_NONE;
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
	u64 bits = named();

	if (task_work_form() == TASK_WORK_PLAIN)
		bits &= ~2ULL; /* with another prototype */
	for (u32 i = 0; i < NAMES; i++)
		if (!(bits >> i & 1))
			name_nothing(bpf_object__btf(object), names[i]);
}

static struct feature_result tried;

static void try(void)
{
	feature_probe_once(FEATURE_TASK_WORK, &tried);
}

static const struct feature_result *result_of_trial(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, try);
	return &tried;
}

bool task_work_works(void)
{
	return result_of_trial()->works;
}

const char *task_work_why(void)
{
	return result_of_trial()->why;
}
