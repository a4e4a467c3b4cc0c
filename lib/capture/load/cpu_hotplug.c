/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list in sysfs is read time and again: the kernel's messages to udev would say the same
 * sooner, but may be lost, and do not reach every sandbox. */
#include "capture/load/cpu_hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/load/attach.h"
#include "clock.h"
#include "number_list.h"

#define ONLINE_FILE "/sys/devices/system/cpu/online"
#define LOOK_NS (100 * NS_PER_MS)

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

void cpu_hotplug_begin(struct cpu_hotplug *hotplug)
{
	char text[ONLINE_TEXT_BYTES];

	online_cpus_read(text, hotplug->online);
	hotplug->next_look = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
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

void cpu_hotplug_look(struct attachment *attachment)
{
	struct cpu_hotplug *hotplug = &attachment->hotplug;
	u64 now = clock_ns(CLOCK_MONOTONIC), online[CPU_MASK_WORDS];
	char text[ONLINE_TEXT_BYTES];

	if (now < hotplug->next_look || !attachment_is_by_cpu(attachment))
		return;
	hotplug->next_look = now + LOOK_NS;
	if (online_cpus_read(text, online))
		return;
	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		u64 *word = &online[cpu / 64], bit = 1ULL << (cpu % 64);

		if (*word & ~hotplug->online[cpu / 64] & bit && !cpu_came(attachment, cpu))
			*word &= ~bit;
	}
	memcpy(hotplug->online, online, sizeof(online));
}
