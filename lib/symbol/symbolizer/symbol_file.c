/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol_service.h"

#define MEMORY_NO_EXEC 8U /* MFD_NOEXEC_SEAL, since Linux 6.3 */

int symbol_file_create(void)
{
	int file = memfd_create("stackmap", MFD_CLOEXEC | MEMORY_NO_EXEC);

	if (file < 0 && errno == EINVAL)
		file = memfd_create("stackmap", MFD_CLOEXEC);
	return file < 0 ? -errno : file;
}

int symbol_file_put_addresses(const u64 *addresses, u32 count)
{
	size_t bytes = count * sizeof(*addresses);
	int file = symbol_file_create();

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

/* Reads the next symbol and copies its name to `name`; false: the end, or damaged bytes. */
static bool next_symbol(const char **data, const char *end, struct symbol_item *head, char *name)
{
	if ((size_t)(end - *data) < sizeof(*head))
		return false;
	memcpy(head, *data, sizeof(*head));
	*data += sizeof(*head);
	if (head->name_bytes > SYMBOL_NAME_BYTES_MAX || head->name_bytes > (size_t)(end - *data))
		return false;
	memcpy(name, *data, head->name_bytes);
	name[head->name_bytes] = 0;
	*data += head->name_bytes;
	return true;
}

int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_undivided),
		     void *arg)
{
	char *data = NULL, *name = NULL;
	const char *at = NULL, *end = NULL;
	struct symbol_item head;
	int result = 0;

	if (file < 0 || !bytes)
		return 0;
	data = malloc(bytes);
	name = malloc(SYMBOL_NAME_BYTES_MAX + 1);
	if (!data || !name) {
		result = -ENOMEM;
	} else if (pread(file, data, bytes, 0) == (ssize_t)bytes) {
		at = data;
		end = data + bytes;
	}
	while (!result && next_symbol(&at, end, &head, name)) {
		const struct trace_symbol symbol = {.mapping = number,
						    .start = head.start,
						    .size = head.size,
						    .address = head.address,
						    .name = name};

		result = each(arg, &symbol, head.is_undivided);
	}
	free(name);
	free(data);
	return result;
}

int symbol_file_put(void *out, const struct trace_symbol *symbol, bool is_undivided)
{
	const struct symbol_item head = {symbol->start, symbol->size, symbol->address,
					 strlen(symbol->name), is_undivided};

	fwrite(&head, sizeof(head), 1, (FILE *)out);
	fwrite(symbol->name, head.name_bytes, 1, (FILE *)out);
	return ferror(out) ? -ENOMEM : 0;
}
