/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that imitates V8 11.3 (Node.js 20): the numbers that V8 exports, and frames and objects
 * that the process forges. Makes so many getppid() calls, each from code that it has written to
 * anonymous memory. The name of the thread is the mode.
 *
 *   cycle     strings, moved objects and lists of frames form circles
 *   forged    one address leads to memory that is not mapped, of the kernel, or of another object
 *   long      names, scopes and lists that are as long as numbers can say
 *   twins     two processes with equal addresses and lengths, and different names
 *   plain     one function, which has another one in it
 *   wait      no calls; ends by a signal
 *
 * usage: v8_imitation MODE CALLS
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT(name, value)                                                                        \
	extern const int v8dbg_##name;                                                             \
	const int v8dbg_##name = value

/* The types of objects; one-byte strings of each shape. */
enum {
	WHOLE = 8,
	PARTS = 9,
	THIN = 13,
	SCRIPT = 167,
	ARRAY = 180,
	BYTECODE = 191,
	CONTEXT = 205,
	SCOPE = 261,
	SHARED,
	CODE,
	LISTS,
	FUNCTION = 2066,
	TYPES,
};

/* Words of objects. */
enum { FUNCTION_SHARED = 3, FUNCTION_CODE = 6, SHARED_NAME = 2, SHARED_SCRIPT = 4 };

EXPORT(off_fp_context, -8);
EXPORT(off_fp_function, -16);
EXPORT(off_fp_bytecode_array, -32);
EXPORT(SmiValueShift, 1);
EXPORT(SmiShiftSize, 31);
EXPORT(HeapObjectTag, 1);
EXPORT(FirstNonstringType, 128);
EXPORT(StringRepresentationMask, 7);
EXPORT(StringEncodingMask, 8);
EXPORT(OneByteStringTag, 8);
EXPORT(SeqStringTag, 0);
EXPORT(ConsStringTag, 1);
EXPORT(ThinStringTag, 5);
EXPORT(class_Map__instance_type__uint16_t, 12);
EXPORT(class_String__length__int32_t, 12);
EXPORT(class_SeqOneByteString__chars__char, 16);
EXPORT(class_SeqTwoByteString__chars__char, 16);
EXPORT(class_ConsString__first__String, 16);
EXPORT(class_ConsString__second__String, 24);
EXPORT(class_ThinString__actual__String, 16);
EXPORT(class_Script__name__Object, 16);
EXPORT(scopeinfo_idx_nparams, 1);
EXPORT(scopeinfo_idx_ncontextlocals, 2);
EXPORT(scopeinfo_idx_first_vars, 3);
EXPORT(FirstContextType, CONTEXT);
EXPORT(LastContextType, CONTEXT + 9);
EXPORT(type_JSFunction__JS_FUNCTION_TYPE, FUNCTION);
EXPORT(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, SHARED);
EXPORT(type_ScopeInfo__SCOPE_INFO_TYPE, SCOPE);
EXPORT(type_Script__SCRIPT_TYPE, SCRIPT);
EXPORT(type_BytecodeArray__BYTECODE_ARRAY_TYPE, BYTECODE);
EXPORT(type_Code__CODE_TYPE, CODE);
EXPORT(type_FixedArray__FIXED_ARRAY_TYPE, ARRAY);
EXPORT(class_JSFunction__shared__SharedFunctionInfo, 8 * FUNCTION_SHARED);
EXPORT(class_SharedFunctionInfo__name_or_scope_info__Object, 8 * SHARED_NAME);
EXPORT(class_SharedFunctionInfo__script_or_debug_info__HeapObject, 8 * SHARED_SCRIPT);
extern const int _ZN2v88internal7Version6major_E, _ZN2v88internal7Version6minor_E;
const int _ZN2v88internal7Version6major_E = 11, _ZN2v88internal7Version6minor_E = 3;

/* Opcodes of lists of frames; the last one refers to an earlier list. */
enum { BEGIN = 2, FRAME = 23, VALUE = 25, EARLIER = 35, OPCODES };

extern const int _ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts[];
const int
	_ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts[OPCODES] =
		{[BEGIN] = 3, [FRAME] = 5, [VALUE] = 1, [EARLIER] = 1};

