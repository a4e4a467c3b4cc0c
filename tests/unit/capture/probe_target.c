/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to be probed: two names of one address, a function with a version, an IFUNC, a function
 * that only .symtab lists, one that another library defines, and one with arguments. The library is
 * linked so that addresses differ from file offsets.
 */
#include <unistd.h>

int probe_target_one(void);
int probe_target_two(void);
int probe_target_alias(void);
int probe_target_chosen(void);
int probe_target_old(void);
int probe_argument(double unread, int taken);

int probe_target_one(void)
{
	return 0x1234567;
}

int probe_target_alias(void) __attribute__((alias("probe_target_one")));

__attribute__((noinline, used)) static int probe_target_hidden(void)
{
	return 0x2345678;
}

int probe_target_two(void)
{
	return probe_target_hidden() + 0x3456789;
}

static int (*choose(void))(void)
{
	return probe_target_one;
}

int probe_target_chosen(void) __attribute__((ifunc("choose")));

__attribute__((symver("probe_target_versioned@PROBE_TARGET_1"))) int probe_target_old(void)
{
	return 0x4567890 + getpid();
}

int probe_argument(double unread, int taken)
{
	return taken / (1 + (unread > 0));
}
