/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GCC does not say whether the caller passes a class of C++ by its address. The rule of the Itanium
 * C++ ABI is applied to the members: a class with a destructor, or a copy or move constructor, that
 * the program defines is passed by address, and so is a class with virtual functions or virtual
 * bases, or with a base or a member of such a class.
 */
#include "dwarf_type.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "text_list.h"

#define NESTING_MAX 16
#define TYPEDEFS_MAX 64
#define SCANNED_MAX 64 /* bytes of the largest structure of floats that goes in registers */
#define PARTS_MAX 65536

/* DW_AT_calling_convention of a class (DWARF 5, 5.7.1.1). */
#define BY_REFERENCE 4
#define BY_VALUE 5

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &at))
		return false;
	for (u32 i = 0; i < TYPEDEFS_MAX; i++) {
		int tag = dwarf_tag(&at);

		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
		    tag != DW_TAG_atomic_type) {
			/* The definition may be in a unit of its own (-fdebug-types-section). */
			if (dwarf_hasattr(&at, DW_AT_signature) &&
			    dwarf_formref_die(dwarf_attr(&at, DW_AT_signature, &attribute), type))
				return true;
			*type = at;
			return true;
		}
		if (!dwarf_formref_die(dwarf_attr(&at, DW_AT_type, &attribute), &at))
			return false;
	}
	return false;
}

static u64 read_attribute_number(Dwarf_Die *die, unsigned int name, u64 otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return otherwise;
	return value;
}

static bool has_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute);
}

bool dwarf_type_is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* True for a data member or a base class. A static member has an entry, too, but lies outside of
 * the structure's bytes. */
static bool is_data_member_entry(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member && !has_attribute(die, DW_AT_declaration) &&
		!has_attribute(die, DW_AT_external)) ||
	       tag == DW_TAG_inheritance;
}

/* Reads the offset of a field, in bits, and whether it is a bit field. False: the offset is not
 * constant. */
static bool field_offset(Dwarf_Die *die, u64 *bits, bool *is_bit_field)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	*is_bit_field = has_attribute(die, DW_AT_bit_size);
	if (has_attribute(die, DW_AT_data_bit_offset)) {
		*bits = read_attribute_number(die, DW_AT_data_bit_offset, 0);
		return true;
	}
	if (dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) &&
	    dwarf_formudata(&attribute, &value)) {
		Dwarf_Op *operations;
		size_t count;

		if (dwarf_getlocation(&attribute, &operations, &count) || count != 1 ||
		    operations[0].atom != DW_OP_plus_uconst)
			return false;
		value = operations[0].number;
	}
	*bits = 8 * value;
	return true;
}

/* Counts that one entry is read. False: no more entries may be read. */
static bool count_entry_against_work_limit(u32 *work)
{
	if (!*work)
		return false;
	--*work;
	return true;
}

/* --- Shapes. --- */

struct scan {
	struct call_shape *shape;
	u32 *work;
	u32 float_bytes; /* size of each float found so far; 0: no float has been found */
	bool has_other;	 /* a part of the type is not a float, or the floats have different sizes */
	u32 parts;	 /* number of parts visited so far */
};

static void set_word_classes(struct scan *scan, u64 offset, u64 bytes, enum call_class class)
{
	for (u64 word = offset / 8; bytes && word <= (offset + bytes - 1) / 8 && word < CALL_WORDS;
	     word++)
		if (scan->shape->words[word] < class)
			scan->shape->words[word] = class;
}

static void add_integer_words_to_shape(struct scan *scan, u64 offset, u64 bytes)
{
	set_word_classes(scan, offset, bytes, CALL_INTEGER);
	scan->has_other = true;
}

/* Adds a float to the shape. A float of 16 bytes takes one register. */
static void add_float_words_to_shape(struct scan *scan, u64 offset, u64 bytes)
{
	set_word_classes(scan, offset, bytes > 8 ? 8 : bytes, CALL_FLOAT);
	scan->has_other |= scan->float_bytes && scan->float_bytes != bytes;
	scan->float_bytes = (u32)bytes;
	scan->shape->floats++;
}

