/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perl 5.36 and later (cop.h, cv.h, perl.h, scope.c there). A call of a function of the script adds
 * a context to an array, and the loop that runs already runs the function, too. A stack of the
 * interpreter (PERL_SI) has such an array; sort, tied variables, destructors and overloaded
 * operators add a stack each. In each stack the contexts of functions, formats and evaluations are
 * linked by their indexes.
 *
 * A native frame of the loop holds no context, so contexts and loops are joined by how a loop
 * begins. The next native frame says which function of Perl runs the loop:
 *
 *   perl_run()              the program: the contexts end with the outermost stack
 *   call_sv(), overloading, one function or evaluation. Its context has no operation to return to,
 *   eval_sv()               which contexts of functions that the script calls have
 *   docatch()               an eval block in a function that C code has called. The block's context
 *                           holds an address in the frame of docatch(), and contexts further out
 *                           belong to the loop further out. Once the block has ended, all of them
 *                           belong to this loop, which goes on with the function
 *   others                  the comparison of sort, a callback of an extension, code in a regular
 *                           expression. Its context has a mark and is the only one of its stack;
 *                           the block of a sort has none, but a stack of its own
 *
 * A context with the mark is there between two calls, too, when no loop runs it: then it is the
 * innermost one, and if the loop around is one of the others, the interpreter has no current
 * operation, or sorts. A whole native stack must use up all contexts, and each loop must end where
 * its kind says; if not, the whole stack stays native. This finds the moments between the begin of
 * a context and that of its loop.
 *
 * A context counts only if its function has been called more often than the context says that it
 * had been before: a context that is being made or removed has words of an earlier one. No two
 * contexts have the same function and number of calls.
 *
 * The cache key of a function is made from its texts: the interpreter has hashed the names of the
 * function and of its package.
 */
#include "perl_walk.h"

#include "deep_stack.h"

enum perl_loop {
	PERL_LOOP_NONE,
	PERL_LOOP_PROGRAM,
	PERL_LOOP_CALL,
	PERL_LOOP_CATCH,
	PERL_LOOP_OTHER,
	PERL_LOOP_REST, /* no loop: contexts that no loop has used */
};

/* Offset in an interpreter of the address of its current operation. */
#define INTERPRETER_OPERATION 8

/* The description of a stack, in words. */
#define STACK_DESCRIPTION 6
#define STACK_CONTEXTS 1
#define STACK_NEXT 2
#define STACK_LAST 4 /* lower half: index of the last context */
/* lower half: index of the context of the last function; upper half: kind of the stack */
#define STACK_FUNCTION 5
#define STACK_KIND_SORT 3
#define STACK_KIND_CALLBACK 10

/* A context, in words. */
#define PERL_CONTEXT_WORDS 13
#define CONTEXT_KIND 0
#define CONTEXT_RETURN 6
#define CONTEXT_NEXT 7 /* lower half: index of the next function's context */
#define CONTEXT_CODE 9
/* lower half: number of calls of the function that were running when this call began */
#define CONTEXT_CALLS 10
#define CONTEXT_CATCH 12 /* the frame of docatch() in which an evaluation began; 0: none */

/* The first byte of a context. */
#define CONTEXT_TYPE(kind) ((kind)&15)
#define TYPE_FUNCTION 9
#define TYPE_FORMAT 10
#define TYPE_EVALUATION 11
#define KIND_CALLBACK                                                                              \
	0x10 /* functions: part of a multicall, such as the block of a sort or of List::Util       \
		(CXp_MULTICALL) */
#define KIND_SAME                                                                                  \
	0x80		/* functions: code of a regular expression in the function that runs it    \
			   (CXp_SUB_RE_FAKE) */
#define KIND_BLOCK 0x40 /* evaluations: of a block, not of a string (CXp_TRYBLOCK) */

