/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The number is in sysfs. */
#include "pmu.h"

#include <stdio.h>

#include "symbol/file/whole_file.h"

int pmu_type(const char *name)
{
	char path[96];
	int type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return whole_file_scan(path, "%d", &type) ?: type;
}
