// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A library for script_events.py.
#include <unistd.h>

int call_getppid(void);

int call_getppid(void)
{
	return getppid() > 0;
}