/* The head of a value: address of the body, then flags in an upper half. */
#define VALUE_TYPE(flags) ((flags) >> 32 & 0xff)
#define VALUE_GLOB 9
#define VALUE_HASH 12
#define VALUE_CODE 13
#define VALUE_FORMAT 14
#define HASH_HAS_NAME(flags) ((flags) >> 57 & 1)

/* The body of a function, in words. */
#define CODE_WORDS 13
#define CODE_PACKAGE 4
#define CODE_START 5 /* address of the function's first operation */
#define CODE_NAME 7
#define CODE_FILE 8
#define CODE_FLAGS 11 /* upper half of the word: flags */
#define CODE_CALLS 12 /* lower half of the word: calls of the function that run */
#define FLAG_EXTENSION 0x8
#define FLAG_NAMED 0x8000    /* CODE_NAME is the name, and not a glob that has it */
#define FLAG_LEXICAL 0x10000 /* the name has no package */

#define GLOB_NAME 32 /* offset of the name in the body of a glob; the next word is the package */
#define HASH_NAME 32
#define HASH_NAME_COUNT 3 /* word after HASH_NAME, upper half: not 0: a list of names is there */
#define NAME_TEXT                                                                                  \
	8 /* offset of the text in a name; before the text are the hash and the length, 32 bits    \
	     each */
#define OPERATION_KIND 32 /* 9 bits of number; in the upper half of the word the line */
#define OPERATION_WORDS 5
#define OPERATION_NUMBER(word) ((word)&0x1ff)
#define FILE_TAIL 16

/*
 * The work at the end of perl_walk_step(), as bits in walk->end. perl_walk_step() does this work in
 * one place; the functions that set the bits are verified by themselves.
 */
enum perl_end {
	PERL_FINDS_ID = 1, /* finds the id of the function that was read */
	PERL_ADDS_FRAME = 2,
	PERL_LEAVES_LOOP = 4,
	PERL_ADDS_NATIVE = 8,
};

CORE_PART void perl_give_up_walk(struct script_walk *walk)
{
	walk->is_native = 1;
}

/* Begins with the innermost function of a stack; 0: no stack is left. */
CORE_GLOBAL_PART int perl_stack_enter(struct script_walk *walk, u64 stack)
{
	struct perl_place *place;
	u64 *word;

	if (core_is_null(walk))
		return 0;
	place = &walk->perl.place;
	word = walk->frame_word;
	place->stack = stack;
	place->next = 0;
	place->index = -1;
	if (!stack)
		return 0;
	if (stack & 7 || !script_read(stack, word, 8 * STACK_DESCRIPTION)) {
		perl_give_up_walk(walk);
		return 0;
	}
	place->contexts = word[STACK_CONTEXTS];
	place->next = word[STACK_NEXT];
	place->index = (s32)word[STACK_FUNCTION];
	place->kind = word[STACK_FUNCTION] >> 32;
	if (place->index < -1 || place->index > (s32)word[STACK_LAST])
		perl_give_up_walk(walk);
	return 0;
}

/* --- functions --- */

/* Reads a name with hash and length, and adds both to walk->key. */
CORE_PART bool perl_name_read(struct script_walk *walk, u64 address, struct perl_text *text)
{
	text->address = text->bytes = 0;
	if (address) {
		if (!script_read(address, &walk->text_hash, 8))
			return false;
		text->address = address + NAME_TEXT;
		text->bytes = walk->text_hash >> 32;
	}
	walk->key = script_hash_add(walk->key, address ? walk->text_hash : 0, KEY_WORD);
	return true;
}

/* Reads the name of a package; 0: the function has none. */
CORE_PART bool perl_package_read(struct script_walk *walk, u64 package)
{
	u64 *word = walk->text_word, name = 0;

	if (package) {
		if (!script_read(package, word, 16) || VALUE_TYPE(word[1]) != VALUE_HASH)
			return false;
		if (HASH_HAS_NAME(word[1])) {
			if (!script_read(word[0] + HASH_NAME, word, 32))
				return false;
			name = word[0];
			if (name && word[HASH_NAME_COUNT] >> 32 && !script_read(name, &name, 8))
				return false;
		}
	}
	return perl_name_read(walk, name, &walk->perl.owner);
}

