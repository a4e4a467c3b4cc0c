/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of Perl's loop: contexts in a memory of words, and the native frames of the functions that
 * run the loop.
 */
#include "script_memory.h"

#include <string.h>

#include "script_walk.c"

#include "perl_walk.c"

#include "unit_test.h"

#define INTERPRETER_WORDS 32
#define STACKS 0xe0
#define PROGRAM 0x80
#define RETURN 0x77

/* The native frames after loops. */
#define LOOP_FRAME FRAME_USER(LOOP_MAPPING, LOOP_OFFSET + 0x20)
#define CALLER(number) FRAME_USER(LOOP_MAPPING, 0x1000 * ((number) + 1) + 8)
#define OTHER_CALLER FRAME_USER(LOOP_MAPPING + 1, 0x40)
#define ROOT FRAME_USER(LOOP_MAPPING, 0x100)

static u64 interpreter, innermost;
static u32 file_bytes;

const struct script_layout *perl_layout_of(struct script *of, u32 number)
{
	(void)of;
	return is_layout_known && number == LOOP_MAPPING ? &layout : NULL;
}

bool perl_read_file_name(struct script *of, u64 address)
{
	of->walk->perl.file.bytes = file_bytes;
	return address >= BASE;
}

/* The id of a function is the length of its name, and 99 that of the program. */
u64 perl_find_or_add_id(struct script *of, u64 key)
{
	(void)key;
	if (interned)
		return 0;
	return of->walk->perl.name.address ? of->walk->perl.name.bytes : 99;
}

static u64 value_make(u32 type, u32 flags, u64 body)
{
	u64 value = room(4);

	*word_at(value) = body;
	*word_at(value + 8) = (u64)(type | flags) << 32 | 1;
	return value;
}

static u64 name_make(u32 number)
{
	u64 name = room(4);

	*word_at(name) = (u64)number << 32 | (0x5000 + number);
	return name;
}

/* A function with a name of its own, of which `calls` run. */
static u64 code_make(u32 number, u32 calls)
{
	u64 body = room(CODE_WORDS + 3), start = room(8);

	*word_at(start + OPERATION_KIND) = (u64)(100 + number) << 32 | layout.perl.statement;
	*word_at(body + 8 * CODE_START) = start;
	*word_at(body + 8 * CODE_NAME) = name_make(number);
	*word_at(body + 8 * CODE_FILE) = room(8);
	*word_at(body + 8 * CODE_FLAGS) = (u64)FLAG_NAMED << 32;
	*word_at(body + 8 * CODE_CALLS) = calls;
	return value_make(VALUE_CODE, 0, body);
}

/* A stack for `contexts` contexts, which becomes the innermost one. */
static u64 stack_make(u32 kind, u32 contexts)
{
	u64 info = room(8);

	*word_at(info + 8 * STACK_CONTEXTS) = room(PERL_CONTEXT_WORDS * contexts);
	*word_at(info + 8 * STACK_NEXT) = innermost;
	*word_at(info + 8 * STACK_LAST) = (u32)-1;
	*word_at(info + 8 * STACK_FUNCTION) = (u64)kind << 32 | (u32)-1;
	innermost = info;
	*word_at(interpreter + STACKS) = info;
	return info;
}

/* Adds a context to the innermost stack, and returns its address. */
static u64 context_make(u32 kind, u64 code, u64 return_to, u32 calls)
{
	u32 index = *word_at(innermost + 8 * STACK_LAST) + 1;
	u64 *function = word_at(innermost + 8 * STACK_FUNCTION);
	u64 context = *word_at(innermost + 8 * STACK_CONTEXTS) + 8 * PERL_CONTEXT_WORDS * index;

	*word_at(context) = kind;
	*word_at(context + 8 * CONTEXT_RETURN) = return_to;
	*word_at(context + 8 * CONTEXT_NEXT) = (u32)*function;
	*word_at(context + 8 * CONTEXT_CODE) = code;
	*word_at(context + 8 * CONTEXT_CALLS) = calls;
	*function = (*function & ~0xffffffffULL) | index;
	*word_at(innermost + 8 * STACK_LAST) = index;
	return context;
}

static u64 call_make(u32 number)
{
	return context_make(TYPE_FUNCTION, code_make(number, 1), RETURN, 0);
}

static u64 entry_make(u32 number)
{
	return context_make(TYPE_FUNCTION, code_make(number, 1), 0, 0);
}

static u64 callback_make(u32 number)
{
	return context_make(TYPE_FUNCTION | KIND_CALLBACK, code_make(number, 1), 0, 0);
}

