/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel_files.h"

#include <fcntl.h>
#include <unistd.h>

void kernel_files_open(struct kernel_files *files)
{
	*files = (struct kernel_files){
		.kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
		.modules = open("/proc/modules", O_RDONLY | O_CLOEXEC),
		.iomem = open("/proc/iomem", O_RDONLY | O_CLOEXEC),
	};
}

static void close_one(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void kernel_files_close(struct kernel_files *files)
{
	close_one(&files->kallsyms);
	close_one(&files->modules);
	close_one(&files->iomem);
}