/* Sets the line of the function's first statement; 0: the function begins with something else. */
CORE_PART bool perl_line_read(struct script_walk *walk, u64 start)
{
	u64 *word = walk->code_word;
	u32 number;

	walk->perl.first_line = 0;
	if (!start || !script_read(start, word, 8 * OPERATION_WORDS))
		return !start;
	number = OPERATION_NUMBER(word[OPERATION_WORDS - 1]);
	if (number - walk->perl.layout.statement < 2)
		walk->perl.first_line = word[OPERATION_WORDS - 1] >> 32;
	return true;
}

/* Adds length and last characters of the file's name to walk->key. */
CORE_PART bool perl_add_file_name_to_key(struct script *script, u64 address)
{
	struct script_walk *walk = script->walk;
	u64 *word = walk->text_word, bytes, from;

	if (!perl_read_file_name(script, address))
		return false;
	bytes = core_reload(walk->perl.file.bytes);
	from = bytes > FILE_TAIL ? bytes - FILE_TAIL : 0;
	if (!script_read(address + from, word, FILE_TAIL))
		return false;
	walk->key = script_hash_add(walk->key, bytes, KEY_WORD);
	walk->key = script_hash_add(walk->key, word[0] & script_first_bytes_mask(bytes), KEY_WORD);
	walk->key = script_hash_add(
		walk->key, bytes < 8 ? 0 : word[1] & script_first_bytes_mask(bytes - 8), KEY_WORD);
	walk->key = script_hash_add(walk->key, walk->perl.first_line, KEY_WORD);
	return true;
}

/* Reads the function at an address: its number of calls, texts and key. */
CORE_GLOBAL_PART int perl_function_read(struct script_walk *walk, u64 address)
{
	struct perl_walk *perl;
	u64 *word, flags, package;

	if (core_is_null(walk))
		return 0;
	perl = &walk->perl;
	word = walk->code_word;
	if (address & 7 || !script_read(address, word, 16) ||
	    (VALUE_TYPE(word[1]) != VALUE_CODE && VALUE_TYPE(word[1]) != VALUE_FORMAT) ||
	    !script_read(word[0], word, 8 * CODE_WORDS))
		return 0;
	flags = word[CODE_FLAGS] >> 32;
	if (flags & FLAG_EXTENSION)
		return 0;
	perl->last_calls = (s32)word[CODE_CALLS];
	perl->file.address = word[CODE_FILE];
	perl->start = word[CODE_START];
	perl->name.address = word[CODE_NAME];
	package = flags & FLAG_LEXICAL ? 0 : word[CODE_PACKAGE];
	if (!(flags & FLAG_NAMED)) {
		if (!script_read(perl->name.address, word, 16) ||
		    VALUE_TYPE(word[1]) != VALUE_GLOB ||
		    !script_read(word[0] + GLOB_NAME, word, 16))
			return 0;
		perl->name.address = word[0];
		package = word[1];
	}
	walk->key = script_hash_add(script_address_space_hash(walk), perl->version, KEY_WORD);
	return perl->name.address && perl_name_read(walk, perl->name.address, &perl->name) &&
	       perl_package_read(walk, package) && perl_line_read(walk, perl->start);
}

/* Sets walk->perl.last_id to the id of the function that was read; 0: none. */
CORE_PART void perl_find_id_of_function(struct script *script)
{
	struct script_walk *walk = script->walk;
	u64 file = core_reload(walk->perl.file.address);

	if (!file || !perl_add_file_name_to_key(script, file)) {
		perl_give_up_walk(walk);
		return;
	}
	walk->perl.last_id = script_find_cached_id_of_key(script->cache, walk->key);
	if (!core_reload(walk->perl.last_id))
		walk->perl.last_id = perl_find_or_add_id(script, walk->key);
}

