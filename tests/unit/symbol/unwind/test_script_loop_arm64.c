/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files for arm64 that are built like CPython, on any machine: the same reader with that
 * architecture's registers. The code of each loop is as gcc 12 and 14 make it for Debian.
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

/* LOOP is the code behind the stores of the saved registers; the frame has 352 bytes. */
#define PYTHON(version, loop)                                                                      \
	"const unsigned long Py_Version = " version ";\n"                                          \
	"struct member { const char *name; int type; long offset; int flags; const char *doc; "    \
	"};\n"                                                                                     \
	"static struct member members[] = {{\"co_argcount\", 1, 48}, {\"co_firstlineno\", 1, 72}," \
	" {\"co_filename\", 6, 112}, {\"co_qualname\", 6, 128}, {\"co_linetable\", 6, 136}, "      \
	"{0}};\n"                                                                                  \
	"struct type { long object[3]; const char *name; long other[26]; struct member *members;"  \
	" long more[20]; };\n"                                                                     \
	"struct type PyCode_Type = {{1}, \"code\", {0}, members};\n"                               \
	"__asm__(\".globl _PyEval_EvalFrameDefault\\n"                                             \
	".type _PyEval_EvalFrameDefault, @function\\n"                                             \
	"_PyEval_EvalFrameDefault:\\n.cfi_startproc\\n"                                            \
	"stp x29, x30, [sp, #-352]!\\n.cfi_def_cfa_offset 352\\n.cfi_offset 29, -352\\n"           \
	".cfi_offset 30, -344\\nmov x29, sp\\nstp x19, x20, [sp, #16]\\n"                          \
	"cbz x0, 8f\\n" loop "9: bl loop_callee\\nb 9b\\n"                                         \
	"8: ldr x1, [sp, #64]\\nadrp x0, members\\nbl loop_callee\\n"                              \
	"ldp x29, x30, [sp], #352\\n.cfi_def_cfa_offset 0\\nret\\n.cfi_endproc\\n"                 \
	".size _PyEval_EvalFrameDefault, .-_PyEval_EvalFrameDefault\\n\");\n"                      \
	"void loop_callee(void) {}\n"

/* 3.11: struct _PyCFrame at sp + 256, the frame in its second word. */
#define LINK "add x7, sp, #256\\nldr x1, [x0, #56]\\nstr x7, [x0, #56]\\n"
#define FILL "strb w5, [sp, #256]\\nstp x27, x1, [sp, #264]\\n"
#define PYTHON_311 "0x030b02f0"

/* 3.13: the entered frame at sp + 272. Its caller is stored behind the link. */
#define ENTER "mov x21, x1\\nadd x3, sp, #272\\nstr x3, [x21, #8]\\nmov w4, #3\\n"
#define LINKS "str x1, [x0, #72]\\n"
#define CALLER "stp x6, x7, [sp, #272]\\n"
#define MARK "strb w4, [sp, #342]\\n"
#define PYTHON_313 "0x030d00f0"
#define RUNTIME                                                                                    \
	"struct { char cookie[8]; long version, words[70]; } _PyRuntime = {\"xdebugpy\", "         \
	"0x030d00f0, {[3] = 632, [7] = 7344, [19] = 8, [21] = 72, [22] = 152, [27] = 8, "          \
	"[31] = 70, [33] = 112, [35] = 128, [36] = 136, [37] = 72}};\n"

struct library {
	int result; /* of script_rows_mark() */
	struct script_layout layout;
	u32 marked, rows; /* bytes of code with the mark, and the number of their rows */
};

