/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that imitates CPython 3.11: a loop, a type of code objects, and frames that the process
 * forges. Makes so many getppid() calls in the loop. The name of the thread is the mode.
 *
 *   cycle     the frames form a circle
 *   forged    a frame leads to memory that is not mapped, of the kernel, or no code object
 *   long      the names have 1 MiB
 *   endless   each call is made by another function
 *   twins     two processes with equal addresses, lengths and hashes, and different names
 *   plain     one function
 *   wait      no calls; ends by a signal
 *
 * usage: script_imitation MODE CALLS
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 0x030b02f0
#endif

#define LONG_BYTES (1 << 20)
#define COMPACT_ASCII (1 << 2 | 1 << 5 | 1 << 6)

struct member {
	const char *name;
	long offset_at[2]; /* the second one is the offset */
	long rest[2];
};

struct text {
	long head[2];
	long length, hash, state, unused;
	char characters[];
};

struct code {
	long count;
	const void *type;
	long first[7];
	int first_line, second;
	long more[4];
	struct text *file;
	long between;
	struct text *name;
	void *lines;
	long rest[8];
};

struct frame {
	long first[4];
	struct code *code;
	long second;
	struct frame *previous;
	long third;
	int unused;
	char is_entry, rest[11];
};

_Static_assert(offsetof(struct code, first_line) == 72 && offsetof(struct code, file) == 112 &&
		       offsetof(struct code, name) == 128 && offsetof(struct code, lines) == 136,
	       "as the members say");
_Static_assert(offsetof(struct frame, code) == 32 && offsetof(struct frame, previous) == 48 &&
		       offsetof(struct frame, is_entry) == 68,
	       "as frames of 3.11");
_Static_assert(offsetof(struct text, characters) == 48 && sizeof(struct member) == 40, "the same");

const unsigned long Py_Version = VERSION;

static struct member members[] = {
	{"co_firstlineno", {0, 72}, {}},
	{"co_filename", {0, 112}, {}},
	{"co_qualname", {0, 128}, {}},
	{"co_linetable", {0, 136}, {}},
	{NULL, {}, {}},
};

struct {
	long head[3];
	const char *name;
	long between[26];
	struct member *members;
} PyCode_Type = {{}, "code", {}, members};

void _PyEval_EvalFrameDefault(void *thread, void (*call)(void), struct frame *frame);

__asm__(".globl _PyEval_EvalFrameDefault\n"
	".type _PyEval_EvalFrameDefault, @function\n"
	"_PyEval_EvalFrameDefault:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"sub $64, %rsp\n"
	".cfi_def_cfa_offset 80\n"
	"lea 32(%rsp), %rcx\n"
	"mov %rcx, 56(%rdi)\n"
	"mov %rdx, 40(%rsp)\n"
	"call *%rsi\n"
	"add $64, %rsp\n"
	".cfi_def_cfa_offset 16\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault\n");

static long thread[32];

static void call(void)
{
	syscall(SYS_getppid);
}

static void enter(struct frame *frame)
{
	_PyEval_EvalFrameDefault(thread, call, frame);
}

static struct text *text_make(const char *characters, size_t length)
{
	struct text *text = calloc(1, sizeof(*text) + length + 1);

	if (!text)
		exit(1);
	text->length = length;
	text->hash = 1;
	text->state = COMPACT_ASCII;
	memcpy(text->characters, characters, length);
	return text;
}

static struct code *code_make(struct text *name)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code)
		exit(1);
	code->type = &PyCode_Type;
	code->first_line = 1;
	code->name = name;
	code->file = text_make("imitation.py", 12);
	code->lines = code;
	return code;
}

static void run_cycle(struct frame *frame)
{
	struct frame other = *frame;

	other.previous = frame;
	other.is_entry = frame->is_entry = 0;
	frame->previous = &other;
	enter(frame);
}

static void run_forged(struct frame *frame, unsigned number)
{
	static const uintptr_t addresses[] = {0, 8, 0xffffffff81000000, 0x7ffffffff000, 0xdead0000};
	const struct code *code = frame->code;
	uintptr_t address = addresses[number % 5];

	if (number % 3 == 0) {
		frame->code = (void *)address;
	} else if (number % 3 == 1) {
		frame->is_entry = 0;
		frame->previous = (void *)address;
	} else {
		frame->code = calloc(1, sizeof(*code));
		*frame->code = *code;
		frame->code->type = (void *)address;
	}
	enter(frame);
}

static void run_endless(struct frame *frame, unsigned number)
{
	sprintf(frame->code->name->characters, "made_%07u", number);
	frame->code->name->hash = number + 2;
	enter(frame);
}

static int run(const char *mode, unsigned calls)
{
	char *letters = malloc(LONG_BYTES);
	struct code *code;

	if (!letters)
		return 1;
	memset(letters, 'x', LONG_BYTES);
	code = code_make(strcmp(mode, "long") ? text_make("made_by_hand", 12)
					      : text_make(letters, LONG_BYTES));
	for (unsigned i = 0; i < calls; i++) {
		struct frame frame = {.code = code, .is_entry = 1};

		if (!strcmp(mode, "cycle"))
			run_cycle(&frame);
		else if (!strcmp(mode, "forged"))
			run_forged(&frame, i);
		else if (!strcmp(mode, "endless"))
			run_endless(&frame, i);
		else
			enter(&frame);
	}
	return 0;
}

/* Both processes run the same code object, whose name each has overwritten. */
static int run_twins(unsigned calls)
{
	struct code *code = code_make(text_make("made_by_both", 12));
	pid_t child = fork();
	int status = 1;

	if (child < 0)
		return 1;
	memcpy(code->name->characters, child ? "first_twin__" : "second_twin_", 12);
	prctl(PR_SET_NAME, child ? "first" : "second");
	for (unsigned i = 0; i < calls; i++) {
		struct frame frame = {.code = code, .is_entry = 1};

		enter(&frame);
	}
	return child && (wait(&status) != child || status);
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	prctl(PR_SET_NAME, arguments[1]);
	while (!strcmp(arguments[1], "wait"))
		pause();
	return strcmp(arguments[1], "twins") ? run(arguments[1], strtoul(arguments[2], NULL, 10))
					     : run_twins(strtoul(arguments[2], NULL, 10));
}