/* Adds the function of the Perl context whose words are in walk->frame_word. The context of a
 * format has no number of calls. */
CORE_PART void perl_function_add(struct script_walk *walk)
{
	struct perl_walk *perl = &walk->perl;
	u64 code = walk->frame_word[CONTEXT_CODE];
	u32 type = CONTEXT_TYPE(walk->frame_word[CONTEXT_KIND]);
	s64 calls = type == TYPE_FORMAT ? -1 : (s32)walk->frame_word[CONTEXT_CALLS];

	if (!code) /* the function has ended, and its variables are being freed */
		return;
	if (code == perl->first_code && calls == (s64)perl->first_calls &&
	    perl->context != perl->first_context) {
		perl_give_up_walk(walk);
		return;
	}
	if (!perl->first_code) {
		perl->first_code = code;
		perl->first_calls = calls;
		perl->first_context = perl->context;
	}
	if (code != perl->last_code) {
		if (!perl_function_read(walk, code)) {
			perl_give_up_walk(walk);
			return;
		}
		perl->last_code = code;
		walk->end |= PERL_FINDS_ID;
	}
	if (calls < perl->last_calls) {
		walk->end |= PERL_ADDS_FRAME;
		return;
	}
	perl->last_code = 0;
	walk->end = 0;
	if (perl->context != perl->first_context)
		perl_give_up_walk(walk);
}

/* Adds the program outside of functions. */
CORE_PART void perl_program_add(struct script_walk *walk)
{
	struct perl_walk *perl = &walk->perl;

	perl->last_code = perl->name.address = perl->owner.address = 0;
	perl->name.bytes = perl->owner.bytes = 0;
	perl->first_line = 1;
	walk->key = script_hash_add(script_address_space_hash(walk), ~(u64)perl->version, KEY_WORD);
	if (!script_read(perl->interpreter + perl->layout.program, &perl->file.address, 8))
		perl_give_up_walk(walk);
	walk->end |= PERL_FINDS_ID | PERL_ADDS_FRAME;
}

/* --- loops --- */

CORE_PART void perl_frames_drop(struct script_walk *walk, u32 depth)
{
	walk->is_native |= walk->depth > STACK_USER_DEPTH_MAX && walk->depth != depth;
	walk->depth = depth;
}

/* Saves the current depth and place: up to here, the frames are those of the current loop. */
CORE_PART void perl_save_place_of_loop(struct script_walk *walk)
{
	walk->perl.place.depth = walk->depth;
	walk->perl.kept = walk->perl.place;
}

/* Goes back to the place that was kept when the loop began. From this place on, the contexts belong
 * to a loop further out. */
CORE_PART void perl_restore_place_of_loop(struct script_walk *walk)
{
	perl_frames_drop(walk, walk->perl.kept.depth);
	walk->perl.place = walk->perl.kept;
}

CORE_PART void perl_loop_leave(struct script_walk *walk)
{
	struct perl_walk *perl = &walk->perl;

	if (core_reload(perl->is_unnamed)) {
		walk->unknown++;
		perl_frames_drop(walk, walk->start);
	}
	perl->last_loop = perl->loop;
	perl->loop = PERL_LOOP_NONE;
	perl->loops++;
	if (walk->depth == walk->start) {
		walk->end |= PERL_ADDS_NATIVE;
	} else {
		walk->joined++;
		walk->at++;
	}
}

/* The kind of a loop, by the frame of the function that runs it. */
CORE_PART u32 perl_loop_kind(const struct perl_walk *perl, u64 loop, u64 caller)
{
	u32 kind = PERL_LOOP_OTHER;
	u32 offset = FRAME_OFFSET(caller);

	if (FRAME_MAPPING(loop) != FRAME_MAPPING(caller))
		return kind;
	for (u32 i = 0; i < PERL_CALLERS; i++)
		if (offset - perl->layout.caller[i] < perl->layout.caller_bytes[i])
			kind = i == PERL_RUN	 ? PERL_LOOP_PROGRAM
			       : i == PERL_CATCH ? PERL_LOOP_CATCH
						 : PERL_LOOP_CALL;
	return kind;
}

