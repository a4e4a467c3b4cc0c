/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The number is in sysfs. */
#include "pmu.h"

#include <errno.h>
#include <stdio.h>

int pmu_type(const char *name)
{
	char path[96];
	FILE *file;
	int type, err;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	err = fscanf(file, "%d", &type) == 1 ? 0 : -EINVAL;
	fclose(file);
	return err ? err : type;
}
