/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list in sysfs is read time and again: the kernel's messages to udev would say the same
 * sooner, but may be lost, and do not reach every sandbox. A descriptor is kept for that: to open
 * the list each time costs eight times as much. */
#include "capture/load/cpu_hotplug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture/load/attach.h"
#include "clock.h"
#include "error.h"
#include "number_list.h"

#define ONLINE_FILE "/sys/devices/system/cpu/online"
#define POLL_NS (100 * NS_PER_MS)

static int parse(const char *text, u64 *mask)
{
	struct number_list list = {};
	int result = number_list_add(&list, text, CONFIG_CPUS_MAX - 1);

	if (!result)
		number_list_set_bits(&list, mask);
	number_list_clear(&list);
	return result;
}

/* From its beginning, whatever was read before. */
static int read_list(int list, char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS])
{
	u64 mask[CPU_MASK_WORDS] = {0};
	ssize_t got = pread(list, text, ONLINE_TEXT_BYTES - 1, 0);
	int result = got < 0 ? -errno : got ? 0 : -EIO;

	text[result ? 0 : got] = 0;
	text[strcspn(text, "\n")] = 0;
	result = result ?: parse(text, mask);
	if (!result)
		memcpy(online, mask, sizeof(mask));
	return result;
}

int online_cpus_read(char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS])
{
	int list = open(ONLINE_FILE, O_RDONLY | O_CLOEXEC), result;

	if (list < 0)
		return -errno;
	result = read_list(list, text, online);
	close(list);
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

	cpu_hotplug_end(hotplug);
	hotplug->list = open(ONLINE_FILE, O_RDONLY | O_CLOEXEC);
	if (hotplug->list < 0)
		hotplug->list = 0;
	else
		read_list(hotplug->list, text, hotplug->online);
	hotplug->next_poll = clock_ns(CLOCK_MONOTONIC) + POLL_NS;
}

void cpu_hotplug_end(struct cpu_hotplug *hotplug)
{
	if (hotplug->list)
		close(hotplug->list);
	hotplug->list = 0;
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
	if (!hotplug->list || read_list(hotplug->list, text, online))
		return;
	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		u64 *word = &online[cpu / 64], bit = 1ULL << (cpu % 64);

		if (*word & ~hotplug->online[cpu / 64] & bit && !cpu_came(attachment, cpu))
			*word &= ~bit;
	}
	memcpy(hotplug->online, online, sizeof(online));
}
