/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * V8, the virtual machine of Node.js (src/objects, tools/gen-postmortem-metadata.py of V8). The
 * file exports numbers that say where its objects hold what
 * ("v8dbg_class_Map__instance_type__uint16_t") and what types they have. A name ends with the type
 * of the member, which later versions wrap
 * ("Tagged_Object_"). The numbers lack the layout of scopes (core/unwind/v8_name.c), which the
 * versions here have in common, so other versions have no names. Neither have builds whose words
 * hold addresses in 32 bits: their numbers differ from those of `fixed`.
 */
#include "script_loop.h"

#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define NUMBER_BYTES 4

/*
 * The versions of V8 that are supported: those of Node.js 18, 20 and 22. The numbers after `minor`
 * say where a version keeps its functions within others (core/unwind/v8_inlined.c): offsets in
 * objects, and the opcodes of lists of frames. The file has the numbers of operands of all opcodes.
 */
static const struct version {
	u32 major, minor;
	const char *deopt_type;
	u8 function_code, code_deopt, code_start, code_bytes, code_kind;
	u8 opcodes, opcode_sign, begin, begin_last, frame, frame_last;
} versions[] = {
	{10, 2, "type_FixedArray__FIXED_ARRAY_TYPE", 48, 16, 0, 40, 13, 28, 1, 3, 3, 18, 18},
	{11, 3, "type_FixedArray__FIXED_ARRAY_TYPE", 48, 16, 40, 56, 13, 36, 0, 2, 3, 23, 24},
	{12, 4, "type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE", 24, 8, 40, 52, 12, 40, 0, 12,
	 13, 0, 1},
};

/*
 * The numbers of `versions` that a file exports, by one of these names; not all versions export
 * each.
 */
static const struct {
	const char *name;
	u32 member;
} placed[] = {
	{"class_JSFunction__code__CodeT", offsetof(struct version, function_code)},
	{"class_JSFunction__code__Tagged_Code_", offsetof(struct version, function_code)},
	{"class_Code__deoptimization_data__FixedArray", offsetof(struct version, code_deopt)},
	{"class_Code__instruction_start__Address", offsetof(struct version, code_start)},
	{"class_Code__instruction_size__int", offsetof(struct version, code_bytes)},
};

/* Symbol of the table in TranslationOpcodeOperandCount() that has the number of operands of each
 * opcode. */
#define OPERAND_COUNTS                                                                             \
	"_ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts"
#define BEGIN_OPERANDS 3 /* number of operands of an instruction that begins a list */
#define FRAME_OPERANDS                                                                             \
	5 /* number of operands of an instruction that describes an interpreter's frame */

/* Exported numbers, and the values of them that core/unwind/v8_name.c relies on. */
static const struct {
	const char *name;
	s32 value;
} fixed[] = {
	{"off_fp_context", -8},
	{"off_fp_function", -16},
	{"off_fp_bytecode_array", -32},
	{"SmiValueShift", 1},
	{"SmiShiftSize", 31},
	{"HeapObjectTag", 1},
	{"FirstNonstringType", 128},
	{"StringRepresentationMask", 7},
	{"StringEncodingMask", 8},
	{"OneByteStringTag", 8},
	{"SeqStringTag", 0},
	{"ConsStringTag", 1},
	{"ThinStringTag", 5},
	{"class_Map__instance_type__uint16_t", 12},
	{"class_String__length__int32_t", 12},
	{"class_SeqOneByteString__chars__char", 16},
	{"class_SeqTwoByteString__chars__char", 16},
	{"class_ConsString__first__String", 16},
	{"class_ConsString__second__String", 24},
	{"class_ThinString__actual__String", 16},
	{"class_Script__name__Object", 16},
	{"scopeinfo_idx_nparams", 1},
	{"scopeinfo_idx_ncontextlocals", 2},
	{"scopeinfo_idx_first_vars", 3},
};

/* Reads a number that the file exports. A number that is 0 has no bytes in the file. */
static bool read_exported_number(const struct script_loop *loop, const char *symbol, s32 *number)
{
	const u8 *bytes;
	u64 address;

	if (!elf_words_exported_address(loop->elf, symbol, &address))
		return false;
	bytes = elf_words_bytes(loop->elf, address, NUMBER_BYTES);
	*number = 0;
	if (bytes)
		memcpy(number, bytes, NUMBER_BYTES);
	return true;
}

static bool read_v8dbg_constant(const struct script_loop *loop, const char *name, s32 *number)
{
	char symbol[128];

	return snprintf(symbol, sizeof(symbol), "v8dbg_%s", name) < (int)sizeof(symbol) &&
	       read_exported_number(loop, symbol, number);
}

static bool read_v8_instance_type(const struct script_loop *loop, const char *name, u16 *type)
{
	s32 number;

	if (!read_v8dbg_constant(loop, name, &number))
		return false;
	*type = number;
	return number > 0 && *type == number;
}

