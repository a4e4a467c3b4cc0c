/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two sources say where an argument is at the entry. The location in the DWARF counts if it is
 * valid at the first instruction: a register of a location list that covers the entry, a register
 * that arguments go to, or a slot in the frame of the caller. A slot in the function's own frame is
 * filled by the prologue, so it is not valid there. The other source is the calling convention
 * (call_words.h).
 *
 * Compilers may change the convention of functions that no other file calls: GCC makes clones with
 * a suffix, Clang drops unused arguments. Only locations count for such a function, unless it was
 * compiled without optimisation: then all arguments have slots in the function's own frame.
 */
#include "dwarf_argument.h"

#include <dwarf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/host.h"
#include "call_words.h"
#include "dwarf_type.h"
#include "text_list.h"

#define NESTING_MAX 64
#define WORK_MAX (1U << 18)    /* the most entries of types that are read for one argument */
#define ENTRIES_MAX (1U << 24) /* the most entries of a unit that are read to find a function */
/* The value of DW_CC_nocall: the compiler has changed the convention. */
#define NO_CALL_CONVENTION 3

struct argument_search {
	Dwarf_Die unit;
	u64 address;
	const char *symbol;
	bool is_cxx, is_foreign; /* the language of the unit; foreign: neither C nor C++ */
	Dwarf_Die function;
	u32 entries; /* number of entries that may still be read to find the function */
	u32 *work;   /* number of entries of types that may still be read, as in dwarf_type.h */
	char *reason;
};

static __attribute__((format(printf, 3, 4))) int set_reason(const struct argument_search *search,
							    int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(search->reason, DWARF_ARGUMENT_REASON_BYTES, format, arguments);
	va_end(arguments);
	return -code;
}

/* --- The function. --- */

static bool has_range_that_starts_at(Dwarf_Die *die, u64 address)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return false;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start == address && end > start)
			return true;
	return false;
}

/* Finds the entry of the function that begins at search->address. in_functions: the search also
 * enters the bodies of functions, since the entry of a lambda, or of a method of a local class, is
 * inside the entry of the function that contains it. */
static bool find_die_of_function_at_address(struct argument_search *search, Dwarf_Die *parent,
					    bool in_functions, u32 nesting)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die);

	for (; !more && search->entries; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		bool is_place = tag == DW_TAG_namespace || tag == DW_TAG_module ||
				dwarf_type_is_structure(&die);

		search->entries--;
		if (tag == DW_TAG_subprogram && has_range_that_starts_at(&die, search->address)) {
			search->function = die;
			return true;
		}
		if (in_functions)
			is_place |= tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
		if (is_place && nesting < NESTING_MAX &&
		    find_die_of_function_at_address(search, &die, in_functions, nesting + 1))
			return true;
	}
	return false;
}

static u64 read_constant(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

static bool read_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return dwarf_attr_integrate(die, name, &attribute) && !dwarf_formflag(&attribute, &flag) &&
	       flag;
}

/* Sets the language of the unit. The numbers of languages are those of the DWARF standard, since
 * older headers lack some of the names. */
static void read_language(struct argument_search *search)
{
	switch (read_constant(&search->unit, DW_AT_language)) {
	case 0x01: /* C89 */
	case 0x02: /* C */
	case 0x0c: /* C99 */
	case 0x1d: /* C11 */
	case 0x2c: /* C17 */
	case 0x3e: /* C23 */
		return;
	case 0x04: /* C++ */
	case 0x19: /* C++03 */
	case 0x1a: /* C++11 */
	case 0x21: /* C++14 */
	case 0x2a: /* C++17 */
	case 0x2b: /* C++20 */
	case 0x3a: /* C++23 */
		search->is_cxx = true;
		return;
	default:
		search->is_foreign = true;
	}
}

static bool is_compiler_clone_of_function(const char *symbol)
{
	return strstr(symbol, ".constprop") || strstr(symbol, ".isra") || strstr(symbol, ".part") ||
	       strstr(symbol, ".cold") || strstr(symbol, ".specialized");
}

/* --- The parameters. --- */

/* Where the value of an argument is: in registers, or in memory that is reached by following
 * `steps` pointers.
 */
