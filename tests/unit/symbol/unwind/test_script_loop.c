/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that are built like CPython or PHP, with a loop whose words lie where the test says,
 * and libraries that only look like these.
 */
#include "symbol/unwind/script_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "unit_test.h"

/*
 * The parts of CPython that the reader looks at. LOOP is the code behind the prologue's pushes; the
 * frame is 56 + 104 bytes, so the structure at 32(%rsp) lies 128 bytes below the CFA.
 */
#define PYTHON(version, name, loop)                                                                \
	"const unsigned long Py_Version = " version ";\n"                                          \
	"struct member { const char *name; int type; long offset; int flags; const char *doc; "    \
	"};\n"                                                                                     \
	"static struct member members[] = {{\"co_argcount\", 1, 48}, {\"co_firstlineno\", 1, 72}," \
	" {\"co_filename\", 6, 112}, {\"co_qualname\", 6, 128}, {\"co_linetable\", 6, 136}, "      \
	"{0}};\n"                                                                                  \
	"struct type { long object[3]; const char *name; long other[26]; struct member *members;"  \
	" long more[20]; };\n"                                                                     \
	"struct type PyCode_Type = {{1}, \"" name "\", {0}, members};\n"                           \
	"__asm__(\".globl _PyEval_EvalFrameDefault\\n"                                             \
	".type _PyEval_EvalFrameDefault, @function\\n"                                             \
	"_PyEval_EvalFrameDefault:\\n.cfi_startproc\\n"                                            \
	"push %r15\\n.cfi_def_cfa_offset 16\\npush %r14\\n.cfi_def_cfa_offset 24\\n"               \
	"push %r13\\n.cfi_def_cfa_offset 32\\npush %r12\\n.cfi_def_cfa_offset 40\\n"               \
	"push %rbp\\n.cfi_def_cfa_offset 48\\npush %rbx\\n.cfi_def_cfa_offset 56\\n"               \
	"sub $104, %rsp\\n.cfi_def_cfa_offset 160\\n" loop                                         \
	"loop_body:\\ncall loop_callee@PLT\\njmp loop_body\\nloop_return:\\n"                      \
	"add $104, %rsp\\n.cfi_def_cfa_offset 56\\npop %rbx\\n.cfi_def_cfa_offset 48\\n"           \
	"pop %rbp\\n.cfi_def_cfa_offset 40\\npop %r12\\n.cfi_def_cfa_offset 32\\n"                 \
	"pop %r13\\n.cfi_def_cfa_offset 24\\npop %r14\\n.cfi_def_cfa_offset 16\\n"                 \
	"pop %r15\\n.cfi_def_cfa_offset 8\\nret\\n.cfi_endproc\\n"                                 \
	".size _PyEval_EvalFrameDefault, .-_PyEval_EvalFrameDefault\\n"                            \
	"loop_moved:\\n.cfi_startproc\\n.cfi_def_cfa_offset 160\\ncall loop_callee@PLT\\n"         \
	"ud2\\n.cfi_endproc\\n"                                                                    \
	"other_moved:\\n.cfi_startproc\\n.cfi_def_cfa_offset 96\\ncall loop_callee@PLT\\n"         \
	"ud2\\n.cfi_endproc\\n\");\n"                                                              \
	"void loop_callee(void) {}\n"

#define LINK "lea 32(%rsp), %rcx\\nmov %rcx, 56(%rdi)\\n"
#define FILL_LATER "mov %rdx, 40(%rsp)\\n"
#define JUMPS "test %eax, %eax\\nje loop_moved\\njmp other_moved\\n"
#define PYTHON_311 "0x030b02f0"

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

static int library_read(struct library *library, const char *path)
{
	*library = (struct library){.file = open(path, O_RDONLY | O_CLOEXEC)};
	assert_true(library->file >= 0);
	assert_int_equal(code_rows_read_tables(library->file, &library->rows, &library->covered),
			 0);
	qsort(library->covered.spans, library->covered.count, sizeof(struct file_span), by_start);
	return script_rows_mark(library->file, &library->covered, &library->rows);
}

static int library_build(struct library *library, const char *source)
{
	const struct sample sample = {"loop", "cc -shared -fPIC -s -O1 -w -o $OUT $IN", source,
				      ".c"};
	char path[SAMPLE_PATH_BYTES];

	sample_build(&sample, path);
	return library_read(library, path);
}

static void library_close(struct library *library)
{
	code_rows_clear(&library->rows);
	free(library->covered.spans);
	close(library->file);
}

/* The number of code bytes with the mark; *rows: the number of their rows. */
static u32 marked_bytes(const struct library *library, u32 *rows)
{
	u32 bytes = 0;

	*rows = 0;
	for (u32 i = 0; i + 1 < library->rows.count; i++) {
		const struct code_row *row = &library->rows.rows[i];

		if (!row->rule || library->rows.rules[row->rule - 1].cfa_kind != CFA_SCRIPT_LOOP)
			continue;
		bytes += row[1].offset - row->offset;
		++*rows;
	}
	return bytes;
}

