/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File systems whose files a server, or a process of any user, answers for: a read may wait
 * forever. They are known by their magic (linux/magic.h, super_block.s_magic).
 */
#ifndef ABI_FILE_SYSTEM_H
#define ABI_FILE_SYSTEM_H

#include "scalar.h"

#define FILE_SYSTEMS_OF_OTHERS(X)                                                                  \
	X(0x65735546) /* FUSE */                                                                   \
	X(0x6969)     /* NFS */                                                                    \
	X(0x517b)     /* SMB */                                                                    \
	X(0xff534d42) /* CIFS */                                                                   \
	X(0xfe534d42) /* SMB 2 and 3 */                                                            \
	X(0x01021997) /* 9p */                                                                     \
	X(0x00c36400) /* Ceph */                                                                   \
	X(0x5346414f) /* AFS of OpenAFS */                                                         \
	X(0x6b414653) /* AFS of the kernel */                                                      \
	X(0x73757245) /* Coda */

#define X(magic) || file_system == (magic)
ABI_INLINE u32 file_system_is_of_others(u64 file_system)
{
	return 0 FILE_SYSTEMS_OF_OTHERS(X);
}
#undef X

#endif
