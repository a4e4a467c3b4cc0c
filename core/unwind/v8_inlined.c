/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of V8 that its optimizing compiler (Turbofan) has put into others. One native frame
 * runs them all, and its words name the outermost function only.
 *
 * V8 can give up optimized code when a call returns (the return is a lazy deoptimization): frames
 * of the interpreter take the place of the compiled one. For each such call the code has a list of
 * the frames, outermost first, and these frames are the functions that the call is made from. V8
 * itself makes the text of an exception's stack from the same lists (OptimizedFrame::Summarize of
 * V8).
 *
 *   function -> description of its code -> array that describes the calls
 *
 * The array holds the address of all lists, the number of inlined functions, the address of an
 * array of objects (literals), and at the end three numbers for each place that the code may be
 * given up at: the third is the distance of the return address from the code's first instruction,
 * the second the position of the list. Places that are no call come first (their third number is
 * -1), then the calls in ascending order.
 *
 * A list is a sequence of instructions: an opcode, one byte, and operands of variable length, seven
 * bits a byte, least significant first; all bytes of an operand but the last have bit 7. The
 * instruction of an interpreter's frame has the number of its shared object among the literals as
 * second operand; the values of the frame's variables follow, one instruction each. A list may
 * refer to an earlier one, which lies `back` bytes before: an instruction says that the next n
 * instructions are those of the earlier list at the same place. Two positions thus go through the
 * lists; `behind` counts how far the second one has to be moved when it is used next.
 *
 * A frame has inlined functions only if its pc is exactly the return address of a described call,
 * and if the list begins with the frame's own function. All else keeps the name of the outermost
 * function: the pc of a sample, calls that cannot give up code, and code that is not the function's
 * current code (code that was entered in a loop, and code that was given up).
 */
#include "unwind.h"
#include "v8_object.h"

#ifdef UNWIND_KNOWS_V8

/* Words of arrays: the type, the length, then the elements. */
#define ARRAY_LENGTH 1
#define ARRAY_FIRST 2
/* Words of the array that describes calls. */
#define DATA_LISTS 2
#define DATA_INLINED 3
#define DATA_LITERALS 4
#define DATA_OTHERS 11 /* number of described places that are no calls */
#define DATA_CALLS 12
#define DATA_PLACES 13 /* the first place */
#define PLACE_WORDS 3
#define PLACES_MAX 0xffff
#define PLACES_MAX_BITS 16

#define DESCRIPTION_KIND                                                                           \
	6 /* word of a description of code; its lowest bits have the kind of code */
#define CODE_KIND_MASK 15

#define OPERAND_BYTES 8 /* bytes that are loaded of an operand */
/*
 * an instruction that begins at this index of the window, or before it, lies in the window as a
 * whole
 */
#define WINDOW_LAST (V8_LIST_WINDOW - (V8_OPERANDS_MAX + 2) * OPERAND_BYTES)
#define LIST_STEPS_MAX 2048
#define LIST_FRAMES_MAX 64

/* Reads the description of the function's code. False: the current pc is not in that code, or the
 * code has no inlined functions. */
CORE_GLOBAL_PART int v8_code_description_read(struct unwind *unwind)
{
	const struct v8_layout *layout;
	struct v8_inlined *inlined;
	struct v8_walk *v8;
	u64 code, data, start;
	u32 deopt_word, start_word, bytes_word, is_upper, bytes;

	if (core_is_null(unwind))
		return 0;
	v8 = &unwind->v8;
	inlined = &v8->inlined;
	layout = &v8->layout;
	if (!layout->opcodes || !v8_read_words(unwind, v8->function, layout->function_code / 8, 1))
		return 0;
	if ((u32)v8_object_read(unwind, v8->word[0], V8_WORDS) != layout->code ||
	    (v8->word[DESCRIPTION_KIND] & CODE_KIND_MASK) != layout->code_kind)
		return 0;
	code = core_reload(v8->object);
	deopt_word = layout->code_deopt / 8;
	start_word = layout->code_start / 8;
	bytes_word = layout->code_bytes / 8;
	is_upper = layout->code_bytes >> 2 & 1;
	core_one_register(deopt_word);
	core_one_register(start_word);
	core_one_register(bytes_word);
	start = start_word ? v8->word[start_word & (V8_WORDS - 1)]
			   : code - OBJECT_TAG + V8_CODE_HEADER;
	bytes = v8->word[bytes_word & (V8_WORDS - 1)] >> 32 * is_upper;
	data = v8->word[deopt_word & (V8_WORDS - 1)];
	inlined->pc = unwind->registers.value[REGISTER_PC] - start;
	if (unwind->registers.value[REGISTER_PC] - start > bytes ||
	    (u32)v8_object_read(unwind, data, 1) != layout->deopt)
		return 0;
	inlined->data = core_reload(v8->object);
	return unwind_peek(unwind, inlined->data - OBJECT_TAG, inlined->head,
			   sizeof(inlined->head)) &&
	       NUMBER(inlined->head[DATA_INLINED]);
}