static int folder_create(void **state)
{
	(void)state;
	return !sample_folder_create();
}

TEST_GROUP(folder_create, sample_folder_teardown)

TEST(the_layout_of_a_library_without_symbols_is_found)
{
	struct library library;
	u32 rows;

	assert_int_equal(library_build(&library, PYTHON(PYTHON_311, "code", LINK FILL_LATER JUMPS)),
			 0);
	assert_true(code_rows_are_sound(&library.rows));
	assert_int_equal(library.rows.script.runtime, SCRIPT_CPYTHON);
	assert_int_equal(library.rows.script.version, 0x030b02f0);
	assert_int_equal(library.rows.script.link, 120); /* behind `use_tracing` */
	assert_int_equal(library.rows.script.code_name, 128);
	assert_int_equal(library.rows.script.code_file, 112);
	assert_int_equal(library.rows.script.first_line, 72);
	/* JUMPS 2 + 6 + 5 (to 2 + 2 + 2 if near), call 5, jmp 2; the first part 5 + 2 */
	assert_in_range(marked_bytes(&library, &rows), 20, 27);
	assert_int_equal(rows, 2);
	library_close(&library);
}

/* Without a thread state the frame is not stored: the code up to the call that ends the process has
 * no mark, the code behind the call has one. */
TEST(code_without_a_frame_has_no_marks)
{
	struct library library;
	u32 rows, bytes;

	assert_int_equal(library_build(&library, PYTHON(PYTHON_311, "code", LINK FILL_LATER JUMPS)),
			 0);
	bytes = marked_bytes(&library, &rows);
	library_close(&library);
	assert_int_equal(
		library_build(&library,
			      PYTHON(PYTHON_311, "code",
				     "test %rdi, %rdi\\nje loop_moved\\n" LINK FILL_LATER JUMPS)),
		0);
	assert_int_equal(marked_bytes(&library, &rows), bytes - 5);
	library_close(&library);
}

/*
 * Where a call of a script's function has linked a frame and then stores its words, the code has no
 * mark. The frame is in rdx; the store behind a call is not of this frame.
 */
TEST(code_that_links_a_frame_before_it_is_filled_has_no_marks)
{
#define LINKS "mov %rdx, 40(%rsp)\\n"
#define CALLS(code) PYTHON(PYTHON_311, "code", LINK FILL_LATER code)
	static const struct {
		const char *source;
		u32 marked; /* bytes with the mark beyond those without this code */
	} calls[] = {
		{CALLS(""), 0},
		{CALLS(LINKS "nop\\nmov %rbx, 48(%rdx)\\nnop\\n"), 5 + 1},
		{CALLS(LINKS "nop\\nmovb $0, 68(%rdx)\\n"), 5},
		{CALLS(LINKS "mov %rbx, 32(%rdx)\\nmov %rbx, 48(%rdx)\\n"), 5},
		{CALLS(LINKS "movups %xmm0, 48(%rdx)\\n"), 5},
		{CALLS(LINKS "mov %rdx, %rbx\\nmov %rcx, 48(%rbx)\\n"), 5},
		{CALLS("lea 64(%r12), %rdx\\n" LINKS "mov %rbx, 112(%r12)\\n"), 5 + 5},
		{CALLS(LINKS "jmp 9f\\nnop\\n9: mov %rbx, 48(%rdx)\\n"), 5 + 1},
		/* no gap: */
		{CALLS("mov %rbx, 48(%rdx)\\n" LINKS "nop\\n"), 4 + 5 + 1},
		{CALLS(LINKS "mov %rbx, 56(%rdx)\\n"), 5 + 4},
		{CALLS(LINKS "mov %ebx, 64(%rdx)\\n"), 5 + 3},
		{CALLS(LINKS "mov %rcx, %rdx\\nmov %rbx, 48(%rdx)\\n"), 5 + 3 + 4},
		{CALLS(LINKS "call loop_callee@PLT\\nmov %rbx, 48(%rdx)\\n"), 5 + 5 + 4},
		{CALLS("mov %rdx, 48(%rsp)\\nmov %rbx, 48(%rdx)\\n"), 5 + 4},
	};
	u32 without = 0;

	for (u32 i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct library library;
		u32 rows, bytes;

		assert_int_equal(library_build(&library, calls[i].source), 0);
		bytes = marked_bytes(&library, &rows);
		library_close(&library);
		without = i ? without : bytes;
		assert_int_equal(bytes - without, calls[i].marked);
	}
}

TEST(the_frame_may_be_stored_before_the_structure_is_linked)
{
	struct library library;

	assert_int_equal(
		library_build(&library, PYTHON(PYTHON_311, "code", "mov %rdx, 40(%rsp)\\n" LINK)),
		0);
	assert_int_equal(library.rows.script.link, 120);
	library_close(&library);
}

