/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of the reader of /proc/self/maps: for any bytes, the mapping that it finds
 * contains the address. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/here/here.c"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct unwind_mapping code;
	static int file = -1;
	u64 address;

	if (bytes < sizeof(address))
		return 0;
	if (file < 0)
		file = memfd_create("fuzzed", 0);
	memcpy(&address, data, sizeof(address));
	data += sizeof(address);
	bytes -= sizeof(address);
	if (ftruncate(file, 0) || pwrite(file, data, bytes, 0) != (ssize_t)bytes ||
	    lseek(file, 0, SEEK_SET))
		abort();
	if (maps_search(file, address, &code) && (address < code.start || address >= code.end))
		abort();
	return 0;
}
