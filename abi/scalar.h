/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fixed-width scalars for every byte that BPF programs, the library and files share. The types come
 * from the compiler and not from a libc, so that the same header serves the host and the BPF
 * target.
 */
#ifndef STACKMAP_ABI_SCALAR_H
#define STACKMAP_ABI_SCALAR_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT8_TYPE__ s8;
typedef __INT16_TYPE__ s16;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#define ABI_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define ABI_OFFSET(type, member, bytes)                                                            \
	_Static_assert(__builtin_offsetof(type, member) == (bytes), #type "." #member " moved")

/* A function that is always inlined: BPF cannot call a function that returns a struct. */
#define ABI_INLINE static inline __attribute__((always_inline))

/* An X-list names each entry once: X(ID, "name", "meaning"). Ids are never reused. */
#define ABI_ENUM_ENTRY(prefix, id) prefix##_##id,

#endif