CORE_PART u64 perl_native_frame_at(const struct script *script, u32 number)
{
	u32 slot = script_stack_slot(script->walk, number);

	core_one_register(slot);
	return script->native->word[slot & (STACK_WORDS_MAX - 1)];
}

/* Begins with the innermost loop of a stack. */
CORE_PART void perl_interpreter_enter(struct script *script, const struct script_mark *mark)
{
	struct script_walk *walk = script->walk;
	struct perl_walk *perl = &walk->perl;
	const struct script_layout *layout = perl_layout_of(script, FRAME_MAPPING(mark->place));

	perl->interpreter = mark->frame;
	if (!layout || !mark->frame || mark->frame & 7 ||
	    !script_read(mark->frame + INTERPRETER_OPERATION, &perl->operation, 8) ||
	    !script_read(mark->frame + layout->perl.stacks, &walk->text_from, 8) ||
	    !core_reload(walk->text_from)) {
		perl_give_up_walk(walk);
		return;
	}
	if (core_reload(perl->operation)) {
		if (!script_read(perl->operation + OPERATION_KIND, &perl->operation, 8)) {
			perl_give_up_walk(walk);
			return;
		}
		perl->operation = OPERATION_NUMBER(core_reload(perl->operation));
	}
	perl->layout = layout->perl;
	perl->version = layout->version;
	perl_stack_enter(walk, core_reload(walk->text_from));
}

CORE_PART const struct script_mark *perl_mark_at(const struct script *script, u32 number)
{
	core_one_register(number);
	return &script->marks->mark[number & (SCRIPT_MARKS_MAX - 1)];
}

CORE_PART void perl_loop_enter(struct script *script, const struct script_mark *mark)
{
	struct script_walk *walk = script->walk;
	struct perl_walk *perl = &walk->perl;

	walk->mark++;
	if (!perl->interpreter)
		perl_interpreter_enter(script, mark);
	else if (mark->frame != perl->interpreter)
		perl_give_up_walk(walk);
	perl->loop = perl_loop_kind(
		perl, mark->place,
		walk->at + 1 < walk->depth_native ? perl_native_frame_at(script, walk->at + 1) : 0);
	perl->inner = mark->cfa;
	perl->outer =
		walk->mark < script->marks->count ? perl_mark_at(script, walk->mark)->cfa : ~0ULL;
	perl->passed = perl->is_unnamed = perl->is_caught = 0;
	walk->start = walk->depth;
	perl_save_place_of_loop(walk);
	if (!core_reload(perl->is_taken))
		return;
	/* the loop of docatch() runs the code for which this loop was entered */
	perl->is_taken = 0;
	if (perl->loop == PERL_LOOP_CALL || perl->loop == PERL_LOOP_OTHER)
		walk->end |= PERL_LEAVES_LOOP;
	else
		perl_give_up_walk(walk);
}

/* True if the innermost loop runs an operation that is between two calls of its callback. */
CORE_PART bool perl_is_between_callbacks(const struct perl_walk *perl)
{
	return !perl->loops && (!perl->operation || (perl->operation == perl->layout.sort &&
						     perl->place.kind == STACK_KIND_SORT));
}

/* True if the current loop is docatch()'s, and no evaluation that began there is left: the loop
 * runs what the loop further out was entered with. */
CORE_PART bool perl_catch_loop_runs_outer_code(const struct script_walk *walk)
{
	return walk->perl.loop == PERL_LOOP_CATCH && !walk->perl.is_caught;
}

