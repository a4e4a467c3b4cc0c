/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meaning of a mapping number in a user frame. Programs write a record when they first meet a
 * file, and its build id as soon as the build id can be read.
 *
 * The key is exact enough to be unique for ever: the system reuses inode numbers and process ids,
 * and files are rewritten in place.
 *
 *   MAPPING_FILE  device, inode, the inode's generation, and the file's modification time
 *   MAPPING_VDSO  1 for the vdso of 32-bit tasks, else 0
 *   MAPPING_ANON  the process, by its id and start time, and the upper address bits (JIT)
 */
#ifndef STACKMAP_ABI_MAPPING_H
#define STACKMAP_ABI_MAPPING_H

#include "scalar.h"

/* Mapping numbers begin with 1. The highest numbers stand for scripts (script.h), not for files. */
#define MAPPINGS_MAX 8192
#define MAPPING_NONE 0 /* never given out */
/*
 * mapping number of a frame whose mapping could not be read; the frame's offset holds the low bits
 * of the address
 */
#define MAPPING_UNKNOWN ((1U << 23) - 1)

enum mapping_kind { MAPPING_FREE = 0, MAPPING_FILE = 1, MAPPING_VDSO = 2, MAPPING_ANON = 3 };

#define MAPPING_PATH_BYTES 400
#define MAPPING_BUILD_ID_MAX 20
/* value of build_id_bytes: the file has no build id, or a longer one */
#define MAPPING_NO_BUILD_ID (~0U)

struct mapping_key {
	u64 device; /* kernel encoding: major << 20 | minor; 0 without a file */
	u64 inode;  /* MAPPING_ANON: tgid << 24 | address >> 40; MAPPING_VDSO: 1 for 32-bit tasks */
	u64 since;  /* MAPPING_FILE: FILE_WRITTEN(); MAPPING_ANON: start time of the process */
	u32 generation;
	u32 kind;
};
ABI_SIZE(struct mapping_key, 32);

/* A file's modification time as one number: 2^34 seconds last until the year 2514. */
#define FILE_WRITTEN(seconds, nanoseconds) ((u64)(seconds) << 30 | (nanoseconds))

struct mapping_record {
	struct mapping_key key;
	u32 tgid; /* process in which an event first met a mapping of the file */
	/* number of failed attempts to read the build id: its memory was unreadable, or writable */
	u32 build_id_looks;
	u64 start; /* address of the first byte of the mapping in that process */
	u64 end;
	u64 offset; /* file offset of `start` */
	/*
	 * id of the user that controls what reads of the file return: the owner of the file or of
	 * the mount
	 */
	u32 owner;
	/*
	 * magic number of the file system; 0: the file system is mounted in a user namespace, and
	 * `owner` is the creator of the outermost user namespace around the mount, the initial one
	 * not counted
	 */
	u32 file_system;
	u8 build_id[MAPPING_BUILD_ID_MAX];
	/* length of the build id; 0: it was not looked for, or is not readable yet */
	u32 build_id_bytes;
	u32 path_bytes; /* used bytes of path */
	u32 path_whole; /* 1: `path` has the whole path; 0: the path had more components than fit */
	/* 0: only the scan of running processes has met the mapping, and no event yet */
	u32 is_met;
	u32 reserved;
	/*
	 * The components of the path, innermost first, each with its NUL:
	 * "libc.so.6\0x86_64-linux-gnu\0lib\0usr\0".
	 */
	u8 path[MAPPING_PATH_BYTES];
};
ABI_SIZE(struct mapping_record, 512);

/*
 * The address space to which a cached mapping or rule belongs, and the state of the address space.
 * The kernel reuses the address of an mm; the address together with the process and its execve
 * count is unique.
 */
struct address_space {
	u64 mm;
	u64 process; /* start time of the process */
	u32 execs;
	u32 sequence; /* mm->mm_lock_seq: changes with the mappings; odd while they change */
};
ABI_SIZE(struct address_space, 24);

/*
 * Code of a file that its process has moved to anonymous memory at the same addresses, for large
 * pages: Node.js (--use-largepages), PHP (opcache.huge_code_pages), HHVM. Such a mapping has no
 * file, but may count as a part of one:
 *
 *   MOVED_WANTED  a program has met the mapping beside a mapping of the file
 *   MOVED_ASKED   user space compares all bytes of the mapping with those of the file
 *   MOVED_FILE    the bytes are equal: the mapping counts as that part of the file
 *   MOVED_OTHER   the bytes differ: the mapping is generated code
 *
 * The key names the current state of the mapping: the kernel gives a mapping another stamp with
 * every change (mprotect(), mremap(), munmap(), a fork of the process). A process must change a
 * mapping that is not writable before a write, so equal bytes stay equal under one key. A mapping
 * that is writable (Node.js leaves it so) may change at any time. User space compares such a
 * mapping again after a second, and then after as long as the bytes have been equal, at most 64
 * seconds.
 */

#define MOVED_CODE_MAX 1024

enum moved_state { MOVED_WANTED = 1, MOVED_ASKED, MOVED_OTHER, MOVED_FILE };

struct moved_key {
	u64 mm; /* address of the process's mm_struct, as in struct address_space */
	u64 process;
	u64 execs;
	u64 vma; /* the kernel's vm_area_struct */
	/*
	 * the mapping's vm_lock_seq; 0 before Linux 6.4, where changes of a mapping are not noticed
	 */
	u64 stamp;
};
ABI_SIZE(struct moved_key, 40);

struct moved_code {
	/*
	 * equal to `vma` of the key. A reader compares both, because the kernel reuses the elements
	 * of deleted keys at once
	 */
	u64 vma;
	u32 state;  /* enum moved_state */
	u32 number; /* mapping number of the file */
	u32 tgid;
	/* 1: the mapping is writable, so its bytes may change while its key stays the same */
	u32 is_writable;
	u64 start;
	u64 end;
	u64 offset; /* MOVED_FILE: file offset of `start` */
	u64 image;  /* MOVED_FILE: address of the file's first segment */
	u64 time;   /* CLOCK_MONOTONIC, ns: time of the last write of `state` */
	u64 since;  /* MOVED_FILE: CLOCK_MONOTONIC, ns: time when the state became MOVED_FILE */
};
ABI_SIZE(struct moved_code, 72);

/*
 * File systems whose files a server, or a process of any user, answers for: a read may wait
 * forever. These file systems are recognised by their magic numbers (linux/magic.h,
 * super_block.s_magic).
 */

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
ABI_INLINE u32 is_file_system_of_other_user(u64 file_system)
{
	return 0 FILE_SYSTEMS_OF_OTHERS(X);
}
#undef X

#endif
