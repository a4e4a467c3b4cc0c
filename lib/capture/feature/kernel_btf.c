/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BTF is read from /sys/kernel/btf/vmlinux only. libbpf's own search would also read debug files of
 * vmlinux and print messages, which a library must not do.
 */
#include "kernel_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/file/whole_file.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

struct btf *kernel_btf_load(void)
{
	return btf__parse_raw(BTF_PATH);
}

static int find_btf_id(const char *name, u32 kind)
{
	struct btf *btf = kernel_btf_load();
	int id = btf ? btf__find_by_name_kind(btf, name, kind) : -errno;

	btf__free(btf);
	return id;
}

int kernel_btf_function_id(const char *name)
{
	return find_btf_id(name, BTF_KIND_FUNC);
}

int kernel_btf_tracepoint_id(const char *name)
{
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return find_btf_id(type, BTF_KIND_TYPEDEF);
}

/* True if one of the strings in `bytes`, each between two NULs, is `name`. */
static bool string_section_has_name(const char *bytes, size_t count, const char *name)
{
	size_t length = strlen(name) + 1;
	const char *at = bytes, *end = bytes + count;

	while ((at = memmem(at, end - at, name, length)) && (at == bytes || at[-1]))
		at++;
	return at != NULL;
}

/* The file can be mapped since Linux 6.16; before, it has to be read, at most a page by each
 * read(2). */
int kernel_btf_open(struct kernel_btf_bytes *btf)
{
	int file = open(BTF_PATH, O_RDONLY | O_CLOEXEC), result;
	struct stat status;
	void *bytes;

	if (file < 0 || fstat(file, &status)) {
		result = -errno;
		close(file);
		return result;
	}
	bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
	*btf = (struct kernel_btf_bytes){bytes, status.st_size, true};
	result = bytes == MAP_FAILED ? whole_file_read_open(file, &btf->bytes, &btf->count) : 0;
	btf->is_mapped = bytes != MAP_FAILED;
	close(file);
	return result;
}

void kernel_btf_close(struct kernel_btf_bytes *btf)
{
	if (btf->is_mapped)
		munmap(btf->bytes, btf->count);
	else
		free(btf->bytes);
}

u64 kernel_btf_find_names(const char *const names[], u32 count)
{
	struct kernel_btf_bytes btf;
	u64 found = 0;

	if (kernel_btf_open(&btf))
		return 0;
	for (u32 i = 0; i < count; i++)
		if (string_section_has_name(btf.bytes, btf.count, names[i]))
			found |= 1ULL << i;
	kernel_btf_close(&btf);
	return found;
}