static void begin_perl(void)
{
	u64 operation;

	begin(true);
	layout = (struct script_layout){
		.runtime = SCRIPT_PERL,
		.version = 0x052400,
		.loop = LOOP_OFFSET,
		.perl = {.stacks = STACKS, .program = PROGRAM, .statement = 195, .sort = 167}};
	for (u32 i = 0; i < PERL_CALLERS; i++) {
		layout.perl.caller[i] = 0x1000 * (i + 1);
		layout.perl.caller_bytes[i] = 0x100;
	}
	innermost = 0;
	file_bytes = 20;
	interpreter = room(INTERPRETER_WORDS);
	operation = room(8);
	*word_at(operation + OPERATION_KIND) = 7;
	*word_at(interpreter + INTERPRETER_OPERATION) = operation;
	*word_at(interpreter + PROGRAM) = room(8);
	stack_make(1, 8);
	native.depth = 0;
	native.flags = STACK_USER;
}

static void native_add(u64 frame)
{
	native.word[native.depth++] = frame;
}

/* Adds a loop and the function that runs it. */
static void loop_make(u64 caller)
{
	const struct script_mark mark = {.cfa = AT(1000) + 0x100 * native.depth,
					 .pc = LOOP_PC + 0x20,
					 .place = LOOP_FRAME,
					 .index = native.depth,
					 .frame = interpreter};

	mark_add(&mark);
	native_add(LOOP_FRAME);
	native_add(caller);
}

static u64 id(u64 number)
{
	return FRAME_SCRIPT(SCRIPT_PERL, number);
}

#define MAIN id(99)

static void check(const u64 *frames, u32 count)
{
	assert_true(perl_walk(&script));
	check_frames(frames, count);
}

#define CHECK(...)                                                                                 \
	check((const u64[]){__VA_ARGS__}, sizeof((const u64[]){__VA_ARGS__}) / sizeof(u64))

static void check_native(void)
{
	assert_false(perl_walk(&script));
}

TEST(one_loop_runs_the_program_and_all_functions)
{
	begin_perl();
	call_make(1);
	context_make(TYPE_EVALUATION | KIND_BLOCK, 0, RETURN, 0);
	call_make(2);
	native_add(NATIVE(0));
	loop_make(CALLER(PERL_RUN));
	native_add(ROOT);
	CHECK(NATIVE(0), id(2), id(1), MAIN, CALLER(PERL_RUN), ROOT);
	assert_int_equal(walk.joined, 1);
	assert_int_equal(walk.unjoined + walk.unknown, 0);
}

TEST(a_function_that_calls_itself_has_a_frame_for_each_call)
{
	u64 code;

	begin_perl();
	code = code_make(3, 2);
	context_make(TYPE_FUNCTION, code, RETURN, 0);
	context_make(TYPE_FUNCTION, code, RETURN, 1);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(3), id(3), MAIN, CALLER(PERL_RUN));
}

TEST(a_context_of_a_format_has_no_number_of_calls)
{
	u64 code;

	begin_perl();
	code = code_make(4, 1);
	*word_at(code + 8) = (u64)VALUE_FORMAT << 32 | 1;
	context_make(TYPE_FORMAT, code, RETURN, 0x7000);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(4), MAIN, CALLER(PERL_RUN));
}

TEST(a_function_that_c_calls_belongs_to_the_loop_of_the_call)
{
	begin_perl();
	call_make(1);
	stack_make(2, 4);
	entry_make(2);
	call_make(3);
	loop_make(CALLER(PERL_CALL));
	native_add(NATIVE(5));
	loop_make(CALLER(PERL_RUN));
	CHECK(id(3), id(2), CALLER(PERL_CALL), NATIVE(5), id(1), MAIN, CALLER(PERL_RUN));
}

TEST(the_block_of_a_sort_has_a_stack_and_no_context)
{
	begin_perl();
	call_make(1);
	stack_make(STACK_KIND_SORT, 4);
	entry_make(2); /* the last call of the block returns to no operation */
	loop_make(OTHER_CALLER);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(2), OTHER_CALLER, id(1), MAIN, CALLER(PERL_RUN));
}

TEST(a_callback_that_no_loop_runs_has_no_frame)
{
	begin_perl();
	call_make(1);
	stack_make(10, 4);
	callback_make(2);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(1), MAIN, CALLER(PERL_RUN));
}

TEST(a_callback_between_two_calls_within_a_callback_has_no_frame)
{
	begin_perl();
	call_make(1);
	stack_make(10, 4);
	callback_make(2);
	stack_make(10, 4);
	callback_make(3);
	loop_make(OTHER_CALLER);
	loop_make(CALLER(PERL_RUN));
	*word_at(interpreter + INTERPRETER_OPERATION) = 0;
	CHECK(id(2), OTHER_CALLER, id(1), MAIN, CALLER(PERL_RUN));
}

TEST(a_callback_that_may_wait_leaves_the_stack_native)
{
	begin_perl();
	stack_make(10, 4);
	callback_make(2);
	stack_make(10, 4);
	callback_make(3);
	loop_make(OTHER_CALLER);
	loop_make(CALLER(PERL_RUN));
	check_native();
}

