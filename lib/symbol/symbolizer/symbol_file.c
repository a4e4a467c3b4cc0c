/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer.h"

#define NAME_BYTES_MAX 65536

int symbol_file_put_addresses(const u64 *addresses, u32 count)
{
	size_t bytes = count * sizeof(*addresses);
	int file = symbolizer_memory();

	if (file < 0)
		return file;
	if (pwrite(file, addresses, bytes, 0) == (ssize_t)bytes)
		return file;
	close(file);
	return -ENOMEM;
}

int symbol_file_addresses(int file, u32 count, u64 **out)
{
	size_t bytes = count * sizeof(**out);
	u64 *addresses = malloc(bytes + 1);

	if (!addresses)
		return -ENOMEM;
	if (pread(file, addresses, bytes, 0) != (ssize_t)bytes) {
		free(addresses);
		return -EIO;
	}
	*out = addresses;
	return 0;
}

/* The next symbol, its name copied to `name`; false: there is none. */
static bool next(const char **data, const char *end, struct symbolizer_symbol *head, char *name)
{
	if ((size_t)(end - *data) < sizeof(*head))
		return false;
	memcpy(head, *data, sizeof(*head));
	*data += sizeof(*head);
	if (head->name_bytes > NAME_BYTES_MAX || head->name_bytes > (size_t)(end - *data))
		return false;
	memcpy(name, *data, head->name_bytes);
	name[head->name_bytes] = 0;
	*data += head->name_bytes;
	return true;
}

static int each_of(const char *data, const char *end, u32 number,
		   int (*each)(void *arg, const struct trace_symbol *symbol, bool is_alone),
		   void *arg)
{
	char *name = malloc(NAME_BYTES_MAX + 1);
	struct symbolizer_symbol head;
	int result = name ? 0 : -ENOMEM;

	while (!result && next(&data, end, &head, name)) {
		const struct trace_symbol symbol = {.mapping = number,
						    .start = head.start,
						    .size = head.size,
						    .address = head.address,
						    .name = name};

		result = each(arg, &symbol, head.is_alone);
	}
	free(name);
	return result;
}

int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_alone),
		     void *arg)
{
	char *data = file < 0 || !bytes ? NULL : malloc(bytes);
	int result = 0;

	if (file < 0 || !bytes)
		return 0;
	if (!data)
		return -ENOMEM;
	if (pread(file, data, bytes, 0) == (ssize_t)bytes)
		result = each_of(data, data + bytes, number, each, arg);
	free(data);
	return result;
}
