/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "neighbour_code.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
const uint8_t neighbour_code[8] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

void check(bool is_well, const char *what)
{
	if (is_well)
		return;
	printf("skip: %s: %s\n", what, strerror(errno));
	exit(77);
}

void write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	check(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(file);
}

void enter_namespaces(void)
{
	unsigned user = getuid(), group = getgid();
	char map[64];

	check(!unshare(CLONE_NEWUSER | CLONE_NEWNS), "no user namespace");
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1\n", user);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1\n", group);
	write_text("/proc/self/gid_map", map);
}

pid_t fork_child(void)
{
	pid_t child = fork();

	check(child >= 0, "fork");
	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

void sleep_a_little(void)
{
	usleep(200);
}

const char *map_file(const char *path, size_t bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	const char *memory = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

	check(file >= 0 && memory != MAP_FAILED, path);
	close(file);
	return memory;
}

void run_for_ever(through_code *entries, int count)
{
	for (int i = 0; i < count; i++)
		entries[i](sleep_a_little);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		for (int i = 0; i < count; i++)
			entries[i](sleep_a_little);
}