TEST(python_3_12_has_the_frame_first)
{
	struct library library;

	assert_int_equal(library_build(&library, PYTHON("0x030c01f0", "code",
							LINK "movaps %xmm0, 32(%rsp)\\n")),
			 0);
	assert_int_equal(library.rows.script.link, 128);
	assert_int_equal(library.rows.script.entry_is_frame, 0);
	assert_int_equal(library.rows.script.code_number, 88);
	library_close(&library);
}

/* The prologue of 3.13, with the thread's state in a word of the stack, and without. */
#define ENTERS                                                                                     \
	"mov 72(%rdi), %rax\\nmovb $3, 86(%rsp)\\nmov %rax, 24(%rsp)\\nlea 16(%rsp), %rax\\n"      \
	"mov %rsi, %rbx\\nmov %rax, 8(%rbx)\\nmov %rsi, 72(%rdi)\\n"
#define PYTHON_313 "0x030d00f0"
#define GET_UNCHECKED(code)                                                                        \
	"__asm__(\".globl PyThreadState_GetUnchecked\\n.type PyThreadState_GetUnchecked, "         \
	"@function\\nPyThreadState_GetUnchecked:\\n" code                                          \
	".size PyThreadState_GetUnchecked, .-PyThreadState_GetUnchecked\\n\");\n"
/* The first words of _PyRuntime; `line` is the offset of co_firstlineno. */
#define RUNTIME_OF(version, threaded, line)                                                        \
	"struct { char cookie[8]; long version, words[70]; } _PyRuntime = {\"xdebugpy\", " version \
	", {[0] = " threaded ", [3] = 632, [7] = 7344, [19] = 8, [21] = 72, [22] = 152, "          \
	"[27] = 8, [31] = 70, [33] = 112, [35] = 128, [36] = 136, [37] = " line "}};\n"
#define RUNTIME(threaded) RUNTIME_OF(PYTHON_313, threaded, "72")
#define LOAD_TLS "endbr64\\nmov %fs:-24, %rax\\nret\\n"

TEST(python_3_13_ends_its_frames_at_one_on_the_stack)
{
	static const struct {
		const char *source;
		u32 kind, link;
	} loops[] = {
		{PYTHON(PYTHON_313, "code", "mov %rdi, (%rsp)\\n" ENTERS) RUNTIME("0"),
		 SCRIPT_LINK_THREAD, 160},
		{PYTHON(PYTHON_313, "code", "mov %rdi, %r14\\nmov %r14, 8(%rsp)\\n" ENTERS)
			 RUNTIME("0"),
		 SCRIPT_LINK_THREAD, 152},
		{PYTHON(PYTHON_313, "code", ENTERS) GET_UNCHECKED(LOAD_TLS) RUNTIME("0"),
		 SCRIPT_LINK_TLS, 24},
		{PYTHON(PYTHON_313, "code", ENTERS) RUNTIME("0"), SCRIPT_LINK_LIST, 144},
		{PYTHON(PYTHON_313, "code", ENTERS) GET_UNCHECKED("mov %rdi, %rax\\nret\\n")
			 RUNTIME("0"),
		 SCRIPT_LINK_LIST, 144},
	};

	for (u32 i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct library library;

		assert_int_equal(library_build(&library, loops[i].source), 0);
		assert_int_equal(library.rows.script.link_kind, loops[i].kind);
		assert_int_equal(library.rows.script.link, loops[i].link);
		assert_int_equal(library.rows.script.entry, 144);
		assert_int_equal(library.rows.script.thread_frame, 72);
		library_close(&library);
	}
}

/* 3.14: other words of _PyRuntime have the offsets, and the mark of a frame lies elsewhere. */
#define PYTHON_314 "0x030e00f0"
#define ENTERS_314                                                                                 \
	"mov 72(%rdi), %rax\\nmovb $3, 90(%rsp)\\nmov %rax, 24(%rsp)\\nlea 16(%rsp), %rax\\n"      \
	"mov %rsi, %rbx\\nmov %rax, 8(%rbx)\\nmov %rsi, 72(%rdi)\\n"
#define RUNTIME_314                                                                                \
	"struct { char cookie[8]; long version, words[70]; } _PyRuntime = {\"xdebugpy\", "         \
	"0x030e00f0, {[3] = 632, [7] = 7344, [22] = 8, [24] = 72, [25] = 176, [30] = 8, "          \
	"[34] = 74, [38] = 112, [40] = 128, [41] = 136, [42] = 72}};\n"
#define DISPATCHES(count) ".rept " count "\\njmp *%rax\\n.endr\\n"

TEST(python_3_14_has_its_offsets_in_the_runtime)
{
	struct library library;

	assert_int_equal(library_build(&library, PYTHON(PYTHON_314, "code",
							ENTERS_314 DISPATCHES("16")) RUNTIME_314),
			 0);
	assert_int_equal(library.rows.script.version, 0x030e00f0);
	assert_int_equal(library.rows.script.entry_mark, 74);
	assert_int_equal(library.rows.script.thread_frame, 72);
	assert_int_equal(library.rows.script.thread_id, 176);
	assert_int_equal(library.rows.script.code_tag, 3);
	assert_int_equal(library.rows.script.threads, 7344);
	library_close(&library);
}

