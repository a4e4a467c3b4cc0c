/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of V8 (JavaScript; x86-64). Code of V8's interpreter and of its compilers keeps
 * frame pointers. A frame of a function has these words below rbp:
 *
 *   rbp - 8   context
 *   rbp - 16  function
 *   rbp - 24  number of arguments, the receiver included
 *   rbp - 32  bytecode, if V8's interpreter or its baseline compiler runs the function
 *
 * All other frames of V8 have a small number, shifted to the left, in place of the context.
 *
 *   function -> shared object -> scope, or a string -> name
 *                             -> script -> name of the file
 *
 * The scope lists the variables of the function: words with flags, the number of parameters, the
 * number n of variables, then n names and n numbers (if n is SCOPE_NAMES_MAX or more, the address
 * of a hash table and n numbers), and further words that the flags tell. The function's name is one
 * of these; without a name of its own, a function has one that V8 has inferred from the source
 * ("Module._load"). Such a name is often a string of two parts, which are strings of two parts in
 * turn.
 *
 * A frame counts only if all objects on the way have their types. The rule of the frame is that of
 * a frame pointer, so the words belong to the function that the frame's code runs in, unless the
 * frame is incomplete: in an interrupted frame, all words must not lie below rsp. Such words also
 * prove that rbp is a frame pointer, so a search that chose it has not guessed.
 */
#include "unwind.h"
#include "v8_object.h"

#ifdef UNWIND_KNOWS_V8

#define FRAME_WORDS 4 /* number of words below rbp that are read */
#define WORD_BYTECODE 0
#define WORD_ARGUMENTS 1
#define WORD_FUNCTION 2
#define WORD_CONTEXT 3
#define ARGUMENTS_MAX 0xffff
/* number of types that functions have, constructors of classes included */
#define FUNCTION_TYPES 32

#define STRING_END 128 /* types below this number are strings */
#define STRING_SHAPE(type) ((type)&7)
#define SHAPE_WHOLE 0
/* a concatenation: the addresses of its two strings are at bytes 16 and 24 */
#define SHAPE_PARTS 1
#define SHAPE_OTHER 5 /* a thin string: at byte 16 the address of the string that it stands for */
#define STRING_WIDTH(type) (2 - ((type) >> 3 & 1))
#define STRING_WORDS 4
#define STRING_CHARACTERS 16

/* Indices of words in a scope (ScopeInfo). */
#define SCOPE_FLAGS 1
#define SCOPE_VARIABLES 3
#define SCOPE_FIRST 4
#define SCOPE_NAMES_MAX 75
#define SCOPE_VARIABLES_MAX 0xffff
#define SCOPE_KIND(flags) ((flags)&15)
#define SCOPE_MODULE 3 /* kind of scope that has a further word in front of the variables */
#define SCOPE_HAS_CLASS(flags) ((flags) >> 10 & 1)
#define SCOPE_HAS_NAME(flags) (((flags) >> 12 & 3) != 0)
#define SCOPE_HAS_INFERRED(flags) ((flags) >> 14 & 1)

#define SCRIPT_NAME 2 /* index of the word that holds the name in a Script object of V8 */

CORE_PART u64 v8_hash_add(u64 hash, u64 word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ hash >> 29;
}

/* --- text --- */

/* The text that v8_read_string_part() fills: the function's name or the file's. */
CORE_PART struct v8_text *v8_current_text(struct v8_walk *v8)
{
	u32 reading = v8->reading;

	core_one_register(reading);
	return &v8->text[reading & 1];
}

