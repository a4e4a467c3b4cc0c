/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read from the one place where kernels with BTF show it. libbpf's own search goes on to look for
 * debug files of vmlinux and prints what it did not find; a library must not.
 */
#include "kernel_btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

struct btf *kernel_btf_load(void)
{
	return btf__parse_raw(BTF_PATH);
}

int kernel_btf_function(const char *name)
{
	struct btf *btf = kernel_btf_load();
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -errno;

	btf__free(btf);
	return id;
}

/* A name stands among the strings, between two zeroes. */
static bool has_string(const char *bytes, size_t count, const char *name)
{
	size_t length = strlen(name) + 1;
	const char *at = bytes, *end = bytes + count;

	while ((at = memmem(at, end - at, name, length)) && (at == bytes || at[-1]))
		at++;
	return at != NULL;
}

u64 kernel_btf_mentions(const char *const names[], u32 count)
{
	char *bytes;
	size_t size;
	u64 found = 0;

	if (whole_file_read(BTF_PATH, &bytes, &size))
		return 0;
	for (u32 i = 0; i < count; i++)
		if (has_string(bytes, size, names[i]))
			found |= 1ULL << i;
	free(bytes);
	return found;
}