TEST(unsupported_code_has_no_marks)
{
	static const char *const sources[] = {
		PYTHON("0x031000f0", "code", LINK FILL_LATER),		  /* a later version */
		PYTHON(PYTHON_311, "cell", LINK FILL_LATER),		  /* another type */
		PYTHON(PYTHON_311, "code", LINK),			  /* no frame is stored */
		PYTHON(PYTHON_311, "code", LINK "mov %rdx, 48(%rsp)\\n"), /* another word */
		PYTHON(PYTHON_311, "code", LINK "mov %edx, 40(%rsp)\\n"), /* half of it */
		PYTHON(PYTHON_311, "code", FILL_LATER),			  /* no link */
		PYTHON(PYTHON_311, "code", LINK JUMPS FILL_LATER), /* a jump over the store */
		/* no thread's state, or none that is known */
		PYTHON(PYTHON_313, "code", ENTERS) GET_UNCHECKED(LOAD_TLS),
		PYTHON(PYTHON_313, "code", ENTERS) RUNTIME("1"),
		/* offsets of another version, or of another build of the version */
		PYTHON(PYTHON_313, "code", ENTERS) RUNTIME_OF("0x030d01f0", "0", "72"),
		PYTHON(PYTHON_313, "code", ENTERS) RUNTIME_OF(PYTHON_313, "0", "68"),
		/* a function for each instruction in place of a loop */
		PYTHON(PYTHON_314, "code", ENTERS_314 DISPATCHES("15")) RUNTIME_314,
		/* the frame is linked before its caller is stored */
		PYTHON(PYTHON_313, "code",
		       "mov %rdi, (%rsp)\\nmovb $3, 86(%rsp)\\nlea 16(%rsp), %rax\\n"
		       "mov %rax, 8(%rsi)\\nmov %rsi, 72(%rdi)\\nmov %rax, 24(%rsp)\\n")
			RUNTIME("0"),
		/* its mark is not stored */
		PYTHON(PYTHON_313, "code",
		       "mov %rdi, (%rsp)\\nmov %rax, 24(%rsp)\\nlea 16(%rsp), %rax\\n"
		       "mov %rax, 8(%rsi)\\nmov %rsi, 72(%rdi)\\n") RUNTIME("0"),
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, sources[i]), -EOPNOTSUPP);
		assert_int_equal(marked_bytes(&library, &rows), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_CPYTHON);
		assert_int_equal(library.rows.script.link, 0);
		library_close(&library);
	}
}

/*
 * The parts of CPython 3.9 and 3.10. The frame is 24 + 104 bytes; rbx is stored 24 bytes below the
 * CFA. The last bytes run without a thread's state.
 */
#define OLD_PYTHON(lines, prologue, code)                                                          \
	"struct member { const char *name; int type; long offset; int flags; const char *doc; "    \
	"};\n"                                                                                     \
	"static struct member members[] = {{\"co_firstlineno\", 1, 40}, {\"co_filename\", 6, "     \
	"104},"                                                                                    \
	" {\"co_name\", 6, 112}, {\"" lines "\", 6, 120}, {0}};\n"                                 \
	"struct type { long object[3]; const char *name; long other[26]; struct member *members;"  \
	" long more[20]; };\n"                                                                     \
	"struct type PyCode_Type = {{1}, \"code\", {0}, members};\n"                               \
	"__asm__(\".globl _PyEval_EvalFrameDefault\\n"                                             \
	".type _PyEval_EvalFrameDefault, @function\\n"                                             \
	"_PyEval_EvalFrameDefault:\\n.cfi_startproc\\npush %rbp\\n.cfi_def_cfa_offset 16\\n"       \
	"push %rbx\\n.cfi_def_cfa_offset 24\\n.cfi_offset %rbx, -24\\n"                            \
	"sub $104, %rsp\\n.cfi_def_cfa_offset 128\\ntest %rdi, %rdi\\nje 9f\\n" prologue code      \
	"add $104, %rsp\\n.cfi_def_cfa_offset 24\\npop %rbx\\n.cfi_def_cfa_offset 16\\n"           \
	"pop %rbp\\n.cfi_def_cfa_offset 8\\nret\\n9: .cfi_def_cfa_offset 128\\n"                   \
	"call loop_callee@PLT\\n.cfi_endproc\\n"                                                   \
	".size _PyEval_EvalFrameDefault, .-_PyEval_EvalFrameDefault\\n\");\n"                      \
	"void loop_callee(void) {}\n"

#define OLD_ENTERS "mov %rdi, %rbp\\nmov %rsi, %rbx\\nmov %rbx, 24(%rbp)\\n"
#define DISPATCH "jmp *%rax\\n"