static bool add_base_type(struct scan *scan, Dwarf_Die *type, u64 offset, u64 bytes)
{
	const char *name = dwarf_diename(type);

	switch (read_attribute_number(type, DW_AT_encoding, 0)) {
	case DW_ATE_float:
	case DW_ATE_decimal_float:
		/* long double of x86-64, unlike __float128, is not passed in SSE registers */
		scan->shape->in_memory |= bytes == 16 && !(name && strstr(name, "128"));
		add_float_words_to_shape(scan, offset, bytes);
		return bytes <= 16;
	case DW_ATE_complex_float:
		scan->shape->in_memory |= bytes == 32;
		/* A _Complex long double of 32 bytes is returned in registers. */
		scan->shape->is_composite = bytes != 32;
		add_float_words_to_shape(scan, offset, bytes / 2);
		add_float_words_to_shape(scan, offset + bytes / 2, bytes / 2);
		return true;
	case DW_ATE_address:
	case DW_ATE_boolean:
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_ASCII:
		add_integer_words_to_shape(scan, offset, bytes);
		return bytes <= 16;
	default:
		return false;
	}
}

static bool add_words_of_type_to_shape(struct scan *scan, Dwarf_Die *type, u64 offset, u32 *align,
				       u32 nesting);

static bool add_words_of_structure_to_shape(struct scan *scan, Dwarf_Die *type, u64 start,
					    u32 *align, u32 nesting)
{
	Dwarf_Die field, of;
	u32 before = scan->shape->floats, most = before;
	int more = dwarf_child(type, &field);

	*align = 1;
	for (; !more; more = dwarf_siblingof(&field, &field)) {
		u32 needed = 1;
		u64 bits;
		bool is_bit_field;

		if (!count_entry_against_work_limit(scan->work))
			return false;
		if (!is_data_member_entry(&field))
			continue;
		if (!field_offset(&field, &bits, &is_bit_field) || !dwarf_type_of(&field, &of))
			return false;
		if (is_bit_field) {
			add_integer_words_to_shape(
				scan, start + bits / 8,
				1 + (read_attribute_number(&field, DW_AT_bit_size, 1) + bits % 8 -
				     1) / 8);
			continue;
		}
		if (!add_words_of_type_to_shape(scan, &of, start + bits / 8, &needed, nesting + 1))
			return false;
		scan->shape->in_memory |= (start + bits / 8) % needed != 0;
		*align = needed > *align ? needed : *align;
		most = scan->shape->floats > most ? scan->shape->floats : most;
		if (dwarf_tag(type) == DW_TAG_union_type)
			scan->shape->floats = before;
	}
	scan->shape->floats = most;
	return more > 0;
}

/* Adds an array or a vector. False for a vector of more than 16 bytes: how a call passes it depends
 * on the compiler's options. */
static bool add_words_of_array_to_shape(struct scan *scan, Dwarf_Die *type, u64 start, u64 bytes,
					u32 *align, u32 nesting)
{
	Dwarf_Word each;
	Dwarf_Die of;

	if (has_attribute(type, DW_AT_GNU_vector)) {
		*align = (u32)bytes;
		add_float_words_to_shape(scan, start, bytes);
		return bytes <= 16;
	}
	if (!dwarf_type_of(type, &of) || dwarf_aggregate_size(&of, &each) || !each)
		return false;
	*align = 1;
	for (u64 at = 0; at + each <= bytes; at += each)
		if (!add_words_of_type_to_shape(scan, &of, start + at, align, nesting + 1))
			return false;
	return true;
}

static bool add_words_of_type_to_shape(struct scan *scan, Dwarf_Die *type, u64 offset, u32 *align,
				       u32 nesting)
{
	Dwarf_Word bytes = 8;

	if (nesting > NESTING_MAX || scan->parts++ > PARTS_MAX)
		return false;
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type: /* nullptr_t */
		*align = 8;
		add_integer_words_to_shape(scan, offset, 8);
		return true;
	case DW_TAG_ptr_to_member_type: {
		Dwarf_Die of;

		*align = 8;
		add_integer_words_to_shape(
			scan, offset,
			dwarf_type_of(type, &of) && dwarf_tag(&of) == DW_TAG_subroutine_type ? 16
											     : 8);
		return true;
	}
	}
	if (has_attribute(type, DW_AT_declaration) || dwarf_aggregate_size(type, &bytes) ||
	    bytes > SCANNED_MAX)
		return false;
	*align = bytes ? (u32)bytes : 1;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return add_base_type(scan, type, offset, bytes);
	case DW_TAG_enumeration_type:
		add_integer_words_to_shape(scan, offset, bytes);
		return bytes <= 8;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_words_of_structure_to_shape(scan, type, offset, align, nesting);
	case DW_TAG_array_type:
		return add_words_of_array_to_shape(scan, type, offset, bytes, align, nesting);
	default:
		return false;
	}
}