/* Appends the characters of a string, whose first words are in v8->word, to the text. */
CORE_PART bool v8_text_append(struct unwind *unwind, u64 string, u32 type)
{
	struct v8_text *text = v8_current_text(&unwind->v8);
	u64 width = STRING_WIDTH(type), bytes = NUMBER(unwind->v8.word[1]) * width;
	u64 used = text->bytes;

	if (!bytes)
		return true;
	if (used && text->width != width)
		return false;
	core_one_register(bytes);
	core_one_register(used);
	if (bytes > SCRIPT_TEXT_BYTES || used >= SCRIPT_TEXT_BYTES ||
	    !unwind_peek(unwind, string - OBJECT_TAG + STRING_CHARACTERS, text->text + used, bytes))
		return false;
	text->width = width;
	text->bytes = used + bytes;
	return core_reload(text->bytes) <= SCRIPT_TEXT_BYTES;
}

/* The element of v8->part that holds a string which is still to be read. */
CORE_PART u64 *v8_pending_string_at(struct v8_walk *v8, u32 index)
{
	core_one_register(index);
	return &v8->part[index & (V8_TEXT_PARTS - 1)];
}

/* Appends the last string of v8->part to the text, or replaces it by its parts. */
static long v8_read_string_part(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct v8_walk *v8 = &unwind->v8;
	u32 last = v8->parts - 1, type, shape;
	u64 string;

	(void)i;
	if (!v8->parts)
		return 1;
	string = *v8_pending_string_at(v8, last);
	v8->is_bad = 1;
	type = v8_object_read(unwind, string, STRING_WORDS);
	shape = STRING_SHAPE(type);
	if (type >= STRING_END || last + 1 >= V8_TEXT_PARTS)
		return 1;
	if (shape == SHAPE_PARTS) {
		*v8_pending_string_at(v8, last) = v8->word[3];
		*v8_pending_string_at(v8, last + 1) = v8->word[2];
		v8->parts++;
	} else if (shape == SHAPE_OTHER) {
		*v8_pending_string_at(v8, last) = v8->word[2];
	} else if (shape == SHAPE_WHOLE && v8_text_append(unwind, core_reload(v8->object), type)) {
		v8->parts = last;
	} else {
		return 1;
	}
	v8->is_bad = 0;
	return 0;
}

static long v8_hash_add_word(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	const struct v8_text *text = v8_current_text(&unwind->v8);
	u64 bytes = text->bytes, at = 8 * (u64)i, left = bytes - at, word;

	core_one_register(at);
	if (at >= bytes || at >= SCRIPT_TEXT_BYTES)
		return 1;
	word = core_load_u64(text->text + at);
	if (left < 8)
		word &= (1ULL << 8 * (left & 7)) - 1;
	unwind->v8.hash = v8_hash_add(unwind->v8.hash, word);
	return 0;
}

/* Selects the text that is to be filled (0: the function's name, 1: the file's) and empties it. */
CORE_PART void v8_text_clear(struct v8_walk *v8, u32 reading)
{
	struct v8_text *text;

	v8->reading = reading;
	text = v8_current_text(v8);
	text->bytes = text->width = 0;
}

/* Reads a string after v8_text_clear(), and adds it to v8->hash. */
CORE_GLOBAL_PART int v8_read_text_and_add_to_hash(struct unwind *unwind, u64 string)
{
	const struct v8_text *text;
	struct v8_walk *v8;

	if (core_is_null(unwind))
		return 0;
	v8 = &unwind->v8;
	v8->part[0] = string;
	v8->parts = 1;
	v8->is_bad = 0;
	core_rare_loop(2 * V8_TEXT_PARTS, v8_read_string_part, &unwind);
	if (core_reload(v8->is_bad) || core_reload(v8->parts))
		return 0;
	text = v8_current_text(v8);
	v8->hash = v8_hash_add(v8->hash, (u64)text->bytes << 8 | text->width);
	core_rare_loop(SCRIPT_TEXT_BYTES / 8, v8_hash_add_word, &unwind);
	return 1;
}

/* --- frames --- */

/*
 * Reads the words around rbp to unwind->saved: those of the function, and the caller's rbp and the
 * return address, which the step to the caller takes from there. False: the frame is incomplete, or
 * not that of a function.
 */