TEST(python_3_10_has_its_frame_in_a_register)
{
	static const struct {
		const char *source;
		u32 version;
	} libraries[] = {
		{OLD_PYTHON("co_lnotab", OLD_ENTERS, DISPATCH), 0x03090000},
		{OLD_PYTHON("co_linetable", OLD_ENTERS, DISPATCH), 0x030a0000},
	};

	for (u32 i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, libraries[i].source), 0);
		assert_true(code_rows_are_sound(&library.rows));
		assert_int_equal(library.rows.script.version, libraries[i].version);
		assert_int_equal(library.rows.script.link_kind, SCRIPT_LINK_REGISTER);
		assert_int_equal(library.rows.script.frame_code, 32);
		assert_int_equal(library.rows.script.code_name, 112);
		assert_int_equal(library.rows.script.first_line, 40);
		/* the store to the thread 4, jmp 2, add 4, pop 1 */
		assert_int_equal(marked_bytes(&library, &rows), 11);
		library_close(&library);
	}
}

/* Code in which rbx has another value has no mark. */
TEST(the_frame_of_python_3_10_is_followed_through_other_places)
{
	static const struct {
		const char *source;
		u32 marked; /* bytes behind the prologue */
	} loops[] = {
		/* stored on the stack meanwhile: mov 5, xor 2, then jmp 2 */
		{OLD_PYTHON("co_linetable", OLD_ENTERS,
			    "mov %rbx, 40(%rsp)\\nxor %ebx, %ebx\\ncall loop_callee@PLT\\n"
			    "mov 40(%rsp), %rbx\\n" DISPATCH),
		 9},
		/* in another register: mov 3, xor 2, jmp 2 */
		{OLD_PYTHON("co_linetable", OLD_ENTERS,
			    "mov %rbx, %r12\\nxor %ebx, %ebx\\ncall loop_callee@PLT\\nmov %r12, "
			    "%rbx\\n" DISPATCH),
		 7},
		/* the word beside it is overwritten: mov 5, xor 2, jmp 2 */
		{OLD_PYTHON("co_linetable", OLD_ENTERS,
			    "mov %rbx, 40(%rsp)\\nxor %ebx, %ebx\\nmov %rcx, 48(%rsp)\\nmov %ecx, "
			    "36(%rsp)\\n"
			    "mov 40(%rsp), %rbx\\n" DISPATCH),
		 9},
		/* on one of two paths: test 3, je 2, xor 2; jmp 2 is reached by both */
		{OLD_PYTHON("co_linetable", OLD_ENTERS,
			    "mov %rbx, %r12\\ntest %rcx, %rcx\\nje 1f\\nxor %ebx, %ebx\\n"
			    "1: nop\\nmov %r12, %rbx\\n" DISPATCH),
		 12},
	};

	for (u32 i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, loops[i].source), 0);
		assert_int_equal(marked_bytes(&library, &rows), 4 + loops[i].marked + 4 + 1);
		library_close(&library);
	}
}

TEST(a_loop_of_python_3_10_that_is_not_understood_has_no_marks)
{
	static const char *const sources[] = {
		/* the frame is overwritten, or a call loses it, or one of two paths does not have
		   it */
		OLD_PYTHON("co_linetable", OLD_ENTERS, "xor %ebx, %ebx\\n" DISPATCH),
		OLD_PYTHON("co_linetable", OLD_ENTERS,
			   "mov %rbx, 40(%rsp)\\nxor %ebx, %ebx\\nmov %rcx, 40(%rsp)\\n"
			   "mov 40(%rsp), %rbx\\n" DISPATCH),
		OLD_PYTHON("co_linetable", OLD_ENTERS,
			   "mov %rbx, %rcx\\ncall loop_callee@PLT\\nmov %rcx, %rbx\\n" DISPATCH),
		OLD_PYTHON("co_linetable", OLD_ENTERS,
			   "test %rcx, %rcx\\nje 1f\\nmov %rbx, 40(%rsp)\\n1: xor %ebx, %ebx\\n"
			   "mov 40(%rsp), %rbx\\n" DISPATCH),
		OLD_PYTHON("co_linetable", OLD_ENTERS,
			   "test %rcx, %rcx\\nje 2f\\nmov %rbx, %r12\\njmp 1f\\n"
			   "2: mov %rbx, 40(%rsp)\\n1: xor %ebx, %ebx\\nmov 40(%rsp), "
			   "%rbx\\n" DISPATCH),
		/* another register, another place in the thread's state, another object */
		OLD_PYTHON("co_linetable",
			   "mov %rdi, %rbp\\nmov %rsi, %r12\\nmov %r12, 24(%rbp)\\n", DISPATCH),
		OLD_PYTHON("co_linetable",
			   "mov %rdi, %rbp\\nmov %rsi, %rbx\\nmov %rbx, 56(%rbp)\\n", DISPATCH),
		OLD_PYTHON("co_linetable",
			   "mov %rdx, %rbp\\nmov %rsi, %rbx\\nmov %rbx, 24(%rbp)\\n", DISPATCH),
		OLD_PYTHON("co_other", OLD_ENTERS, DISPATCH),
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, sources[i]), -EOPNOTSUPP);
		assert_int_equal(marked_bytes(&library, &rows), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_CPYTHON);
		assert_int_equal(library.rows.script.link, 0);
		library_close(&library);
	}
}