/* Reads the offset of a member; the exported number has one of two names. */
static bool read_v8_member_offset(const struct script_loop *loop, const char *name,
				  const char *later, u8 *offset)
{
	s32 number;

	if (!read_v8dbg_constant(loop, name, &number) && !read_v8dbg_constant(loop, later, &number))
		return false;
	*offset = number;
	return number > 0 && *offset == number && number % 8 == 0;
}

static bool read_v8_layout(const struct script_loop *loop, struct v8_layout *layout)
{
	u16 last;
	s32 number;

	for (u32 i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!read_v8dbg_constant(loop, fixed[i].name, &number) || number != fixed[i].value)
			return false;
	if (!read_v8_instance_type(loop, "LastContextType", &last))
		return false;
	layout->context_end = last + 1;
	layout->has_names = 1;
	return read_v8_instance_type(loop, "FirstContextType", &layout->context) &&
	       read_v8_instance_type(loop, "type_JSFunction__JS_FUNCTION_TYPE",
				     &layout->function) &&
	       read_v8_instance_type(loop, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
				     &layout->shared) &&
	       read_v8_instance_type(loop, "type_ScopeInfo__SCOPE_INFO_TYPE", &layout->scope) &&
	       read_v8_instance_type(loop, "type_Script__SCRIPT_TYPE", &layout->script) &&
	       read_v8_instance_type(loop, "type_BytecodeArray__BYTECODE_ARRAY_TYPE",
				     &layout->bytecode) &&
	       read_v8_member_offset(loop, "class_JSFunction__shared__SharedFunctionInfo",
				     "class_JSFunction__shared__Tagged_SharedFunctionInfo_",
				     &layout->function_shared) &&
	       read_v8_member_offset(loop, "class_SharedFunctionInfo__name_or_scope_info__Object",
				     "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
				     &layout->shared_name) &&
	       read_v8_member_offset(loop,
				     "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
				     "class_SharedFunctionInfo__script__Tagged_HeapObject_",
				     &layout->shared_script);
}

/* Reads the layout of the data that describe inlined functions. Without this layout only functions
 * that are not inlined have names. */
static void inlined_layout_read(const struct script_loop *loop, const struct version *version,
				struct v8_layout *layout)
{
	const u8 *counts;
	u64 address;
	s32 number;

	for (u32 i = 0; i < sizeof(placed) / sizeof(placed[0]); i++)
		if (read_v8dbg_constant(loop, placed[i].name, &number) &&
		    number != ((const u8 *)version)[placed[i].member])
			return;
	if (!read_v8_instance_type(loop, "type_Code__CODE_TYPE", &layout->code) ||
	    !read_v8_instance_type(loop, version->deopt_type, &layout->deopt) ||
	    !elf_words_exported_address(loop->elf, OPERAND_COUNTS, &address) ||
	    !(counts = elf_words_bytes(loop->elf, address, NUMBER_BYTES * version->opcodes)))
		return;
	for (u32 i = 0; i < version->opcodes; i++) {
		u32 expected = i == version->begin   ? BEGIN_OPERANDS
			       : i == version->frame ? FRAME_OPERANDS
						     : counts[NUMBER_BYTES * i];

		memcpy(&number, counts + NUMBER_BYTES * i, NUMBER_BYTES);
		if (number < 0 || number > V8_OPERANDS_MAX || (u32)number != expected)
			return;
		layout->operands[i / 2] |= number << 4 * (i & 1);
	}
	layout->function_code = version->function_code;
	layout->code_deopt = version->code_deopt;
	layout->code_start = version->code_start;
	layout->code_bytes = version->code_bytes;
	layout->code_kind = version->code_kind;
	layout->opcode_sign = version->opcode_sign;
	layout->begin = version->begin;
	layout->begin_last = version->begin_last;
	layout->frame = version->frame;
	layout->frame_last = version->frame_last;
	layout->opcodes = version->opcodes;
}

int script_v8_read(struct script_loop *loop)
{
	const struct version *version = NULL;
	struct v8_layout layout = {};
	GElf_Ehdr header;
	s32 major, minor;

	if (!gelf_getehdr(loop->elf, &header) || header.e_machine != EM_X86_64 ||
	    !read_exported_number(loop, "_ZN2v88internal7Version6major_E", &major) ||
	    !read_exported_number(loop, "_ZN2v88internal7Version6minor_E", &minor))
		return -ENOENT;
	loop->layout.runtime = SCRIPT_V8;
	loop->layout.version = (u32)major << 8 | (minor & 0xff);
	loop->layout.link_kind = SCRIPT_LINK_NONE;
	for (u32 i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].major == (u32)major && versions[i].minor == (u32)minor)
			version = &versions[i];
	if (!version)
		return -EOPNOTSUPP;
	loop->layout.link_kind = SCRIPT_LINK_UNREAD;
	if (!read_v8_layout(loop, &layout))
		return -EOPNOTSUPP;
	inlined_layout_read(loop, version, &layout);
	loop->layout.v8 = layout;
	return 0;
}
