/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One range after the other. */
#include "cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_cpu(const char **text, u32 *cpu)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	number = strtoul(*text, &end, 10);
	if (number >= CONFIG_CPUS_MAX)
		return -ERANGE;
	*cpu = number;
	*text = end;
	return 0;
}

static int parse_range(const char **text, u64 *mask)
{
	u32 first, last;
	int result = parse_cpu(text, &first);

	last = first;
	if (!result && **text == '-') {
		(*text)++;
		result = parse_cpu(text, &last);
	}
	if (result)
		return result;
	if (last < first)
		return -EINVAL;
	for (; first <= last; first++)
		mask[first / 64] |= 1ULL << (first % 64);
	return 0;
}

int cpu_list_parse(const char *text, u64 mask[CONFIG_CPUS_MAX / 64])
{
	int result;

	do {
		result = parse_range(&text, mask);
	} while (!result && *text++ == ',');
	if (result)
		return result;
	return text[-1] ? -EINVAL : 0;
}

int cpu_list_online(char *text, size_t room, u64 mask[CONFIG_CPUS_MAX / 64])
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	char *line = NULL;
	size_t bytes = 0;
	int result = -errno;

	if (!file)
		return result;
	result = getline(&line, &bytes, file) < 0 ? -EIO : 0;
	if (!result) {
		line[strcspn(line, "\n")] = 0;
		snprintf(text, room, "%s", line);
		result = cpu_list_parse(line, mask);
	}
	free(line);
	fclose(file);
	return result;
}
