/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a program in a container: a mount namespace with the root FOLDER, and a process namespace.
 * Both disappear when the program has ended. Other file systems are not visible inside, as in
 * containers of usual runtimes.
 *
 * usage: contained bind|overlay|tmpfs FOLDER PROGRAM   (PROGRAM: a path below FOLDER)
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
}

/* The overlay has no upper layer, so FOLDER may lie on any file system. */
static void mount_overlay(const char *folder)
{
	char layers[8192];

	check(mkdir("empty", 0755), "empty");
	snprintf(layers, sizeof(layers), "lowerdir=empty:%s", folder);
	check(mount("overlay", folder, "overlay", MS_RDONLY, layers), "overlay");
}

/* A tmpfs that holds only a copy of the program. */
static void mount_copy(const char *folder, const char *program)
{
	struct stat status;
	int from, to;

	check(chdir(folder), folder);
	from = open(program + 1, O_RDONLY);
	check(from, program);
	check(mount("tmpfs", ".", "tmpfs", 0, NULL), "tmpfs");
	check(chdir(folder), folder);
	to = open(strrchr(program, '/') + 1, O_WRONLY | O_CREAT, 0755);
	check(to, program);
	check(fstat(from, &status), program);
	if (sendfile(to, from, NULL, status.st_size) != status.st_size)
		err(1, "%s", program);
	close(from);
	close(to);
}

static void make_root(const char *kind, const char *folder, const char *program)
{
	check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
	if (!strcmp(kind, "overlay"))
		mount_overlay(folder);
	else if (!strcmp(kind, "tmpfs"))
		mount_copy(folder, program);
	else
		check(mount(folder, folder, NULL, MS_BIND, NULL), folder);
}

/* pivot_root() mounts the old root over the new one; the old root is then unmounted. */
static void enter_root(const char *folder)
{
	check(chdir(folder), folder);
	check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	check(umount2(".", MNT_DETACH), "the old root");
	check(chdir("/"), "/");
}

int main(int argc, char **argv)
{
	const char *program = argc == 4 ? argv[3] : "";
	int status;
	pid_t pid;

	if (argc != 4)
		errx(2, "usage: contained bind|overlay|tmpfs FOLDER PROGRAM");
	check(unshare(CLONE_NEWNS | CLONE_NEWPID), "namespaces");
	make_root(argv[1], argv[2], program);
	pid = fork();
	check(pid, "fork");
	if (!pid) {
		enter_root(argv[2]);
		if (!strcmp(argv[1], "tmpfs"))
			program = strrchr(program, '/');
		execl(program, program, NULL);
		err(127, "%s", program);
	}
	check(waitpid(pid, &status, 0), "wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
