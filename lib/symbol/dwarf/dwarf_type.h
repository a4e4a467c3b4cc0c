/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads types of C and C++ from DWARF: how a call passes a value of the type, which kind of number
 * it is, and where a member is. The file may hold any bytes. */
#ifndef LIB_SYMBOL_DWARF_TYPE_H
#define LIB_SYMBOL_DWARF_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "call_words.h"

/* Reads the type of an entry, and leaves out typedefs and qualifiers. False: void, or damaged. */
bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type);

/* Types refer to each other, so a few of them can ask for work that grows exponentially with their
 * number. `work` is the number of entries that may still be read; reading one decrements *work. */

/* Reads the shape of a type that dwarf_type_of() gave. False: the shape is not known, as for a
 * structure that is only declared, or *work has become 0. */
bool dwarf_type_compute_call_shape(Dwarf_Die *type, bool is_cxx, u32 *work,
				   struct call_shape *shape);

struct dwarf_number {
	u8 bytes; /* length in bytes: 1, 2, 4 or 8 */
	bool is_signed;
	bool is_address;
};

/* Describes a type as a number. False: the type is no integer of up to 8 bytes, enumeration, truth
 * value or pointer. */
bool dwarf_type_number(Dwarf_Die *type, struct dwarf_number *number);

/* True for structures, classes and unions: the types with members that . and -> find. */
bool dwarf_type_is_structure(Dwarf_Die *type);

/* Finds a member of a structure by name, also in base classes and in members without names: its
 * type and its offset. 0; -ENOENT; -EOPNOTSUPP: it is a bit field, or in a virtual base class;
 * -E2BIG: *work has become 0. */
int dwarf_type_member(Dwarf_Die *structure, const char *name, size_t length, u32 *work,
		      Dwarf_Die *type, u64 *offset);

/* Adds the names of members to a list (text_list.h). */
void dwarf_type_members(Dwarf_Die *structure, u32 *work, char *names, size_t bytes);

#endif