/*
 * A loop of PHP. The frame is 40 + 104 bytes; r14 is stored 72 bytes below the CFA, r15 80 bytes.
 */
#define PHP(build, globals, prologue, end)                                                         \
	"const char build[] = \"" build "\";\nchar " globals "[1800];\nvoid *zend_execute_ex;\n"   \
	"__asm__(\".globl execute_ex\\n.type execute_ex, @function\\nexecute_ex:\\n"               \
	".cfi_startproc\\npush %r13\\n.cfi_def_cfa_offset 16\\npush %r12\\n"                       \
	".cfi_def_cfa_offset 24\\npush %rbp\\n.cfi_def_cfa_offset 32\\npush %rbx\\n"               \
	".cfi_def_cfa_offset 40\\nsub $104, %rsp\\n.cfi_def_cfa_offset 144\\n" prologue            \
	"php_body:\\ncall php_callee@PLT\\njmp *(%r15)\\nmov %rax, %r14\\njmp *(%r15)\\n" end      \
	"add $104, %rsp\\n.cfi_def_cfa_offset 40\\npop %rbx\\n.cfi_def_cfa_offset 32\\n"           \
	"pop %rbp\\n.cfi_def_cfa_offset 24\\npop %r12\\n.cfi_def_cfa_offset 16\\n"                 \
	"pop %r13\\n.cfi_def_cfa_offset 8\\nret\\n.cfi_endproc\\n"                                 \
	".size execute_ex, .-execute_ex\\n\");\nvoid php_callee(void) {}\n"

#define PHP_82 "API20220829,NTS"
#define PHP_ENTERS "mov %r14, 72(%rsp)\\nmov %rdi, %r14\\nmov %r15, 64(%rsp)\\n"
#define PHP_ENDS "nop\\nmov 72(%rsp), %r14\\nmov 64(%rsp), %r15\\nnop\\n"

TEST(the_loop_of_php_tells_where_its_callers_registers_are)
{
	struct library library;
	u32 rows, bytes;

	assert_int_equal(
		library_build(&library, PHP(PHP_82, "executor_globals", PHP_ENTERS, PHP_ENDS)), 0);
	assert_true(code_rows_are_sound(&library.rows));
	assert_int_equal(library.rows.script.runtime, SCRIPT_PHP);
	assert_int_equal(library.rows.script.version, 20220829);
	assert_int_equal(library.rows.script.link_kind, SCRIPT_LINK_REGISTER);
	assert_int_equal(library.rows.script.code_file, 152);
	/* call 5, jmp 3, mov 3, jmp 3, nop 1, mov 5 */
	bytes = marked_bytes(&library, &rows);
	assert_int_equal(bytes, 20);
	for (u32 i = 0; i < library.rows.rule_count; i++) {
		const struct unwind_rule *rule = &library.rows.rules[i];

		if (rule->cfa_kind != CFA_SCRIPT_LOOP)
			continue;
		assert_int_equal(rule->operand, REGISTER_R15 << 4 | REGISTER_R14);
		assert_int_equal(rule->slot[SLOT_R14], 9);
		assert_int_equal(rule->slot[SLOT_R15], 10);
	}
	library_close(&library);
}

TEST(a_loop_of_php_that_is_not_understood_has_no_marks)
{
	static const char *const sources[] = {
		PHP("API20290829,NTS", "executor_globals", PHP_ENTERS,
		    PHP_ENDS), /* a later version */
		PHP("API2022082,NTS", "executor_globals", PHP_ENTERS, PHP_ENDS),
		PHP(PHP_82, "other_globals", PHP_ENTERS, PHP_ENDS), /* thread-safe */
		/* another register, no frame that is entered, one that is not stored, a branch */
		PHP(PHP_82, "executor_globals", "mov %r13, 72(%rsp)\\nmov %rdi, %r13\\n", ""),
		PHP(PHP_82, "executor_globals", "mov %r14, 72(%rsp)\\nmov %r15, 64(%rsp)\\n", ""),
		PHP(PHP_82, "executor_globals", "mov %rdi, %r14\\nmov %r15, 64(%rsp)\\n", ""),
		PHP(PHP_82, "executor_globals", "je php_body\\n" PHP_ENTERS, PHP_ENDS),
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, sources[i]), -EOPNOTSUPP);
		assert_int_equal(marked_bytes(&library, &rows), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_PHP);
		assert_int_equal(library.rows.script.link, 0);
		library_close(&library);
	}
}

/*
 * A library of Ruby whose loop is larger than its other functions. The frame is 40 + 24 bytes; r15
 * is stored 16 bytes below the CFA.
 */