struct value {
	Dwarf_Die type;
	s32 registers[CALL_WORDS]; /* register of each word of the value; -1: not in a register for
				      integers */
	u64 offset;		   /* where the value begins within its words, in bytes */
	u32 steps;
	s32 displacement[NUMBER_STEPS_MAX];
};

enum found_place {
	PLACE_KNOWN,
	PLACE_OF_BODY, /* a register in the whole function; whether at its first instruction, too,
			  is not certain */
	PLACE_IN_FRAME,
	PLACE_UNKNOWN,
};

static int argument_register(u32 index)
{
	static const u8 registers[] = ARGUMENT_REGISTERS;

	return index < sizeof(registers) ? registers[index] : -1;
}

static bool is_argument_register(u64 number)
{
	for (u32 i = 0; argument_register(i) >= 0; i++)
		if ((u64)argument_register(i) == number)
			return true;
	return false;
}

/* The number of the register that an operation DW_OP_regN or DW_OP_bregN names; -1: another
 * operation. */
static s32 register_of_operation(const Dwarf_Op *operation, u8 first, u8 extended)
{
	u64 number = operation->atom == extended ? operation->number : (u64)operation->atom - first;

	return operation->atom != extended &&
			       (operation->atom < first || operation->atom > first + 31)
		       ? -1
	       : number < DWARF_REGISTERS ? (s32)number
					  : -1;
}

static void set_memory_location(struct value *value, s32 base, s64 displacement)
{
	value->registers[0] = base;
	value->registers[1] = -1;
	value->steps = 1;
	value->displacement[0] = (s32)displacement;
}

static bool frame_base_is_cfa(const struct argument_search *search)
{
	Dwarf_Die function = search->function;
	Dwarf_Attribute attribute;
	Dwarf_Op *operations;
	size_t count;

	return dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) &&
	       !dwarf_getlocation(&attribute, &operations, &count) && count == 1 &&
	       operations[0].atom == DW_OP_call_frame_cfa;
}

static bool is_location_list(Dwarf_Attribute *attribute)
{
	switch (dwarf_whatform(attribute)) {
	case DW_FORM_sec_offset:
	case DW_FORM_loclistx:
	case DW_FORM_data4:
	case DW_FORM_data8:
		return true;
	default:
		return false;
	}
}

/* Reads from the DWARF where a parameter is at the entry of the function. */
static enum found_place read_location_attribute(const struct argument_search *search,
						Dwarf_Die *parameter, struct value *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operations;
	size_t count;
	bool from_list;
	s32 base, second;

	if (!dwarf_attr(parameter, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, search->address, &operations, &count, 1) != 1 ||
	    !count)
		return PLACE_UNKNOWN;
	from_list = is_location_list(&attribute);
	base = register_of_operation(&operations[0], DW_OP_reg0, DW_OP_regx);
	if (base >= 0 && (from_list || is_argument_register((u64)base))) {
		second = count == 4 ? register_of_operation(&operations[2], DW_OP_reg0, DW_OP_regx)
				    : -1;
		value->registers[0] = base;
		if (count == 1)
			return from_list ? PLACE_KNOWN : PLACE_OF_BODY;
		value->registers[1] = second;
		return second >= 0 && operations[1].atom == DW_OP_piece &&
				       operations[1].number == 8 &&
				       operations[3].atom == DW_OP_piece
			       ? from_list ? PLACE_KNOWN : PLACE_OF_BODY
			       : PLACE_UNKNOWN;
	}
	base = register_of_operation(&operations[0], DW_OP_breg0, DW_OP_bregx);
	if (count == 1 && from_list && base >= 0 && is_argument_register((u64)base)) {
		bool is_extended = operations[0].atom == DW_OP_bregx;

		set_memory_location(
			value, base,
			(s64)(is_extended ? operations[0].number2 : operations[0].number));
		return PLACE_KNOWN;
	}
	if (operations[0].atom != DW_OP_fbreg)
		return PLACE_UNKNOWN;
	if (count == 1 && (s64)operations[0].number >= 0 && operations[0].number < 1U << 20 &&
	    frame_base_is_cfa(search)) {
		set_memory_location(value, STACK_REGISTER,
				    (s64)operations[0].number + ENTRY_STACK_BYTES);
		return PLACE_KNOWN;
	}
	return from_list ? PLACE_UNKNOWN : PLACE_IN_FRAME;
}