/* True for a copy or move constructor: a constructor with one parameter, a reference to its class.
 * A constructor with further parameters copies only if these have defaults, which DWARF need not
 * tell: *known is set to false then.
 */
static bool is_copy_or_move_constructor(Dwarf_Die *function, Dwarf_Die *structure, u32 *work,
					bool *known)
{
	Dwarf_Die parameter, type, of;
	u32 references = 0, others = 0;
	int more = dwarf_child(function, &parameter);

	for (; !more; more = dwarf_siblingof(&parameter, &parameter)) {
		if (!count_entry_against_work_limit(work)) {
			*known = false;
			return false;
		}
		if (dwarf_tag(&parameter) != DW_TAG_formal_parameter ||
		    has_attribute(&parameter, DW_AT_artificial))
			continue;
		if (dwarf_type_of(&parameter, &type) &&
		    (dwarf_tag(&type) == DW_TAG_reference_type ||
		     dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
		    dwarf_type_of(&type, &of) && of.addr == structure->addr)
			references++;
		else
			others++;
	}
	if (references && references + others > 1)
		*known = false;
	return references == 1 && !others;
}

static bool function_makes_class_pass_by_address(Dwarf_Die *function, Dwarf_Die *structure,
						 const char *class, u32 *work, bool *known)
{
	const char *name = dwarf_diename(function);

	if (has_attribute(function, DW_AT_virtuality))
		return true;
	if (!name || has_attribute(function, DW_AT_artificial) ||
	    has_attribute(function, DW_AT_deleted) ||
	    read_attribute_number(function, DW_AT_defaulted, 0) == DW_DEFAULTED_in_class)
		return false;
	if (name[0] == '~')
		return true;
	/* DWARF may name a constructor of a class template without the arguments of the
	 * template. */
	return class && !strncmp(name, class, strcspn(class, "<")) &&
	       name[strcspn(class, "<")] == '\0' &&
	       is_copy_or_move_constructor(function, structure, work, known);
}

/* True if values of the class are passed by address. *known is set to false if a part of the class
 * is only declared, or may be copied by a constructor with defaults, or if no work is left. */
static bool is_passed_by_address(Dwarf_Die *type, u32 nesting, u32 *work, bool *known)
{
	u64 convention = read_attribute_number(type, DW_AT_calling_convention, 0);
	Dwarf_Die part, of;
	int more;

	if (dwarf_tag(type) == DW_TAG_array_type)
		return nesting < NESTING_MAX && dwarf_type_of(type, &of) &&
		       is_passed_by_address(&of, nesting + 1, work, known);
	if (!dwarf_type_is_structure(type) || convention == BY_VALUE)
		return false;
	if (convention == BY_REFERENCE)
		return true;
	if (has_attribute(type, DW_AT_declaration) || nesting == NESTING_MAX) {
		*known = false;
		return false;
	}
	for (more = dwarf_child(type, &part); !more; more = dwarf_siblingof(&part, &part)) {
		if (!count_entry_against_work_limit(work)) {
			*known = false;
			return false;
		}
		if (dwarf_tag(&part) == DW_TAG_subprogram &&
		    function_makes_class_pass_by_address(&part, type, dwarf_diename(type), work,
							 known))
			return true;
		if (!is_data_member_entry(&part) || !dwarf_type_of(&part, &of))
			continue;
		if ((dwarf_tag(&part) == DW_TAG_inheritance &&
		     has_attribute(&part, DW_AT_virtuality)) ||
		    is_passed_by_address(&of, nesting + 1, work, known))
			return true;
	}
	return false;
}

bool dwarf_type_compute_call_shape(Dwarf_Die *type, bool is_cxx, u32 *work,
				   struct call_shape *shape)
{
	struct call_shape found = {.is_composite = dwarf_type_is_structure(type) ||
						   dwarf_tag(type) == DW_TAG_array_type};
	struct scan scan = {.shape = &found, .work = work};
	Dwarf_Word bytes = 8;
	bool known = true;
	u64 align;

	found.by_reference = is_cxx && is_passed_by_address(type, 0, work, &known);
	if (!known || (dwarf_aggregate_size(type, &bytes) && found.is_composite))
		return false;
	found.bytes = bytes;
	if (bytes > SCANNED_MAX && found.is_composite)
		/* Structures of this size are all passed in the same way, but for their
		 * alignment. */
		found.align = 8;
	else if (!add_words_of_type_to_shape(&scan, type, 0, &found.align, 0))
		return false;
	if (found.bytes == 8 && dwarf_tag(type) == DW_TAG_ptr_to_member_type &&
	    found.words[1] == CALL_INTEGER)
		found.bytes = 16;
	align = read_attribute_number(type, DW_AT_alignment, found.align);
	found.align = align > found.align ? (u32)align : found.align;
	if (scan.has_other || found.floats > 4)
		found.floats = 0;
	*shape = found;
	return true;
}

/* --- Numbers and members. --- */

static bool has_negative_value(Dwarf_Die *enumeration)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;
	Dwarf_Die name;
	int more = dwarf_child(enumeration, &name);

	for (; !more; more = dwarf_siblingof(&name, &name))
		if (dwarf_attr(&name, DW_AT_const_value, &attribute) &&
		    dwarf_whatform(&attribute) == DW_FORM_sdata &&
		    !dwarf_formsdata(&attribute, &value) && value < 0)
			return true;
	return false;
}