/* Handles the end of a stack: its contexts have no function any more. */
CORE_PART void perl_stack_leave(struct script_walk *walk)
{
	struct perl_walk *perl = &walk->perl;
	bool is_empty = walk->depth == walk->start;
	u64 next = perl->place.next;
	u32 loop = perl->loop;

	if (perl->place.kind == STACK_KIND_SORT && !(is_empty && perl_is_between_callbacks(perl)) &&
	    (loop == PERL_LOOP_OTHER || (perl_catch_loop_runs_outer_code(walk) && !is_empty))) {
		perl->is_taken = loop == PERL_LOOP_CATCH;
		perl_stack_enter(walk, next); /* the stack of contexts of a sort's block */
		walk->end |= PERL_LEAVES_LOOP;
	} else if (loop == PERL_LOOP_REST) {
		walk->is_done = !next;
		perl_stack_enter(walk, next);
	} else if (is_empty && next) {
		perl_stack_enter(walk, next);
	} else if (loop == PERL_LOOP_PROGRAM && !next && perl->place.stack) {
		perl_program_add(walk);
		perl_stack_enter(walk, 0);
		walk->end |= PERL_LEAVES_LOOP;
	} else if (loop > PERL_LOOP_CALL || (loop == PERL_LOOP_CALL && !perl->loops)) {
		/*
		 * a loop of a call from C that has not run its first operation yet, or has run its
		 * last one
		 */
		walk->unjoined += loop == PERL_LOOP_CALL;
		perl_restore_place_of_loop(walk);
		walk->end |= PERL_LEAVES_LOOP;
	} else {
		perl_give_up_walk(walk);
	}
}

/* Handles the context with which a loop was entered: its kind must be the current loop's. */
CORE_PART void perl_match_loop_entry(struct script_walk *walk, u32 kind, bool is_callback)
{
	struct perl_walk *perl = &walk->perl;
	u32 loop = perl->loop;
	bool is_waiting = perl->passed == 1;

	if (loop == PERL_LOOP_OTHER)
		is_waiting &= is_callback && perl_is_between_callbacks(perl);
	else
		is_waiting &= is_callback ? perl->last_loop != PERL_LOOP_OTHER
					  : loop == PERL_LOOP_PROGRAM && !perl->loops;
	if (is_waiting) { /* no loop runs the function */
		if (is_callback)
			perl_stack_enter(walk, perl->place.next);
		perl_save_place_of_loop(walk);
	} else if ((loop == PERL_LOOP_CATCH && perl->is_caught) ||
		   (loop == PERL_LOOP_OTHER && !is_callback)) {
		perl_restore_place_of_loop(walk);
		walk->end |= PERL_LEAVES_LOOP;
	} else if (loop == PERL_LOOP_CATCH ||
		   loop == (is_callback ? PERL_LOOP_OTHER : PERL_LOOP_CALL)) {
		perl->is_taken = loop == PERL_LOOP_CATCH;
		if (CONTEXT_TYPE(kind) != TYPE_EVALUATION && !(kind & KIND_SAME))
			perl_function_add(walk);
		if (is_callback)
			perl_stack_enter(walk, perl->place.next);
		walk->end |= PERL_LEAVES_LOOP;
	} else {
		perl_give_up_walk(walk);
	}
}

/* True for a function that the block of a sort, or code in a regular expression, calls in its last
 * operation. No operation follows such a call, so the function has no loop of its own. */
CORE_PART bool perl_is_call_without_own_loop(const struct perl_walk *perl, u32 kind)
{
	return perl->loop >= PERL_LOOP_CATCH && !(kind & KIND_CALLBACK) &&
	       (perl->place.kind == STACK_KIND_SORT || perl->place.kind == STACK_KIND_CALLBACK);
}