TEST(an_eval_block_splits_the_functions_where_docatch_runs_it)
{
	u64 block;

	begin_perl();
	entry_make(1);
	block = context_make(TYPE_EVALUATION | KIND_BLOCK, 0, RETURN, 0);
	call_make(2);
	loop_make(CALLER(PERL_CATCH));
	loop_make(CALLER(PERL_CALL));
	*word_at(block + 8 * CONTEXT_CATCH) = marks.mark[0].cfa + 8;
	CHECK(id(2), CALLER(PERL_CATCH), id(1), CALLER(PERL_CALL));
}

TEST(after_an_eval_block_the_loop_of_docatch_runs_the_function)
{
	begin_perl();
	entry_make(1);
	call_make(2);
	loop_make(CALLER(PERL_CATCH));
	loop_make(CALLER(PERL_CALL));
	CHECK(id(2), id(1), CALLER(PERL_CATCH), LOOP_FRAME, CALLER(PERL_CALL));
}

TEST(contexts_that_no_loop_has_used_leave_the_stack_native)
{
	begin_perl();
	call_make(1);
	entry_make(2);
	loop_make(CALLER(PERL_CALL));
	check_native();
	native.flags =
		STACK_USER | 5 << STACK_STOP_SHIFT; /* a stack that is not whole may lack loops */
	CHECK(id(2), CALLER(PERL_CALL));
}

TEST(a_loop_without_its_context_stays_native_if_it_is_the_innermost)
{
	begin_perl();
	call_make(1);
	stack_make(2, 4);
	loop_make(CALLER(PERL_CALL));
	loop_make(CALLER(PERL_RUN));
	CHECK(LOOP_FRAME, CALLER(PERL_CALL), id(1), MAIN, CALLER(PERL_RUN));
	assert_int_equal(walk.unjoined, 1);
}

TEST(a_context_that_is_not_filled_has_no_frame)
{
	u64 code;

	begin_perl();
	call_make(1);
	code = code_make(2, 0);
	context_make(TYPE_FUNCTION, code, RETURN, 0);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(1), MAIN, CALLER(PERL_RUN));
}

TEST(a_context_with_words_of_an_earlier_call_leaves_the_stack_native)
{
	u64 code;

	begin_perl();
	code = code_make(1, 1);
	context_make(TYPE_FUNCTION, code, RETURN, 0);
	context_make(TYPE_FUNCTION, code, RETURN, 0);
	loop_make(CALLER(PERL_RUN));
	check_native();
}

TEST(stacks_in_a_circle_end)
{
	begin_perl();
	*word_at(innermost + 8 * STACK_NEXT) = innermost;
	loop_make(CALLER(PERL_RUN));
	check_native();
}

TEST(indexes_that_lead_nowhere_leave_the_stack_native)
{
	static const u32 last[] = {1000, 7, (u32)-2};
	u64 context;

	for (u32 i = 0; i < 3; i++) {
		begin_perl();
		call_make(1);
		loop_make(CALLER(PERL_RUN));
		*word_at(innermost + 8 * STACK_FUNCTION) = 1ULL << 32 | last[i];
		check_native();
	}
	begin_perl();
	context = call_make(1);
	*word_at(context + 8 * CONTEXT_NEXT) = 0; /* itself */
	loop_make(CALLER(PERL_RUN));
	check_native();
}

TEST(values_of_another_type_leave_the_stack_native)
{
	u64 context;

	begin_perl();
	context = call_make(1);
	loop_make(CALLER(PERL_RUN));
	*word_at(*word_at(context + 8 * CONTEXT_CODE) + 8) = (u64)VALUE_HASH << 32;
	check_native();
	*word_at(context + 8 * CONTEXT_CODE) = 8;
	check_native();
	*word_at(context) = 4; /* a loop of the script */
	check_native();
}

TEST(loops_of_two_interpreters_leave_the_stack_native)
{
	begin_perl();
	entry_make(1);
	loop_make(CALLER(PERL_CALL));
	loop_make(CALLER(PERL_RUN));
	marks.mark[1].frame += 8;
	check_native();
}

TEST(a_function_without_an_id_leaves_its_loop_native)
{
	begin_perl();
	call_make(1);
	interned = 1;
	loop_make(CALLER(PERL_RUN));
	CHECK(LOOP_FRAME, CALLER(PERL_RUN));
	assert_int_equal(walk.unknown, 1);
}

/* The id is found by the hash of the texts, not by the address. */
TEST(a_function_in_the_place_of_another_one_has_its_own_id)
{
	u64 context, body;

	begin_perl();
	context = call_make(1);
	loop_make(CALLER(PERL_RUN));
	CHECK(id(1), MAIN, CALLER(PERL_RUN));
	script_cache_put(&cache, walk.key, 99);
	body = *word_at(*word_at(context + 8 * CONTEXT_CODE));
	*word_at(*word_at(body + 8 * CODE_NAME)) = 2ULL << 32 | 0x5002;
	CHECK(id(2), MAIN, CALLER(PERL_RUN));
}