bool dwarf_type_number(Dwarf_Die *type, struct dwarf_number *number)
{
	struct dwarf_number found = {};
	int tag = dwarf_tag(type);
	Dwarf_Word bytes = 8;
	Dwarf_Die under;
	u64 encoding;

	if (tag == DW_TAG_pointer_type) {
		*number = (struct dwarf_number){.bytes = 8, .is_address = true};
		return true;
	}
	if ((tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type) ||
	    dwarf_aggregate_size(type, &bytes))
		return false;
	if (tag == DW_TAG_enumeration_type && dwarf_type_of(type, &under))
		type = &under;
	encoding = read_attribute_number(type, DW_AT_encoding, 0);
	if (tag == DW_TAG_base_type &&
	    (encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	     encoding == DW_ATE_decimal_float))
		return false;
	found.bytes = (u8)bytes;
	found.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ||
			  (!encoding && has_negative_value(type));
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	*number = found;
	return true;
}

static int find_member(Dwarf_Die *structure, const char *name, size_t length, u32 nesting,
		       u32 *work, Dwarf_Die *type, u64 *offset)
{
	Dwarf_Die field, of;
	int more = dwarf_child(structure, &field), err = -ENOENT;

	for (; !more && err == -ENOENT; more = dwarf_siblingof(&field, &field)) {
		const char *found = is_data_member_entry(&field) ? dwarf_diename(&field) : NULL;
		bool is_inner = is_data_member_entry(&field) && (!found || !found[0]),
		     is_bit_field = false;
		u64 bits = 0;

		if (!count_entry_against_work_limit(work))
			return -E2BIG;
		if (!is_data_member_entry(&field) || !dwarf_type_of(&field, &of))
			continue;
		if (found && strlen(found) == length && !memcmp(found, name, length)) {
			if (!field_offset(&field, &bits, &is_bit_field) || is_bit_field || bits % 8)
				return -EOPNOTSUPP;
			*type = of;
			*offset = bits / 8;
			return 0;
		}
		if (!is_inner || !dwarf_type_is_structure(&of) || nesting == NESTING_MAX)
			continue;
		err = find_member(&of, name, length, nesting + 1, work, type, offset);
		if (!err && (!field_offset(&field, &bits, &is_bit_field) ||
			     has_attribute(&field, DW_AT_virtuality)))
			return -EOPNOTSUPP;
		if (!err)
			*offset += bits / 8;
	}
	return err;
}

int dwarf_type_member(Dwarf_Die *structure, const char *name, size_t length, u32 *work,
		      Dwarf_Die *type, u64 *offset)
{
	return find_member(structure, name, length, 0, work, type, offset);
}

static void add_member_names(Dwarf_Die *structure, u32 nesting, u32 *work, char *names,
			     size_t bytes)
{
	Dwarf_Die field, of;
	int more = dwarf_child(structure, &field);

	for (; !more && count_entry_against_work_limit(work);
	     more = dwarf_siblingof(&field, &field)) {
		const char *name = is_data_member_entry(&field) ? dwarf_diename(&field) : NULL;

		if (name)
			word_list_add_word(names, bytes, name);
		else if (is_data_member_entry(&field) && nesting < NESTING_MAX &&
			 dwarf_type_of(&field, &of) && dwarf_type_is_structure(&of))
			add_member_names(&of, nesting + 1, work, names, bytes);
	}
}

void dwarf_type_members(Dwarf_Die *structure, u32 *work, char *names, size_t bytes)
{
	add_member_names(structure, 0, work, names, bytes);
}