#define RUBY(version, prologue, line)                                                              \
	"const char ruby_version[] = \"" version "\";\n"                                           \
	"__asm__(\".globl rb_iseq_label, rb_iseq_path, rb_iseq_first_lineno\\n"                    \
	"rb_iseq_label:\\nendbr64\\nmov 16(%rdi), %rax\\nmov 80(%rax), %rax\\nret\\n"              \
	"rb_iseq_path:\\nmov 16(%rdi), %rax\\nmov 64(%rax), %rax\\nmov (%rax), %rdx\\nret\\n"      \
	"rb_iseq_first_lineno:\\nmov 16(%rdi), %rax\\n" line "\\nret\\n"                           \
	"ruby_loop:\\n.cfi_startproc\\npush %r15\\n.cfi_def_cfa_offset 16\\n"                      \
	".cfi_offset %r15, -16\\npush %r14\\n.cfi_def_cfa_offset 24\\n.cfi_offset %r14, -24\\n"    \
	"push %rbx\\n.cfi_def_cfa_offset 32\\nsub $32, %rsp\\n.cfi_def_cfa_offset 64\\n" prologue  \
	".rept 4000\\njmp *(%r14)\\n.endr\\nlea 64(%rbp), %r15\\nje 2f\\njmp *(%r14)\\n"           \
	"nop\\n2: lea 32(%rsp), %rsp\\n.cfi_def_cfa_offset 32\\n"                                  \
	"pop %rbx\\n.cfi_def_cfa_offset 24\\npop %r14\\n.cfi_def_cfa_offset 16\\npop %r15\\n"      \
	"nop\\n.cfi_def_cfa_offset 8\\nret\\n.cfi_endproc\\n\");\n"

#define RUBY_ENTERS                                                                                \
	"test %rdi, %rdi\\nje 1f\\n1: mov 16(%rdi), %r15\\nmov %rdi, %rbx\\nmov (%r15), %r14\\n"
#define RUBY_34_ENTERS(register)                                                                   \
	"mov %rdi, %rbx\\ncall rb_iseq_path@PLT\\nmov 16(%" register "), %r15\\nmov (%r15), "      \
								     "%r14\\n"
#define RUBY_LINE "movslq 88(%rax), %rax"

TEST(the_loop_of_ruby_is_found_without_a_name)
{
	static const struct {
		const char *source;
		u32 frame_bytes, shift;
	} libraries[] = {
		{RUBY("3.1.2", RUBY_ENTERS, "mov 88(%rax), %rax"), 64, 1},
		{RUBY("3.2.3", RUBY_ENTERS, RUBY_LINE), 64, 0},
		{RUBY("3.3.8", RUBY_ENTERS, RUBY_LINE), 56, 0},
		{RUBY("3.4.1", RUBY_34_ENTERS("rbx"), RUBY_LINE), 56, 0},
	};

	for (u32 i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, libraries[i].source), 0);
		assert_true(code_rows_are_sound(&library.rows));
		assert_int_equal(library.rows.script.runtime, SCRIPT_RUBY);
		assert_int_equal(library.rows.script.version >> 8, 0x0301 + i);
		assert_int_equal(library.rows.script.frame_bytes, libraries[i].frame_bytes);
		assert_int_equal(library.rows.script.line_shift, libraries[i].shift);
		assert_int_equal(library.rows.script.code_body, 16);
		assert_int_equal(library.rows.script.code_name, 80);
		assert_int_equal(library.rows.script.code_file, 64);
		assert_int_equal(library.rows.script.first_line, 88);
		/* jmp 3 each, lea 4; behind it branch and jmp are unmarked; nop 1 */
		assert_int_equal(marked_bytes(&library, &rows), 4000 * 3 + 4 + 1);
		assert_int_equal(rows, 2);
		library_close(&library);
	}
}

TEST(a_loop_of_ruby_that_is_not_understood_has_no_marks)
{
	static const char *const sources[] = {
		RUBY("3.9.0", RUBY_ENTERS, RUBY_LINE), /* a later version */
		RUBY("3.x", RUBY_ENTERS, RUBY_LINE),
		RUBY("3.3.8", RUBY_ENTERS, "xor %eax, %eax"), /* no member is returned */
		/* another register, another member, no instruction */
		RUBY("3.3.8", "mov 16(%rdi), %r13\\nmov (%r13), %r14\\n", RUBY_LINE),
		RUBY("3.3.8", "mov 24(%rdi), %r15\\nmov (%r15), %r14\\n", RUBY_LINE),
		RUBY("3.3.8", "mov 16(%rdi), %r15\\nxor %r14d, %r14d\\n", RUBY_LINE),
		/* registers that the call has changed, or that never had the thread's state */
		RUBY("3.4.1", RUBY_34_ENTERS("rdi"), RUBY_LINE),
		RUBY("3.4.1", RUBY_34_ENTERS("rbp"), RUBY_LINE),
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;
		u32 rows;

		assert_int_equal(library_build(&library, sources[i]), -EOPNOTSUPP);
		assert_int_equal(marked_bytes(&library, &rows), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_RUBY);
		assert_int_equal(library.rows.script.link, 0);
		library_close(&library);
	}
}