#define CODE_OPTIMIZED 13 /* the kind of code that the optimizing compiler makes */
#define NUMBER(value) ((uint64_t)(value) << 32)

void built_in(void);
void enter(void *code, void (*call)(void), uintptr_t context, uintptr_t function, long arguments,
	   void *roots);

void built_in(void)
{
}

__asm__(".globl enter\n"
	".type enter, @function\n"
	"enter:\n"
	".cfi_startproc\n"
	"push %r13\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %r13, -16\n"
	"mov %r9, %r13\n"
	"call *%rdi\n"
	"pop %r13\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size enter, . - enter\n");

/* push %rbp; mov %rsp, %rbp; push %rdx; push %rcx; push %r8; push %r8; call *%rsi; leave; ret */
static const uint8_t compiled[] = {0x55, 0x48, 0x89, 0xe5, 0x52, 0x51, 0x41,
				   0x50, 0x41, 0x50, 0xff, 0xd6, 0xc9, 0xc3};
#define CALLED 12 /* the place after the call */

/* The words below the roots' address have the address of a function of the file. */
static void *roots[] = {(void *)built_in, NULL, NULL};

static uint64_t maps[TYPES][2];
static uint64_t context[16], function[16], shared[16], inner[16], script[16], name[16],
	inner_name[16], file[16], scope[16], part[16], code[16], calls[24], lists[32], literals[16];
static uint8_t *machine_code;

static uint64_t address_of(const uint64_t *object)
{
	return (uintptr_t)object + 1;
}

static void object_make(uint64_t *object, int type)
{
	memset(object, 0, 8 * 16);
	maps[type][1] = NUMBER(type);
	object[0] = address_of(maps[type]);
}

static void string_make(uint64_t *string, const char *characters)
{
	object_make(string, WHOLE);
	string[1] = NUMBER(strlen(characters));
	memcpy(&string[2], characters, strlen(characters));
}

static void shared_make(uint64_t *object, const uint64_t *its_name)
{
	object_make(object, SHARED);
	object[SHARED_NAME] = address_of(its_name);
	object[SHARED_SCRIPT] = address_of(script);
}

/* An operand of a list that is less than 64, with a sign bit. */
#define SIGNED(value) (2 * (value))

static void list_set(unsigned first, const uint8_t *bytes, unsigned count)
{
	memcpy((uint8_t *)&lists[2] + first, bytes, count);
}

