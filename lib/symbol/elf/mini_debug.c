/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* liblzma does the work, within a limit of memory and of what comes out. */
#include "mini_debug.h"

#include <lzma.h>
#include <stdlib.h>

#include "debug_link.h"

#define MEMORY_MAX (256ULL << 20)
#define BYTES_MAX (64UL << 20)
#define GROWTH_MAX 32 /* symbol tables shrink to a fifth or so */

static u8 *unpack(const Elf_Data *packed, size_t *bytes)
{
	size_t room =
		packed->d_size < BYTES_MAX / GROWTH_MAX ? packed->d_size * GROWTH_MAX : BYTES_MAX;
	size_t in = 0, out = 0;
	uint64_t memory = MEMORY_MAX;
	u8 *text = malloc(room);

	if (text && lzma_stream_buffer_decode(&memory, 0, NULL, packed->d_buf, &in, packed->d_size,
					      text, &out, room) == LZMA_OK) {
		*bytes = out;
		return text;
	}
	free(text);
	return NULL;
}

Elf *mini_debug_open(Elf *elf, struct mini_debug *mini)
{
	Elf_Data *packed = debug_link_section(elf, ".gnu_debugdata");
	size_t bytes;

	*mini = (struct mini_debug){};
	if (packed)
		mini->bytes = unpack(packed, &bytes);
	if (mini->bytes)
		mini->elf = elf_memory((char *)mini->bytes, bytes);
	return mini->elf && elf_kind(mini->elf) == ELF_K_ELF ? mini->elf : NULL;
}

void mini_debug_close(struct mini_debug *mini)
{
	elf_end(mini->elf);
	free(mini->bytes);
	*mini = (struct mini_debug){};
}