static void library_build(struct library *library, const char *source)
{
	const struct sample sample = {"loop",
				      "clang-14 --target=aarch64-linux-gnu -fuse-ld=lld -nostdlib "
				      "-shared -fPIC -w -O1 -o $OUT $IN",
				      source, ".c"};
	struct code_rows rows = {};
	struct file_spans covered = {};
	char path[SAMPLE_PATH_BYTES];
	int file;

	sample_build(&sample, path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(code_rows_read_tables(file, &rows, &covered), 0);
	*library = (struct library){.result = script_rows_mark(file, &covered, &rows)};
	close(file);
	library->layout = rows.script;
	for (u32 i = 0; i + 1 < rows.count; i++) {
		const struct code_row *row = &rows.rows[i];

		if (row->rule && rows.rules[row->rule - 1].cfa_kind == CFA_SCRIPT_LOOP) {
			library->marked += row[1].offset - row->offset;
			library->rows++;
		}
	}
	free(covered.spans);
	code_rows_clear(&rows);
}

static int folder_create(void **state)
{
	(void)state;
	if (system("clang-14 --target=aarch64-linux-gnu -fuse-ld=lld -nostdlib -shared -x c "
		   "/dev/null -o /dev/null 2>/dev/null")) {
		puts("skipped: clang-14 and lld are not installed");
		exit(77);
	}
	return !sample_folder_create();
}

TEST_GROUP(folder_create, sample_folder_teardown)

/* The loop's two instructions and the first one behind the call that ends the process. */
#define MARKED (3 * 4)

TEST(python_3_11_has_the_innermost_frame_in_its_structure)
{
	static const char *const sources[] = {
		PYTHON(PYTHON_311, LINK FILL),
		PYTHON(PYTHON_311, FILL LINK),
		PYTHON(PYTHON_311, LINK "str x27, [sp, #264]\\n"),
		PYTHON(PYTHON_311, LINK "stp x1, x27, [sp, #256]\\n"),
		PYTHON(PYTHON_311, "mov x8, sp\\nadd x7, x8, #256\\nadd x7, sp, #256\\n"
				   "str x7, [x0, #56]\\n" FILL),
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;

		library_build(&library, sources[i]);
		assert_int_equal(library.result, 0);
		assert_int_equal(library.layout.runtime, SCRIPT_CPYTHON);
		assert_int_equal(library.layout.link_kind, SCRIPT_LINK_FRAME);
		assert_int_equal(library.layout.link, 352 - 264);
		assert_int_equal(library.marked, MARKED);
		assert_int_equal(library.rows, 2);
	}
}

/* The frame is in x27, as in the cases of x86-64. */
TEST(code_that_links_a_frame_before_it_is_filled_has_no_marks)
{
#define CALLS "str x27, [sp, #264]\\n"
	static const struct {
		const char *source;
		u32 marked; /* instructions with the mark beyond those without this code */
	} calls[] = {
		{PYTHON(PYTHON_311, LINK FILL CALLS "nop\\nstr x1, [x27, #48]\\nnop\\n"), 2},
		{PYTHON(PYTHON_311, LINK FILL CALLS "nop\\nstrb w1, [x27, #68]\\n"), 1},
		{PYTHON(PYTHON_311, LINK FILL CALLS "stp x1, x2, [x27, #40]\\n"), 1},
		{PYTHON(PYTHON_311, LINK FILL CALLS "str q0, [x27, #48]\\n"), 1},
		{PYTHON(PYTHON_311, LINK FILL CALLS "mov x2, x27\\nstur x1, [x2, #48]\\n"), 1},
		{PYTHON(PYTHON_311, LINK FILL CALLS "b 7f\\nnop\\n7: str x1, [x27, #48]\\n"), 2},
		{PYTHON(PYTHON_311,
			LINK FILL "add x27, x26, #64\\n" CALLS "str x1, [x26, #112]\\n"),
		 2},
		/* no gap: */
		{PYTHON(PYTHON_311, LINK FILL CALLS "str x1, [x27, #56]\\n"), 2},
		{PYTHON(PYTHON_311, LINK FILL CALLS "ldr x27, [x1]\\nstr x1, [x27, #48]\\n"), 3},
		{PYTHON(PYTHON_311, LINK FILL CALLS "bl loop_callee\\nstr x1, [x27, #48]\\n"), 3},
	};

	for (u32 i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct library library;

		library_build(&library, calls[i].source);
		assert_int_equal(library.result, 0);
		assert_int_equal(library.marked, MARKED + 4 * calls[i].marked);
	}
}

TEST(python_3_13_marks_code_in_which_the_entered_frame_has_no_caller)
{
	static const struct {
		const char *source;
		u32 unfilled;
	} loops[] = {
		{PYTHON(PYTHON_313, ENTER CALLER LINKS MARK) RUNTIME, 0},
		{PYTHON(PYTHON_313, ENTER MARK CALLER LINKS) RUNTIME, 0},
		{PYTHON(PYTHON_313, ENTER LINKS CALLER MARK) RUNTIME, 8},
		{PYTHON(PYTHON_313, ENTER LINKS MARK "nop\\n" CALLER) RUNTIME, 12},
	};

	for (u32 i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct library library;

		library_build(&library, loops[i].source);
		assert_int_equal(library.result, 0);
		assert_int_equal(library.layout.link_kind, SCRIPT_LINK_LIST);
		assert_int_equal(library.layout.entry, 352 - 272);
		assert_int_equal(library.layout.link - library.layout.entry, loops[i].unfilled);
		assert_int_equal(library.marked, MARKED + loops[i].unfilled);
	}
}

TEST(unsupported_code_has_no_marks)
{
	static const char *const sources[] = {
		PYTHON("0x031000f0", LINK FILL),		   /* a later version */
		PYTHON(PYTHON_311, LINK),			   /* no frame is stored */
		PYTHON(PYTHON_311, LINK "str w27, [sp, #264]\\n"), /* half of it */
		PYTHON(PYTHON_311, LINK "stp x27, x1, [sp, #272]\\n"),
		PYTHON(PYTHON_311, FILL),		 /* no link */
		PYTHON(PYTHON_311, LINK "b 9f\\n" FILL), /* a jump over the store */
		PYTHON(PYTHON_313, ENTER LINKS MARK) RUNTIME,
		PYTHON(PYTHON_313, ENTER LINKS CALLER) RUNTIME,
		PYTHON(PYTHON_313, ENTER LINKS CALLER MARK), /* no offsets */
		/* the entered frame is linked before it is known */
		PYTHON(PYTHON_313, LINKS ENTER CALLER MARK) RUNTIME,
		/* the thread's state is on the stack, and the frame is linked early */
		PYTHON(PYTHON_313, "str x0, [sp, #128]\\n" ENTER LINKS CALLER MARK) RUNTIME,
	};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;

		library_build(&library, sources[i]);
		assert_int_equal(library.result, -EOPNOTSUPP);
		assert_int_equal(library.marked, 0);
		assert_int_equal(library.layout.runtime, SCRIPT_CPYTHON);
		assert_int_equal(library.layout.link, 0);
	}
}
