/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Libraries that are built like Perl 5.36, and libraries that only look like it. */
#include "symbol/unwind/script_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sample_program.h"
#include "unit_test.h"

/* A function that runs the loop by the word at `word` of the interpreter in rbx. */
#define CALLER(name, word)                                                                         \
	name ":\\n.cfi_startproc\\npush %rbx\\n.cfi_def_cfa_offset 16\\nmov %rdi, %rbx\\n"         \
	     "call *" word "(%rbx)\\npop %rbx\\n.cfi_def_cfa_offset 8\\nret\\n.cfi_endproc\\n"

#define PERL(version, moves, word, jump)                                                           \
	"const char PL_revision = 5, PL_version = " version ", PL_subversion = 1;\n"               \
	"extern void pp_entertry(void);\n"                                                         \
	"void (*PL_ppaddr[400])(void) = {[347] = pp_entertry};\n"                                  \
	"__asm__(\".globl Perl_runops_standard, perl_run, Perl_call_sv, Perl_amagic_call\\n"       \
	".globl Perl_eval_sv\\n"                                                                   \
	"Perl_runops_standard:\\n.cfi_startproc\\npush %rbx\\n.cfi_def_cfa_offset 16\\n"           \
	".cfi_offset %rbx, -16\\nmov 8(%rdi), %rax\\n" moves "1: mov %rbx, %rdi\\n"                \
	"call *16(%rax)\\ntest %rax, %rax\\njne 1b\\npop %rbx\\n.cfi_def_cfa_offset 8\\n"          \
	"ret\\n.cfi_endproc\\n" CALLER("perl_run", "2288") CALLER("Perl_call_sv", word)            \
		CALLER("Perl_amagic_call", "2288") CALLER("Perl_eval_sv", "2288")                  \
			CALLER("catch_errors", "2288") "pp_entertry:\\n.cfi_startproc\\n"          \
						       "test %edi, %edi\\nje 2f\\n" jump "\\n"     \
						       "2: ret\\n.cfi_endproc\\n\");\n"

#define MOVES "mov %rdi, %rbx\\n"

struct library {
	int file;
	struct code_rows rows;
	struct file_spans covered;
};

static int by_start(const void *left, const void *right)
{
	const struct file_span *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static int library_build(struct library *library, const char *source)
{
	const struct sample sample = {"perl", "cc -shared -fPIC -s -O1 -w -o $OUT $IN", source,
				      ".c"};
	char path[SAMPLE_PATH_BYTES];

	sample_build(&sample, path);
	*library = (struct library){.file = open(path, O_RDONLY | O_CLOEXEC)};
	assert_true(library->file >= 0);
	assert_int_equal(code_rows_read_tables(library->file, &library->rows, &library->covered),
			 0);
	qsort(library->covered.spans, library->covered.count, sizeof(struct file_span), by_start);
	return script_rows_mark(library->file, &library->covered, &library->rows);
}

static void library_close(struct library *library)
{
	code_rows_clear(&library->rows);
	free(library->covered.spans);
	close(library->file);
}

/* The number of code bytes with the mark, all of which have the same rule. */
static u32 marked_bytes(const struct library *library, u32 *operand)
{
	u32 bytes = 0;

	for (u32 i = 0; i + 1 < library->rows.count; i++) {
		const struct code_row *row = &library->rows.rows[i];
		const struct unwind_rule *rule = code_rows_rule(&library->rows, row->offset);

		if (!rule || rule->cfa_kind != CFA_SCRIPT_LOOP)
			continue;
		bytes += row[1].offset - row->offset;
		*operand = rule->operand;
	}
	return bytes;
}

static int folder_create(void **state)
{
	(void)state;
	return !sample_folder_create();
}

TEST_GROUP(folder_create, sample_folder_teardown)

TEST(the_loop_and_what_runs_it_are_found)
{
	struct library library;
	const struct perl_layout *perl = &library.rows.script.perl;
	u32 operand;

	assert_int_equal(library_build(&library, PERL("36", MOVES, "2288", "jmp catch_errors")), 0);
	assert_true(code_rows_are_sound(&library.rows));
	assert_int_equal(library.rows.script.runtime, SCRIPT_PERL);
	assert_int_equal(library.rows.script.version, 0x052401);
	assert_int_equal(library.rows.script.link, 0);
	assert_int_equal(perl->has_names, 1);
	assert_int_equal(perl->sort, 167);
	for (u32 i = 0; i < PERL_CALLERS; i++) {
		assert_int_equal(perl->caller_bytes[i], 12);
		assert_int_equal(perl->caller[i] - perl->caller[0], 12 * i);
	}
	assert_int_equal(marked_bytes(&library, &operand), 3 + 3 + 3 + 2 + 1);
	assert_int_equal(operand, RULE_LOOP_LEFT(REGISTER_RBX));
	library_close(&library);
}

TEST(a_build_that_is_not_understood_has_no_marks)
{
	static const char *const sources[] = {
		PERL("38", MOVES, "2288", "jmp catch_errors"),	  /* another version */
		PERL("36", "nop\\n", "2288", "jmp catch_errors"), /* no interpreter in a register */
		PERL("36", MOVES "xor %ebx, %ebx\\n", "2288", "jmp catch_errors"),
		PERL("36", MOVES, "2280", "jmp catch_errors"), /* call_sv() runs something else */
		PERL("36", MOVES, "2288", "nop"),	       /* no docatch() */
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;
		u32 operand;

		assert_int_equal(library_build(&library, sources[i]), -EOPNOTSUPP);
		assert_int_equal(marked_bytes(&library, &operand), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_PERL);
		assert_int_equal(library.rows.script.perl.has_names, 0);
		library_close(&library);
	}
}
