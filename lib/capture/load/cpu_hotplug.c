/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of online CPUs in sysfs is polled. The kernel's messages to udev would come sooner, but
 * may be lost, and do not reach each sandbox. The file stays open, since opening it for each poll
 * costs eight times as much. */
#include "capture/load/cpu_hotplug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "number_list.h"

#define ONLINE_FILE "/sys/devices/system/cpu/online"
#define POLL_NS (100 * NS_PER_MS)

static int parse_cpu_list(const char *text, u64 *mask)
{
	struct number_list list = {};
	int result = number_list_parse_and_append(&list, text, CONFIG_CPUS_MAX - 1);

	if (!result)
		number_list_set_bits(&list, mask);
	number_list_clear(&list);
	return result;
}

/* Reads the kernel's list of online CPUs from its beginning, as text and as bits. */
static int read_online_cpus(int list, char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS])
{
	u64 mask[CPU_MASK_WORDS] = {0};
	ssize_t got = pread(list, text, ONLINE_TEXT_BYTES - 1, 0);
	int result = got < 0 ? -errno : got ? 0 : -EIO;

	text[result ? 0 : got] = 0;
	text[strcspn(text, "\n")] = 0;
	result = result ?: parse_cpu_list(text, mask);
	if (!result)
		memcpy(online, mask, sizeof(mask));
	return result;
}

int online_cpus_read(char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS])
{
	int list = open(ONLINE_FILE, O_RDONLY | O_CLOEXEC), result;

	if (list < 0)
		return -errno;
	result = read_online_cpus(list, text, online);
	close(list);
	return result;
}

int online_cpus_parse_list(const char *list, u64 mask[CPU_MASK_WORDS], struct stackmap_error *error)
{
	u64 online[CPU_MASK_WORDS] = {0};
	char text[ONLINE_TEXT_BYTES] = "not known";
	int result = parse_cpu_list(list, mask);

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
		read_online_cpus(hotplug->list, text, hotplug->online);
	hotplug->next_poll = clock_ns(CLOCK_MONOTONIC) + POLL_NS;
}

void cpu_hotplug_end(struct cpu_hotplug *hotplug)
{
	if (hotplug->list)
		close(hotplug->list);
	hotplug->list = 0;
}

void cpu_hotplug_poll(struct cpu_hotplug *hotplug, u32 cpus, int (*add)(void *arg, u32 cpu),
		      void *arg)
{
	u64 now = clock_ns(CLOCK_MONOTONIC), online[CPU_MASK_WORDS];
	char text[ONLINE_TEXT_BYTES];

	if (now < hotplug->next_poll)
		return;
	hotplug->next_poll = now + POLL_NS;
	if (!hotplug->list || read_online_cpus(hotplug->list, text, online))
		return;
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		u64 *word = &online[cpu / 64], bit = 1ULL << (cpu % 64);
		int result;

		if (!(*word & ~hotplug->online[cpu / 64] & bit))
			continue;
		result = add(arg, cpu);
		if (result == -ENODEV) /* perf does not know the CPU yet, or no longer knows it */
			*word &= ~bit;
		else if (result)
			hotplug->unsampled++;
		else
			hotplug->came++;
	}
	memcpy(hotplug->online, online, sizeof(online));
}
