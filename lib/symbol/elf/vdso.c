/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The auxiliary vector says where the image starts; its section headers, which stand last, say
 * where it ends. The image comes from the kernel, so its header can be trusted.
 */
#include "vdso.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

Elf *vdso_open(void)
{
	ElfW(Ehdr) *header = (void *)getauxval(AT_SYSINFO_EHDR);

	if (!header || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	return elf_memory((char *)header,
			  header->e_shoff + (size_t)header->e_shnum * header->e_shentsize);
}
