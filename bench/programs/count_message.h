/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of the marker program in the guest to the plugin of the emulator (bench/count). The
 * marker fills a page, executes `movabs $COUNT_MAGIC, %rax`, and stores to the page in the next
 * instruction. The plugin reads the page from the guest's memory, so messages of all sizes cost the
 * guest the same few instructions.
 */
#ifndef BENCH_COUNT_MESSAGE_H
#define BENCH_COUNT_MESSAGE_H

#include <stdint.h>

#define COUNT_MAGIC 0x746e756f63706d73
#define COUNT_MESSAGE_BYTES 4096

enum count_kind {
	COUNT_NOTE = 1, /* "NAME VALUE", the value in hexadecimal */
	COUNT_BEGIN, /* label: counting begins at 0; a label with "+" in front also counts blocks */
	COUNT_END,
	COUNT_PAUSE, /* counting is suspended until COUNT_GO_ON */
	COUNT_FILE,  /* name of a file of this label, whose content comes in the next chunks */
	COUNT_CHUNK,
	COUNT_GO_ON,
};

struct count_message {
	uint32_t ready; /* the marker stores to this word; its value is not used */
	uint32_t kind;
	uint32_t bytes;
	uint32_t reserved;
	char data[COUNT_MESSAGE_BYTES - 16];
};

#endif