/* One step of a binary search for the call with the current pc. */
static long v8_search_call(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct v8_inlined *inlined = &unwind->v8.inlined;
	u32 middle = (inlined->low + inlined->high) / 2, pc;

	(void)i;
	if (inlined->low >= inlined->high ||
	    !v8_read_words(unwind, inlined->data, DATA_PLACES + PLACE_WORDS * (u64)middle,
			   PLACE_WORDS))
		return 1;
	pc = NUMBER(unwind->v8.word[2]);
	inlined->at = NUMBER(unwind->v8.word[1]);
	inlined->is_found = pc == inlined->pc;
	if (pc < inlined->pc)
		inlined->low = middle + 1;
	else
		inlined->high = middle;
	return inlined->is_found;
}

/* Finds the list of frames of the current call, and its literals. */
CORE_GLOBAL_PART int v8_list_find(struct unwind *unwind)
{
	struct v8_inlined *inlined;
	u64 length, others, calls;

	if (core_is_null(unwind))
		return 0;
	inlined = &unwind->v8.inlined;
	length = NUMBER(inlined->head[ARRAY_LENGTH]) + ARRAY_FIRST;
	others = NUMBER(inlined->head[DATA_OTHERS]);
	calls = NUMBER(inlined->head[DATA_CALLS]);
	if (others > PLACES_MAX || calls > PLACES_MAX ||
	    DATA_PLACES + PLACE_WORDS * (others + calls) > length)
		return 0;
	inlined->low = others;
	inlined->high = others + calls;
	inlined->is_found = 0;
	core_rare_loop(PLACES_MAX_BITS + 1, v8_search_call, &unwind);
	if (!core_reload(inlined->is_found) ||
	    !v8_read_words(unwind, inlined->head[DATA_LISTS], 0, ARRAY_FIRST))
		return 0;
	inlined->list = inlined->head[DATA_LISTS] - OBJECT_TAG + 8 * ARRAY_FIRST;
	inlined->list_bytes = NUMBER(unwind->v8.word[ARRAY_LENGTH]);
	inlined->literals = inlined->head[DATA_LITERALS];
	if (!v8_read_words(unwind, inlined->literals, 0, ARRAY_FIRST))
		return 0;
	inlined->literal_count = NUMBER(unwind->v8.word[ARRAY_LENGTH]);
	return 1;
}

/* The place in the window of a position of the list; V8_LIST_WINDOW: the bytes are unreadable. */
CORE_GLOBAL_PART int v8_window_index_of_position(struct unwind *unwind, u32 at)
{
	struct v8_inlined *inlined;
	u32 bytes;

	if (core_is_null(unwind))
		return V8_LIST_WINDOW;
	inlined = &unwind->v8.inlined;
	if (at - inlined->window_at <= WINDOW_LAST)
		return at - inlined->window_at;
	if (at >= inlined->list_bytes)
		return V8_LIST_WINDOW;
	bytes = inlined->list_bytes - at;
	if (bytes > V8_LIST_WINDOW)
		bytes = V8_LIST_WINDOW;
	core_one_register(bytes);
	inlined->window_at = at;
	if (bytes > V8_LIST_WINDOW ||
	    !unwind_peek(unwind, inlined->list + at, inlined->window, bytes)) {
		inlined->window_at = at + 1;
		return V8_LIST_WINDOW;
	}
	return 0;
}

/* The number of operands of an opcode. */
CORE_PART u32 v8_operand_count(const struct v8_layout *layout, u32 opcode)
{
	core_one_register(opcode);
	if (opcode >= V8_OPCODES_MAX)
		return 0;
	return layout->operands[opcode / 2] >> 4 * (opcode & 1) & 15;
}

/* Decodes the operand at a place of the window, and returns the place after it; 0: it is too long.
 */
CORE_PART u32 v8_operand_read(const struct v8_inlined *inlined, u32 place, u32 *operand)
{
	u64 word, last;

	core_one_register(place);
	if (place > V8_LIST_WINDOW - OPERAND_BYTES)
		return 0;
	word = core_load_u64(inlined->window + place);
	/* The lowest bit 7 that is clear is in the operand's last byte. The multiplication moves
	 * the number of this byte, 0 to 7, to the top byte of the product. */
	last = ~word & 0x8080808080808080ULL;
	last &= -last;
	word &= 2 * last - 1;
	*operand = (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000) |
		   (word >> 3 & 0xfe00000) | (word >> 4 & 0xf0000000);
	return last ? place + 1 + ((last >> 7) * 0x0001020304050607ULL >> 56) : 0;
}

/*
 * Reads the instruction at inlined->at or, if instructions of the earlier list are read, at
 * inlined->back, and moves that position to the end of the instruction. An opcode beyond the last
 * one is short for an instruction that refers to the earlier list, whose opcode is the last one.
 */