/* Sets where the value is by the calling convention. */
static enum found_place set_location_by_convention(const struct call_place *place,
						   struct value *value)
{
	if (place->stack >= 0) {
		set_memory_location(value, STACK_REGISTER, place->stack + ENTRY_STACK_BYTES);
		if (place->is_address)
			value->steps++;
		return PLACE_KNOWN;
	}
	for (u32 i = 0; i < CALL_WORDS; i++)
		value->registers[i] =
			place->registers[i] < 0 ? -1 : argument_register((u32)place->registers[i]);
	if (place->is_address)
		set_memory_location(value, value->registers[0], 0);
	return value->registers[0] < 0 && value->registers[1] < 0 ? PLACE_UNKNOWN : PLACE_KNOWN;
}

/* The state of the walk over the parameters of a function. */
struct parameter_walk {
	const struct argument_search *search;
	const char *name;
	size_t length;
	struct call_state state;
	bool is_countable; /* the types of all parameters so far are known, so the next place can be
			      computed */
	bool is_found;
	bool is_typed; /* the type of the wanted parameter is known */
	bool all_in_frame;
	enum found_place location, convention;
	struct value by_location, by_convention;
	char names[256];
};

static void count_parameter_and_locate_if_wanted(struct parameter_walk *walk, Dwarf_Die *parameter)
{
	static const struct value nowhere = {.registers = {-1, -1}};
	const char *name = dwarf_diename(parameter) ?: "";
	bool is_named = strlen(name) == walk->length && !memcmp(name, walk->name, walk->length);
	struct value by_location = nowhere, by_convention = nowhere;
	enum found_place location = read_location_attribute(walk->search, parameter, &by_location);
	enum found_place convention = PLACE_UNKNOWN;
	struct call_shape shape;
	struct call_place place;
	Dwarf_Die type;
	bool is_typed = dwarf_type_of(parameter, &type);

	if (!read_flag(parameter, DW_AT_artificial) || !strcmp(name, "this"))
		word_list_add_word(walk->names, sizeof(walk->names), name);
	walk->all_in_frame &= location == PLACE_IN_FRAME;
	walk->is_countable &= is_typed && dwarf_type_compute_call_shape(&type, walk->search->is_cxx,
									walk->search->work, &shape);
	if (walk->is_countable) {
		place = call_next_argument_place(CALL_CONVENTION, &shape, &walk->state);
		convention = set_location_by_convention(&place, &by_convention);
	}
	if (!is_named || walk->is_found)
		return;
	walk->is_found = true;
	walk->is_typed = is_typed;
	walk->location = location;
	walk->convention = convention;
	walk->by_location = by_location;
	walk->by_convention = by_convention;
	if (is_typed)
		walk->by_location.type = walk->by_convention.type = type;
}

static bool has_parameters(Dwarf_Die *function)
{
	Dwarf_Die die;
	int more = dwarf_child(function, &die);

	while (!more && dwarf_tag(&die) != DW_TAG_formal_parameter)
		more = dwarf_siblingof(&die, &die);
	return !more;
}

/* If the caller passes the address for the function's result, counts this address as the first
 * argument. */
static void count_result_address(struct parameter_walk *walk, Dwarf_Die *function)
{
	struct call_shape result;
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	walk->is_countable = true;
	walk->all_in_frame = true;
	if (!dwarf_attr_integrate(function, DW_AT_type, &attribute))
		return;
	if (!dwarf_type_of(function, &type))
		return; /* const void */
	if (!dwarf_type_compute_call_shape(&type, walk->search->is_cxx, walk->search->work,
					   &result)) {
		walk->is_countable = dwarf_tag(&type) == DW_TAG_base_type;
		return;
	}
	/* A structure of one long double is returned in a register of the x87, a packed structure
	 * of the same size in memory, so it is not known whether the caller passes an address. */
	if (result.is_composite && result.in_memory && result.bytes <= 16)
		walk->is_countable = false;
	else if (call_passes_address_of_result(CALL_CONVENTION, &result))
		walk->state.integers++;
}