CORE_PART bool v8_frame_read(struct unwind *unwind, u32 is_compiled)
{
	const struct unwind_registers *registers = &unwind->registers;
	u64 frame = registers->value[REGISTER_FP];
	u64 last = frame - 8 * (u64)(is_compiled ? FRAME_WORDS - 1 : FRAME_WORDS);

	if (!(registers->known >> REGISTER_FP & 1) || frame & 7 ||
	    (unwind->is_interrupted && registers->value[REGISTER_SP] > last) ||
	    !unwind_peek(unwind, frame - 8 * FRAME_WORDS, unwind->saved, 8 * (FRAME_WORDS + 2)))
		return false;
	unwind->saved_base = frame + 16;
	unwind->saved_count = FRAME_WORDS + 2;
	unwind->is_saved_ready = 1;
	return (unwind->saved[WORD_CONTEXT] & OBJECT_MASK) == OBJECT_TAG &&
	       (unwind->saved[WORD_FUNCTION] & OBJECT_MASK) == OBJECT_TAG &&
	       unwind->saved[WORD_ARGUMENTS] - 1 < ARGUMENTS_MAX;
}

/*
 * Sets v8->function and v8->shared to those of the function word in `known`, and checks the types
 * of all objects of the frame. 0: it is not the frame of a function; -1: a check failed.
 */
CORE_GLOBAL_PART int v8_function_read(struct unwind *unwind, struct v8_known *known)
{
	const struct v8_layout *layout;
	struct v8_walk *v8;
	u32 type, index;

	if (core_is_null(unwind) || core_is_null(known))
		return 0;
	v8 = &unwind->v8;
	layout = &v8->layout;
	if (known->bytecode && (u32)v8_object_read(unwind, known->bytecode, 1) != layout->bytecode)
		return 0;
	type = v8_object_read(unwind, known->context, 1);
	if (type - layout->context >= (u32)layout->context_end - layout->context)
		return -1;
	index = layout->function_shared / 8;
	core_one_register(index);
	type = v8_object_read(unwind, known->function, index + 1);
	if (type - layout->function >= FUNCTION_TYPES)
		return -1;
	known->object = core_reload(v8->object);
	known->shared = v8->word[index & (V8_WORDS - 1)];
	return 1;
}

CORE_GLOBAL int v8_find_function_of_frame(struct unwind *unwind, u32 is_compiled)
{
	struct v8_known *known;
	u64 bytecode, function, context;
	struct v8_walk *v8;
	int found;
	u32 slot;

	if (core_is_null(unwind))
		return 0;
	v8 = &unwind->v8;
	v8->is_compiled = is_compiled;
	if (!v8_frame_read(unwind, is_compiled))
		return 0;
	bytecode = is_compiled ? 0 : unwind->saved[WORD_BYTECODE];
	if (!is_compiled && !bytecode)
		return 0;
	function = unwind->saved[WORD_FUNCTION];
	context = unwind->saved[WORD_CONTEXT];
	slot = function * HASH_FACTOR >> 32;
	core_one_register(slot);
	known = &v8->known[slot & (V8_KNOWN - 1)];
	if (known->function != function || known->context != context ||
	    known->bytecode != bytecode) {
		*known = (struct v8_known){bytecode, function, context, 0, 0};
		found = v8_function_read(unwind, known);
		if (found <= 0) {
			known->function = 0;
			return found;
		}
	}
	v8->function = known->object;
	v8->shared = known->shared;
	v8->is_proven = 1;
	unwind->returns.is_guess = 0;
	return 1;
}