/* Handles the next context of a function, format or evaluation, or the end of a stack. */
CORE_GLOBAL_PART int perl_context_step(struct script_walk *walk)
{
	struct perl_walk *perl;
	u64 *word;
	u32 kind, type;
	s64 next;

	if (core_is_null(walk))
		return 0;
	perl = &walk->perl;
	word = walk->frame_word;
	if (perl->place.index < 0) {
		perl_stack_leave(walk);
		return 0;
	}
	perl->context = perl->place.contexts + 8 * PERL_CONTEXT_WORDS * perl->place.index;
	if (!script_read(core_reload(perl->context), word, 8 * PERL_CONTEXT_WORDS)) {
		perl_give_up_walk(walk);
		return 0;
	}
	kind = word[CONTEXT_KIND] & 0xff;
	type = CONTEXT_TYPE(kind);
	next = (s32)word[CONTEXT_NEXT];
	if (type < TYPE_FUNCTION || type > TYPE_EVALUATION || next < -1 ||
	    next >= perl->place.index) {
		perl_give_up_walk(walk);
		return 0;
	}
	perl->place.index = next;
	if (type == TYPE_EVALUATION) {
		if (perl->loop == PERL_LOOP_CATCH &&
		    word[CONTEXT_CATCH] - perl->inner < perl->outer - perl->inner) {
			perl->is_caught = 1;
			perl_save_place_of_loop(walk);
		}
		if (!word[CONTEXT_RETURN] && !(kind & KIND_BLOCK))
			perl_match_loop_entry(walk, kind, false);
		return 0;
	}
	perl->passed++;
	if (perl->loop == PERL_LOOP_REST)
		perl_give_up_walk(walk);
	else if (!word[CONTEXT_RETURN] && !perl_is_call_without_own_loop(perl, kind))
		perl_match_loop_entry(walk, kind, kind & KIND_CALLBACK);
	else
		perl_function_add(walk);
	return 0;
}

/* Adds the native frame at walk->at, or enters its loop. */
CORE_PART void perl_native_frame_step(struct script *script)
{
	struct script_walk *walk = script->walk;
	const struct script_mark *mark = perl_mark_at(script, walk->mark);

	if (walk->mark >= script->marks->count || mark->index != walk->at)
		walk->end = PERL_ADDS_NATIVE;
	else
		perl_loop_enter(script, mark);
}

static long perl_walk_step(u32 i, void *arg)
{
	struct script *script = arg;
	struct script_walk *walk = script->walk;
	struct perl_walk *perl = &walk->perl;

	(void)i;
	walk->end = 0;
	if (perl->loop)
		perl_context_step(walk);
	else if (walk->at < walk->depth_native && walk->depth < walk->max_depth)
		perl_native_frame_step(script);
	else if (walk->at < walk->depth_native || !perl->is_complete || !perl->interpreter)
		walk->is_done = 1;
	else
		perl->loop = PERL_LOOP_REST;
	if (core_reload(walk->end) & PERL_FINDS_ID)
		perl_find_id_of_function(script);
	if (core_reload(walk->end) & PERL_ADDS_FRAME) {
		u64 id = core_reload(perl->last_id);

		perl->is_unnamed |= !id; /* the loop then stays native */
		script_frame_add(script, FRAME_SCRIPT(SCRIPT_PERL, id));
	}
	if (core_reload(walk->end) & PERL_LEAVES_LOOP)
		perl_loop_leave(walk);
	if (core_reload(walk->end) & PERL_ADDS_NATIVE)
		script_add_native_frame(script);
	return (walk->is_done | walk->is_native) != 0;
}

CORE_INLINE bool perl_walk(struct script *script)
{
	struct script_walk *walk = script->walk;
	struct perl_walk *perl = &walk->perl;

	if (!script_walk_begin(script))
		return false;
	perl->interpreter = perl->first_code = perl->last_code = 0;
	perl->loop = perl->last_loop = perl->loops = perl->is_taken = 0;
	perl->is_complete = !STACK_STOP(script->native->flags) &&
			    !(script->native->flags & STACK_TRUNCATED) && !script->marks->missed;
	core_loop(SCRIPT_FRAMES_MAX, perl_walk_step, script);
	return script_walk_end(script);
}