/* The numbers that V8's file exports, but for the version and the offset of the shared object. */
#define V8_NUMBERS                                                                                 \
	"int v8dbg_off_fp_context = -8, v8dbg_off_fp_function = -16, "                             \
	"v8dbg_off_fp_bytecode_array = -32, v8dbg_SmiValueShift = 1, v8dbg_HeapObjectTag = 1, "    \
	"v8dbg_FirstNonstringType = 128, v8dbg_StringRepresentationMask = 7, "                     \
	"v8dbg_StringEncodingMask = 8, v8dbg_OneByteStringTag = 8, v8dbg_SeqStringTag = 0, "       \
	"v8dbg_ConsStringTag = 1, v8dbg_ThinStringTag = 5, "                                       \
	"v8dbg_class_Map__instance_type__uint16_t = 12, "                                          \
	"v8dbg_class_String__length__int32_t = 12, v8dbg_class_SeqOneByteString__chars__char "     \
	"= 16, v8dbg_class_SeqTwoByteString__chars__char = 16, "                                   \
	"v8dbg_class_ConsString__first__String = 16, v8dbg_class_ConsString__second__String "      \
	"= 24, v8dbg_class_ThinString__actual__String = 16, v8dbg_class_Script__name__Object "     \
	"= 16, v8dbg_scopeinfo_idx_nparams = 1, v8dbg_scopeinfo_idx_ncontextlocals = 2, "          \
	"v8dbg_scopeinfo_idx_first_vars = 3, v8dbg_FirstContextType = 205, "                       \
	"v8dbg_LastContextType = 214, v8dbg_type_JSFunction__JS_FUNCTION_TYPE = 2066, "            \
	"v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE = 262, "                         \
	"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE = 261, v8dbg_type_Script__SCRIPT_TYPE = 167, "      \
	"v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE = 191, "                                    \
	"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_ = 16, "                \
	"v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_ = 32; void callee(void) {}\n"
#define V8(minor, shift, shared)                                                                   \
	V8_NUMBERS "int _ZN2v88internal7Version6major_E = 11, _ZN2v88internal7Version6minor_E "    \
		   "= " #minor ", v8dbg_SmiShiftSize = " #shift ";\n"                              \
		   "int v8dbg_class_JSFunction__shared__" shared " = 24;\n"

TEST(the_layout_of_v8_is_found)
{
	static const struct v8_layout expected = {2066, 262, 261, 167, 191, 205,
						  215,	24,  16,  32,  1};
	struct library library;

	assert_int_equal(library_build(&library, V8(3, 31, "SharedFunctionInfo")), 0);
	assert_true(code_rows_are_sound(&library.rows));
	assert_int_equal(library.rows.script.runtime, SCRIPT_V8);
	assert_memory_equal(&library.rows.script.v8, &expected, sizeof(expected));
	library_close(&library);
}

/* Another version, numbers in 32 bits, a missing member. */
TEST(a_build_of_v8_that_is_not_known_has_no_names)
{
	static const struct {
		const char *source;
		enum script_link kind;
	} builds[] = {{V8(4, 31, "SharedFunctionInfo"), SCRIPT_LINK_NONE},
		      {V8(3, 30, "SharedFunctionInfo"), SCRIPT_LINK_UNREAD},
		      {V8(3, 31, "Other"), SCRIPT_LINK_UNREAD}};

	for (u32 i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct library library;

		assert_int_equal(library_build(&library, builds[i].source), -EOPNOTSUPP);
		assert_int_equal(library.rows.script.runtime, SCRIPT_V8);
		assert_int_equal(library.rows.script.link_kind, builds[i].kind);
		assert_int_equal(library.rows.script.v8.has_names, 0);
		library_close(&library);
	}
}

TEST(other_files_have_no_interpreter)
{
	struct library library;

	assert_int_equal(library_build(&library, "int f(int x) { return x + 1; }\n"), -ENOENT);
	assert_int_equal(library.rows.script.runtime, SCRIPT_NONE);
	library_close(&library);
}

TEST(the_interpreter_of_this_system_is_known)
{
	static const char *const paths[] = {"/usr/bin/python3.11", "/usr/bin/python3.12",
					    "/usr/bin/python3.13", "/usr/bin/python3.14",
					    "/usr/bin/python3.15"};
	struct library library;
	u32 rows, found = 0;

	for (u32 i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (access(paths[i], R_OK))
			continue;
		assert_int_equal(library_read(&library, paths[i]), 0);
		assert_in_range(marked_bytes(&library, &rows), 20000, 200000);
		library_close(&library);
		found++;
	}
	if (!found) {
		print_message("skipped: no CPython 3.11 to 3.15 in /usr/bin\n");
		skip();
	}
}