/* Sets v8->name to the name that the scope holds; 0: the function has no name. */
CORE_GLOBAL_PART int v8_scope_name_find(struct unwind *unwind, u64 scope)
{
	struct v8_walk *v8;
	u64 flags, count, at, name, inferred;

	if (core_is_null(unwind) || !v8_read_words(unwind, scope, 0, SCOPE_FIRST))
		return 0;
	v8 = &unwind->v8;
	flags = NUMBER(v8->word[SCOPE_FLAGS]);
	count = NUMBER(v8->word[SCOPE_VARIABLES]);
	if (!IS_NUMBER(v8->word[SCOPE_FLAGS]) || !IS_NUMBER(v8->word[SCOPE_VARIABLES]) ||
	    count > SCOPE_VARIABLES_MAX)
		return 0;
	at = SCOPE_FIRST + is_below(SCOPE_KIND(flags) ^ SCOPE_MODULE, 1) + count +
	     (count < SCOPE_NAMES_MAX ? count : 1) + SCOPE_HAS_CLASS(flags);
	v8->name = 0;
	if (!v8_read_words(unwind, scope, at, 3))
		return 0;
	name = SCOPE_HAS_NAME(flags) ? v8->word[0] : 0;
	inferred = SCOPE_HAS_NAME(flags) ? v8->word[2] : v8->word[0];
	if (SCOPE_HAS_NAME(flags) && !IS_NUMBER(v8->word[1]))
		return 0;
	if (!SCOPE_HAS_INFERRED(flags))
		inferred = 0;
	if (name) {
		if ((u32)v8_object_read(unwind, name, 2) >= STRING_END)
			return 0;
		v8->name = NUMBER(v8->word[1]) ? name : 0;
	}
	/* Without an inferred name, this word holds an object of another type than a string. */
	if (!core_reload(v8->name) && inferred) {
		u32 type = v8_object_read(unwind, inferred, 1);

		if (type == TYPE_NONE)
			return 0;
		v8->name = type < STRING_END ? inferred : 0;
	}
	return 1;
}

/* Sets v8->name and v8->script from the function's shared object. */
CORE_PART bool v8_read_shared_function_info(struct unwind *unwind)
{
	struct v8_walk *v8 = &unwind->v8;
	const struct v8_layout *layout = &v8->layout;
	u32 name_index = layout->shared_name / 8, script_index = layout->shared_script / 8;
	u32 type;
	u64 name;

	if ((u32)v8_object_read(unwind, v8->shared, V8_SHARED_WORDS) != layout->shared)
		return false;
	core_one_register(name_index);
	core_one_register(script_index);
	name = v8->word[name_index & (V8_WORDS - 1)];
	v8->script = v8->word[script_index & (V8_WORDS - 1)];
	v8->name = name;
	type = v8_object_read(unwind, name, 1);
	return type < STRING_END ||
	       (type == layout->scope && v8_scope_name_find(unwind, core_reload(v8->object)));
}

/* Reads the name of the script's file, unless the last function was of the same file. Code that
 * eval() has made has no file. */
CORE_PART bool v8_file_name_read(struct unwind *unwind)
{
	struct v8_walk *v8 = &unwind->v8;
	u32 type;

	if (v8->file_script && v8->file_script == v8->script)
		return true;
	v8->file_script = 0;
	v8->hash = v8->seed;
	v8_text_clear(v8, 1);
	if ((u32)v8_object_read(unwind, v8->script, 1) != v8->layout.script ||
	    !v8_read_words(unwind, core_reload(v8->object), SCRIPT_NAME, 1))
		return false;
	v8->name_of_file = v8->word[0];
	type = v8_object_read(unwind, core_reload(v8->name_of_file), 1);
	if (type == TYPE_NONE ||
	    (type < STRING_END &&
	     !v8_read_text_and_add_to_hash(unwind, core_reload(v8->name_of_file))))
		return false;
	v8->file_hash = v8->hash;
	v8->file_script = v8->script;
	return true;
}

CORE_GLOBAL int v8_read_names_of_function(struct unwind *unwind)
{
	struct v8_walk *v8;

	if (core_is_null(unwind))
		return 0;
	v8 = &unwind->v8;
	if (!v8_read_shared_function_info(unwind) || !v8_file_name_read(unwind))
		return 0;
	v8->hash = v8->file_hash;
	v8_text_clear(v8, 0);
	return !core_reload(v8->name) || v8_read_text_and_add_to_hash(unwind, v8->name);
}

#endif
