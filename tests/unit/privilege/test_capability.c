/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities that were given up are gone from every set of the kernel, and do not come back. */
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege/capability.h"
#include "unit_test.h"

static u64 status_word(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long word = ~0ULL;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ":%llx", &word);
	if (file)
		fclose(file);
	return word;
}

/* Runs in a child, as the loss is permanent. */
static int check_after_keeping_capabilities(u64 kept, int (*check)(u64 kept))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(capability_keep_only(kept) ? 1 : check(kept));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int check_sets(u64 kept)
{
	if (capability_held() & ~kept || status_word("CapEff") & ~kept)
		return 2;
	if (status_word("CapPrm") & ~kept || status_word("CapInh") || status_word("CapAmb"))
		return 3;
	return status_word("NoNewPrivs") == 1 ? 0 : 4;
}

static int check_return(u64 kept)
{
	(void)kept;
	return capability_keep_only(~0ULL) || capability_held() ? 2 : 0;
}

TEST(held_as_the_kernel_says)
{
	assert_int_equal(capability_held(), status_word("CapEff"));
}

TEST(other_capabilities_are_gone)
{
	assert_int_equal(check_after_keeping_capabilities(
				 CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_BPF), check_sets),
			 0);
	assert_int_equal(check_after_keeping_capabilities(0, check_sets), 0);
}

TEST(kept_capabilities_stay)
{
	u64 held = capability_held();
	u64 one = held & -held;
	int status;
	pid_t pid;

	if (!held) {
		printf("skip: this user has no capability to give up\n");
		skip();
	}
	pid = fork();
	if (!pid)
		_exit(capability_keep_only(one) || capability_held() != one);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(a_lost_capability_does_not_come_back)
{
	assert_int_equal(check_after_keeping_capabilities(0, check_return), 0);
}