static void walk_parameters(struct parameter_walk *walk)
{
	Dwarf_Die function = walk->search->function, origin, die;
	Dwarf_Attribute attribute;
	int more;

	count_result_address(walk, &function);
	if (!has_parameters(&function) &&
	    dwarf_formref_die(dwarf_attr(&function, DW_AT_abstract_origin, &attribute), &origin))
		function = origin;
	for (more = dwarf_child(&function, &die); !more; more = dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_formal_parameter)
			count_parameter_and_locate_if_wanted(walk, &die);
}

static int choose_location(const struct parameter_walk *walk, struct value *value)
{
	const struct argument_search *search = walk->search;
	Dwarf_Die function = search->function;
	int length = (int)walk->length;
	bool keeps;

	if (!walk->is_found)
		return set_reason(search, ENOENT, "%s has no parameter %.*s; it has %s",
				  search->symbol, length, walk->name,
				  walk->names[0] ? walk->names : "none");
	if (!walk->is_typed)
		return set_reason(search, EINVAL, "the type of %.*s is not known", length,
				  walk->name);
	/* `keeps`: the function has the calling convention of its language, because callers in
	 * other files may exist, and the compiler does not know them. */
	keeps = !search->is_foreign && !is_compiler_clone_of_function(search->symbol) &&
		read_flag(&function, DW_AT_external) &&
		read_constant(&function, DW_AT_calling_convention) != NO_CALL_CONVENTION;
	if (walk->location == PLACE_KNOWN ||
	    (walk->location == PLACE_OF_BODY && !(keeps && walk->convention == PLACE_KNOWN))) {
		*value = walk->by_location;
		return 0;
	}
	if (!keeps && (search->is_foreign || is_compiler_clone_of_function(search->symbol) ||
		       !walk->all_in_frame))
		return set_reason(
			search, EOPNOTSUPP,
			"the compiler may have changed how %s takes its arguments, and does "
			"not say where %.*s is at the entry",
			search->symbol, length, walk->name);
	if (walk->convention != PLACE_KNOWN && !*search->work)
		return set_reason(
			search, E2BIG,
			"%.*s: the types of the arguments of %s lead to more than %u others",
			length, walk->name, search->symbol, WORK_MAX);
	if (walk->convention != PLACE_KNOWN)
		return set_reason(
			search, EOPNOTSUPP,
			walk->is_countable
				? "%.*s is not in a register for integers at the entry of %s"
				: "%.*s: the types of the arguments of %s are not all known",
			length, walk->name, search->symbol);
	*value = walk->by_convention;
	return 0;
}

/* --- Members. --- */

/* Replaces a pointer or reference by the value that it points to. */
static int replace_pointer_by_its_target(const struct argument_search *search, struct value *value)
{
	u32 word = (u32)(value->offset / 8);
	Dwarf_Die type;

	if (!dwarf_type_of(&value->type, &type))
		return set_reason(search, EINVAL,
				  "the pointer before -> points to nothing that is known");
	value->type = type;
	if (!value->steps) {
		if (word >= CALL_WORDS || value->registers[word] < 0 || value->offset % 8)
			return set_reason(search, EOPNOTSUPP, "the pointer is not in a register");
		set_memory_location(value, value->registers[word], 0);
		value->offset = 0;
		return 0;
	}
	if (value->steps == NUMBER_STEPS_MAX)
		return set_reason(search, E2BIG, "more than %d pointers", NUMBER_STEPS_MAX);
	value->steps++;
	return 0;
}

static int replace_reference_by_its_target(const struct argument_search *search,
					   struct value *value)
{
	int tag = dwarf_tag(&value->type);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type
		       ? replace_pointer_by_its_target(search, value)
		       : 0;
}

