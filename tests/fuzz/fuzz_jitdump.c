/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of the reader of jitdumps: any bytes give valid names or an error. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_generated_code.h"
#include "symbol/jit/jitdump.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct generated_code code = {};
	static int file = -1;
	int result;

	if (file < 0)
		file = memfd_create("fuzzed", 0);
	demand(!ftruncate(file, 0) && pwrite(file, data, bytes, 0) == (ssize_t)bytes);
	result = jitdump_read_open(file, &code);
	demand(!result || result == -ENOEXEC);
	generated_code_check(&code, 0, UINT64_MAX);
	generated_code_check(&code, 0x7f0000000000, 1ULL << 40);
	generated_code_clear(&code);
	return 0;
}