CORE_GLOBAL_PART int v8_instruction_read(struct unwind *unwind)
{
	const struct v8_layout *layout;
	struct v8_inlined *inlined;
	u32 at, place, start, opcode, operands, is_earlier;

	if (core_is_null(unwind))
		return 0;
	layout = &unwind->v8.layout;
	inlined = &unwind->v8.inlined;
	is_earlier = core_reload(inlined->skipped) | core_reload(inlined->matched);
	at = is_earlier ? inlined->back : inlined->at;
	start = place = v8_window_index_of_position(unwind, at);
	core_one_register(place);
	if (place >= V8_LIST_WINDOW || !inlined->steps_left)
		return 0;
	inlined->steps_left--;
	opcode = inlined->window[place] >> (layout->opcode_sign & 1);
	place++;
	operands = v8_operand_count(layout, opcode);
	if (opcode >= layout->opcodes) {
		if (layout->opcode_sign)
			return 0;
		operands = 0;
		inlined->operand[0] = opcode - layout->opcodes;
		opcode = layout->opcodes - 1;
	}
	inlined->opcode = opcode;
	for (u32 i = 0; i < V8_OPERANDS_MAX; i++) {
		if (i >= operands)
			break;
		place = v8_operand_read(inlined, place, &inlined->operand[i]);
		if (!place)
			return 0;
	}
	at += place - start;
	if (at > inlined->list_bytes)
		return 0;
	if (is_earlier)
		inlined->back = at;
	else
		inlined->at = at;
	return 1;
}

/*
 * Adds the function of an interpreter's frame. `literal`: the number of its shared object among the
 * literals, shifted left by a sign bit.
 */
CORE_PART bool v8_inlined_add(struct unwind *unwind, u32 literal)
{
	struct v8_inlined *inlined = &unwind->v8.inlined;
	u32 count = inlined->count;

	literal >>= 1;
	core_one_register(count);
	if (count >= V8_INLINED_MAX || literal >= inlined->literal_count ||
	    !v8_read_words(unwind, inlined->literals, ARRAY_FIRST + (u64)literal, 1))
		return false;
	inlined->shared[count & (V8_INLINED_MAX - 1)] = unwind->v8.word[0];
	inlined->count = count + 1;
	return true;
}

/* Handles one instruction of the list. The last frame of the list ends the loop. */
static long v8_list_step(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct v8_inlined *inlined = &unwind->v8.inlined;
	const struct v8_layout *layout = &unwind->v8.layout;
	u32 opcode;

	(void)i;
	if (!v8_instruction_read(unwind))
		return 1;
	opcode = core_reload(inlined->opcode);
	if (core_reload(inlined->skipped)) {
		inlined->skipped--;
		return 0;
	}
	if (core_reload(inlined->matched)) {
		inlined->matched--;
	} else if (!layout->opcode_sign && opcode + 1 == layout->opcodes) {
		inlined->matched = inlined->operand[0];
		inlined->skipped = inlined->behind;
		inlined->behind = 0;
		return 0;
	} else {
		inlined->behind++;
	}
	if (opcode - layout->begin <= (u32)layout->begin_last - layout->begin)
		return 1;
	/* Two kinds of frames of built-in functions count as frames, but have no name here. */
	if (opcode - layout->frame > (u32)layout->frame_last + 2 - layout->frame)
		return 0;
	if (opcode <= layout->frame_last && !v8_inlined_add(unwind, inlined->operand[1]))
		return 1;
	inlined->frames--;
	return !core_reload(inlined->frames);
}

/* True if both addresses are those of one object, which may have been moved. */
CORE_PART bool is_same_object(struct unwind *unwind, u64 a, u64 b)
{
	u32 type = v8_object_read(unwind, a, 1);

	a = core_reload(unwind->v8.object);
	return type != TYPE_NONE && (u32)v8_object_read(unwind, b, 1) == type &&
	       a == core_reload(unwind->v8.object);
}

CORE_GLOBAL int v8_inlined_find(struct unwind *unwind)
{
	const struct v8_layout *layout;
	struct v8_inlined *inlined;
	u32 back;

	if (core_is_null(unwind))
		return 0;
	layout = &unwind->v8.layout;
	inlined = &unwind->v8.inlined;
	inlined->count = inlined->left = 0;
	if (!v8_code_description_read(unwind) || !v8_list_find(unwind))
		return 0;
	inlined->skipped = inlined->matched = 0;
	inlined->back = inlined->at;
	inlined->window_at = inlined->at + 1;
	if (!v8_instruction_read(unwind) || inlined->opcode < layout->begin ||
	    inlined->opcode > layout->begin_last)
		return -1;
	back = layout->opcode_sign ? 0 : inlined->operand[0];
	inlined->frames = inlined->operand[layout->opcode_sign ? 1 : 2] >> 1;
	if (back > inlined->back || !inlined->frames || inlined->frames > LIST_FRAMES_MAX)
		return -1;
	inlined->back -= back;
	inlined->behind = 1;
	core_rare_loop(LIST_STEPS_MAX, v8_list_step, &unwind);
	if (core_reload(inlined->frames) || !core_reload(inlined->count) ||
	    !is_same_object(unwind, inlined->shared[0], unwind->v8.shared))
		return -1;
	inlined->left = inlined->count - 1;
	return inlined->left;
}

#endif