static int move_value_to_member(const struct argument_search *search, struct value *value,
				const char *name, size_t length)
{
	Dwarf_Die type;
	char names[256] = "";
	u64 offset;
	s64 sum;
	int err;

	if (!dwarf_type_is_structure(&value->type))
		return set_reason(search, EINVAL, "no structure stands before %.*s", (int)length,
				  name);
	if (read_flag(&value->type, DW_AT_declaration))
		return set_reason(search, EOPNOTSUPP, "%s is only declared where %s is",
				  dwarf_diename(&value->type) ?: "the structure", search->symbol);
	err = dwarf_type_member(&value->type, name, length, search->work, &type, &offset);
	if (err == -E2BIG)
		return set_reason(search, E2BIG, "%.*s: the structure has more than %u members",
				  (int)length, name, WORK_MAX);
	if (err == -ENOENT) {
		dwarf_type_members(&value->type, search->work, names, sizeof(names));
		return set_reason(search, ENOENT, "%s has no member %.*s; it has %s",
				  dwarf_diename(&value->type) ?: "the structure", (int)length, name,
				  names[0] ? names : "none");
	}
	if (err)
		return set_reason(search, EOPNOTSUPP,
				  "%.*s is a member of some bits, or of a virtual base class",
				  (int)length, name);
	if (offset > INT32_MAX)
		return set_reason(search, EINVAL, "%.*s is too far from the start", (int)length,
				  name);
	value->type = type;
	if (!value->steps) {
		value->offset += offset;
		return 0;
	}
	sum = value->displacement[value->steps - 1] + (s64)offset;
	value->displacement[value->steps - 1] = (s32)sum;
	return sum == (s32)sum ? 0
			       : set_reason(search, EINVAL, "a member is too far from the start");
}

static int move_value_along_member_path(const struct argument_search *search, struct value *value,
					const char *path)
{
	int err = replace_reference_by_its_target(search, value);

	while (*path && !err) {
		bool is_arrow = !strncmp(path, "->", 2);
		size_t length;

		if (is_arrow && dwarf_tag(&value->type) != DW_TAG_pointer_type)
			return set_reason(search, EINVAL, "no pointer stands before ->");
		if (!is_arrow && *path != '.')
			return set_reason(search, EINVAL, "-> or . is expected at %s", path);
		path += is_arrow ? 2 : 1;
		length = strcspn(path, "-.");
		err = is_arrow ? replace_pointer_by_its_target(search, value) : 0;
		err = err ?: move_value_to_member(search, value, path, length);
		err = err ?: replace_reference_by_its_target(search, value);
		path += length;
	}
	return err;
}

static int set_number_at_value_location(const struct argument_search *search, struct value *value,
					const char *path, struct dwarf_argument *out)
{
	struct dwarf_argument found = {.steps = value->steps};
	u32 word = value->steps ? 0 : (u32)(value->offset / 8);
	struct dwarf_number number;

	if (!dwarf_type_number(&value->type, &number))
		return set_reason(search, EINVAL,
				  dwarf_type_is_structure(&value->type)
					  ? "%s is a structure, not a number; name a member"
					  : "%s is no number of up to 64 bits",
				  path);
	if (word >= CALL_WORDS || value->registers[word] < 0)
		return set_reason(search, EOPNOTSUPP, "%s is not in a register for integers", path);
	found.reg = (u32)value->registers[word];
	found.byte = value->steps ? 0 : (u8)(value->offset % 8);
	found.bytes = number.bytes;
	found.is_signed = number.is_signed;
	found.is_address = number.is_address;
	memcpy(found.displacement, value->displacement, sizeof(found.displacement));
	if (found.byte + found.bytes > 8)
		return set_reason(search, EINVAL, "%s crosses two registers", path);
	*out = found;
	return 0;
}

int dwarf_argument_find(const Dwarf_Die *unit, u64 address, const char *symbol, const char *path,
			struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES])
{
	u32 work = WORK_MAX;
	struct argument_search search = {.unit = *unit,
					 .address = address,
					 .symbol = symbol,
					 .entries = ENTRIES_MAX,
					 .work = &work,
					 .reason = reason};
	struct parameter_walk walk = {.search = &search, .name = path};
	struct value value = {};
	int err;

	reason[0] = '\0';
	walk.length = strcspn(path, "-.");
	read_language(&search);
	if (!find_die_of_function_at_address(&search, &search.unit, false, 0) &&
	    !find_die_of_function_at_address(&search, &search.unit, true, 0)) {
		if (!search.entries)
			return set_reason(
				&search, E2BIG,
				"the debug information has more than %u entries in one unit",
				ENTRIES_MAX);
		return set_reason(&search, ENODATA,
				  "the debug information has no function that begins there");
	}
	walk_parameters(&walk);
	err = choose_location(&walk, &value)
		      ?: move_value_along_member_path(&search, &value, path + walk.length);
	return err ?: set_number_at_value_location(&search, &value, path, out);
}