/* The functions `name` and, in it, `inner_name`. */
static int machine_make(void)
{
	static const uint8_t list[] = {BEGIN,	  0,	     SIGNED(2), SIGNED(2), FRAME, SIGNED(0),
				       SIGNED(0), SIGNED(0), SIGNED(0), SIGNED(0), FRAME, SIGNED(0),
				       SIGNED(1), SIGNED(0), SIGNED(0), SIGNED(0)};

	machine_code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (machine_code == MAP_FAILED)
		return -1;
	memcpy(machine_code, compiled, sizeof(compiled));
	object_make(context, CONTEXT);
	object_make(script, SCRIPT);
	string_make(name, "by_hand");
	string_make(inner_name, "inner");
	string_make(file, "imitation.js");
	script[2] = address_of(file);
	shared_make(shared, name);
	shared_make(inner, inner_name);
	object_make(function, FUNCTION);
	function[FUNCTION_SHARED] = address_of(shared);
	function[FUNCTION_CODE] = address_of(code);
	object_make(code, CODE);
	code[2] = address_of(calls);
	code[5] = (uintptr_t)machine_code;
	code[6] = CODE_OPTIMIZED;
	code[7] = sizeof(compiled);
	object_make(calls, ARRAY);
	calls[1] = NUMBER(14);
	calls[2] = address_of(lists);
	calls[3] = NUMBER(1);
	calls[4] = address_of(literals);
	calls[12] = NUMBER(1);
	calls[15] = NUMBER(CALLED);
	object_make(literals, ARRAY);
	literals[1] = NUMBER(2);
	literals[2] = address_of(shared);
	literals[3] = address_of(inner);
	object_make(lists, LISTS);
	lists[1] = NUMBER(sizeof(lists) - 16);
	list_set(0, list, sizeof(list));
	return 0;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void enter_compiled(void)
{
	enter(machine_code, call, address_of(context), address_of(function), 1, &roots[2]);
}

static void run_cycle(unsigned number)
{
	static const uint8_t circle[] = {BEGIN, 1,	 SIGNED(40), SIGNED(40), EARLIER,
					 127,	EARLIER, 127,	     EARLIER,	 127};

	machine_make();
	if (number % 5 == 0) { /* a string of two parts, each of which is the string */
		object_make(name, PARTS);
		name[1] = NUMBER(4);
		name[2] = name[3] = address_of(name);
	} else if (number % 5 == 1) { /* a string that stands for itself */
		object_make(name, THIN);
		name[2] = address_of(name);
	} else if (number % 5 == 2) { /* two strings that stand for each other */
		object_make(name, THIN);
		object_make(part, THIN);
		name[2] = address_of(part);
		part[2] = address_of(name);
	} else if (number % 5 == 3) { /* an object that was moved to where it is */
		shared[0] = (uintptr_t)shared;
	} else { /* a list that goes on with itself */
		list_set(1, circle, sizeof(circle));
		calls[14] = NUMBER(1);
	}
	enter_compiled();
}

/* Sets one address to one that leads nowhere, or to another object. */
static void run_forged(unsigned number)
{
	uint64_t *const places[] = {
		&context[0],
		&function[0],
		&function[FUNCTION_SHARED],
		&function[FUNCTION_CODE],
		&shared[0],
		&shared[SHARED_NAME],
		&shared[SHARED_SCRIPT],
		&script[0],
		&script[2],
		&name[0],
		&file[0],
		&code[0],
		&code[2],
		&code[5],
		&calls[0],
		&calls[2],
		&calls[4],
		&literals[2],
		&literals[3],
		(uint64_t *)&roots[0],
	};
	static const uint64_t addresses[] = {0,		8, 9, 0xffffffff81000001, 0x7ffffffff001,
					     0xdead0001};

	uint64_t *place = places[number / 7 % (sizeof(places) / sizeof(places[0]))];

	machine_make();
	if (number % 7 < 6)
		*place = addresses[number % 7];
	else if (*place > (uintptr_t)maps && *place < (uintptr_t)(maps + TYPES))
		*place = address_of(maps[CONTEXT]);
	else
		*place = address_of(context);
	enter_compiled();
	roots[0] = (void *)built_in;
}

static void run_long(unsigned number)
{
	machine_make();
	if (number % 4 == 0) {
		name[1] = NUMBER(1 << 20);
	} else if (number % 4 == 1) {
		name[1] = ~0ULL;
	} else if (number % 4 == 2) { /* a scope with 65,535 variables, and one with 2^31 */
		object_make(scope, SCOPE);
		scope[1] = NUMBER(3 << 12);
		scope[3] = NUMBER(number % 8 == 2 ? 0xffff : 1U << 31);
		shared[SHARED_NAME] = address_of(scope);
	} else { /* 2^32 calls, lists and literals without end */
		calls[1] = calls[11] = calls[12] = NUMBER(~0U);
		lists[1] = literals[1] = NUMBER(~0U);
		name[1] = NUMBER(513);
	}
	enter_compiled();
}

static int run(const char *mode, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(mode, "cycle"))
			run_cycle(i);
		else if (!strcmp(mode, "forged"))
			run_forged(i);
		else if (!strcmp(mode, "long"))
			run_long(i);
		else
			enter_compiled();
	return 0;
}

/* Both processes run the same function, whose name each has overwritten. */
static int run_twins(unsigned count)
{
	pid_t child = fork();
	int status = 1;

	if (child < 0)
		return 1;
	string_make(name, child ? "first__" : "second_");
	prctl(PR_SET_NAME, child ? "first" : "second");
	run("twins", count);
	return child && (wait(&status) != child || status);
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	prctl(PR_SET_NAME, arguments[1]);
	while (!strcmp(arguments[1], "wait"))
		pause();
	if (machine_make())
		return 1;
	return strcmp(arguments[1], "twins") ? run(arguments[1], strtoul(arguments[2], NULL, 10))
					     : run_twins(strtoul(arguments[2], NULL, 10));
}
