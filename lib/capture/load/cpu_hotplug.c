/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list in sysfs is read time and again: the kernel's messages to udev would say the same
 * sooner, but may be lost, and do not reach every sandbox. */
#include "capture/load/cpu_hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/load/attach.h"
#include "clock.h"
#include "error.h"
#include "number_list.h"

#define ONLINE_FILE "/sys/devices/system/cpu/online"
#define POLL_NS (100 * NS_PER_MS)

int online_cpus_read(char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS])
{
	struct number_list list = {};
	FILE *file = fopen(ONLINE_FILE, "re");
	int result;

	if (!file)
		return -errno;
	result = fgets(text, ONLINE_TEXT_BYTES, file) ? 0 : -EIO;
	fclose(file);
	text[result ? 0 : strcspn(text, "\n")] = 0;
	result = result ?: number_list_add(&list, text, CONFIG_CPUS_MAX - 1);
	if (!result) {
		memset(online, 0, CPU_MASK_WORDS * sizeof(*online));
		number_list_set_bits(&list, online);
	}
	number_list_clear(&list);
	return result;
}

static int parse(const char *text, u64 *mask)
{
	struct number_list list = {};
	int result = number_list_add(&list, text, CONFIG_CPUS_MAX - 1);

	if (!result)
		number_list_set_bits(&list, mask);
	number_list_clear(&list);
	return result;
}

int online_cpus_choose(const char *list, u64 mask[CPU_MASK_WORDS], struct stackmap_error *error)
{
	u64 online[CPU_MASK_WORDS] = {0};
	char text[ONLINE_TEXT_BYTES] = "not known";
	int result = parse(list, mask);

	if (result == -EINVAL)
		return error_set(error, EINVAL, "%s: must be a list of CPUs like 0-3,8", list);
	if (!online_cpus_read(text, online))
		for (u32 i = 0; i < CPU_MASK_WORDS && !result; i++)
			result = mask[i] & ~online[i] ? -ERANGE : 0;
	if (!result)
		return 0;
	return error_set(error, -result, "%s: the CPUs of this machine are %s", list, text);
}

void cpu_hotplug_begin(struct cpu_hotplug *hotplug)
{
	char text[ONLINE_TEXT_BYTES];

	online_cpus_read(text, hotplug->online);
	hotplug->next_poll = clock_ns(CLOCK_MONOTONIC) + POLL_NS;
}

/* False: it is listed before perf has it, or has gone again, and is tried at the next look. */
static bool cpu_came(struct attachment *attachment, u32 cpu)
{
	int result = attachment_add_cpu(attachment, cpu);
	if (result == -ENODEV)
		return false;
	if (result)
		attachment->hotplug.unsampled++;
	else
		attachment->hotplug.came++;
	return true;
}

void cpu_hotplug_poll(struct attachment *attachment)
{
	struct cpu_hotplug *hotplug = &attachment->hotplug;
	u64 now = clock_ns(CLOCK_MONOTONIC), online[CPU_MASK_WORDS];
	char text[ONLINE_TEXT_BYTES];

	if (now < hotplug->next_poll || !attachment_is_by_cpu(attachment))
		return;
	hotplug->next_poll = now + POLL_NS;
	if (online_cpus_read(text, online))
		return;
	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		u64 *word = &online[cpu / 64], bit = 1ULL << (cpu % 64);

		if (*word & ~hotplug->online[cpu / 64] & bit && !cpu_came(attachment, cpu))
			*word &= ~bit;
	}
	memcpy(hotplug->online, online, sizeof(online));
}
