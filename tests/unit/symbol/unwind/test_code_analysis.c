/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares the decoder with objdump, and rules found in code with the compiler's tables of the same
 * code; and programs whose tables were removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privilege/memory_limit.h"
#include "sample_program.h"
#include "symbol/unwind/code_analysis.h"
#include "symbol/unwind/code_file.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#include "symbol/unwind/frame_state.h"
#include "unit_test.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

/* The number of bytes that objdump shows in a line; 0: the line has no instruction. */
static u32 listed_bytes(const char *line, u8 *bytes)
{
	const char *at = strchr(line, ':'), *end;
	u32 count = 0;

	if (!at || at[1] != '\t')
		return 0;
	at += 2;
	end = strchr(at, '\t');
	if (!end || strstr(end, "(bad)") || strstr(end, "\trex"))
		return 0;
	for (; count < X86_LENGTH_MAX && at[0] != ' ' && at < end; at += 3)
		bytes[count++] = strtoul(at, NULL, 16);
	return count;
}

TEST(lengths_are_those_of_objdump)
{
	u32 instructions = 0, differences = 0;
	char line[512];
	FILE *list;

	if (system("objdump --version >/dev/null 2>&1") || access(LIBC, R_OK))
		skip();
	list = popen("objdump -d -w " LIBC, "r");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		u8 bytes[X86_LENGTH_MAX];
		u32 count = listed_bytes(line, bytes);
		struct x86_instruction instruction;

		if (!count)
			continue;
		instructions++;
		if (x86_decode(bytes, count, &instruction) && instruction.length == count)
			continue;
		differences++;
		printf("%s", line);
	}
	pclose(list);
	assert_true(instructions > 100000);
	assert_int_equal(differences, 0);
}

TEST(a_cut_instruction_is_not_decoded)
{
	static const u8 lea[] = {0x48, 0x8d, 0x84, 0x24, 1, 2, 3, 4};
	struct x86_instruction instruction;

	for (u32 bytes = 0; bytes < sizeof(lea); bytes++)
		assert_false(x86_decode(lea, bytes, &instruction));
	assert_true(x86_decode(lea, sizeof(lea), &instruction));
	assert_int_equal(instruction.base, X86_RSP);
	assert_int_equal(instruction.reg, X86_RAX);
	assert_int_equal(instruction.displacement, 0x04030201);
}

/* Executes instructions from a function's start on. */
static struct frame_state run(const u8 *code, u32 bytes)
{
	struct frame_compared compared = {.reg = X86_NO_REGISTER};
	struct x86_instruction instruction;
	struct frame_state frame;

	frame_state_at_entry(&frame, 0);
	for (u32 at = 0; at < bytes; at += instruction.length) {
		assert_true(x86_decode(code + at, bytes - at, &instruction));
		assert_int_equal(frame_state_step(&frame, &instruction, at, &compared),
				 FRAME_STEPPED);
	}
	return frame;
}

TEST(a_prologue_is_a_rule)
{
	/* push %rbp; push %rbx; sub $0x18, %rsp */
	static const u8 code[] = {0x55, 0x53, 0x48, 0x83, 0xec, 0x18};
	struct frame_state frame = run(code, sizeof(code));
	struct unwind_rule rule;

	assert_true(frame_state_rule(&frame, &rule));
	assert_int_equal(rule.cfa_kind, CFA_REGISTER);
	assert_int_equal(rule.cfa_register, REGISTER_RSP);
	assert_int_equal(rule.cfa_offset, 48);
	assert_int_equal(rule.slot[SLOT_RBP], 2);
	assert_int_equal(rule.slot[SLOT_RBX], 3);
	assert_int_equal(rule.slot[SLOT_R12], 0);
	assert_int_equal(rule.slot[SLOT_RETURN], 1);
}

TEST(an_aligned_stack_is_found_by_its_copy)
{
	/* mov %rsp, %rax; sub $0x40, %rsp; and $-32, %rsp; mov %rax, 0x20(%rsp); xor %eax, %eax */
	static const u8 code[] = {0x48, 0x89, 0xe0, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83,
				  0xe4, 0xe0, 0x48, 0x89, 0x44, 0x24, 0x20, 0x31, 0xc0};
	struct frame_state frame = run(code, sizeof(code));
	struct unwind_rule rule;

	assert_true(frame_state_rule(&frame, &rule));
	assert_int_equal(rule.cfa_kind, CFA_DEREF);
	assert_int_equal(rule.cfa_register, REGISTER_RSP);
	assert_int_equal(rule.cfa_offset, 0x20);
	assert_int_equal(rule.operand, 1);
}

TEST(an_overwritten_return_address_has_no_rule)
{
	/* push %rbx; mov %rax, 8(%rsp) */
	static const u8 code[] = {0x53, 0x48, 0x89, 0x44, 0x24, 0x08};
	struct frame_state frame = run(code, sizeof(code));
	struct unwind_rule rule;

	assert_false(frame_state_rule(&frame, &rule));
}

TEST(a_store_of_eight_bytes_keeps_the_next_word)
{
	/* push %rbx; sub $0x10, %rsp; and a store at 8(%rsp), below the saved word */
	static const struct {
		u8 code[11];
		bool is_lost;
	} stores[] = {
		{{0x53, 0x48, 0x83, 0xec, 0x10, 0x0f, 0x7f, 0x7c, 0x24, 0x08, 0x90}, false},
		{{0x53, 0x48, 0x83, 0xec, 0x10, 0xf2, 0x0f, 0x11, 0x44, 0x24, 0x08}, false},
		{{0x53, 0x48, 0x83, 0xec, 0x10, 0x66, 0x0f, 0x7f, 0x44, 0x24, 0x08}, true},
		{{0x53, 0x48, 0x83, 0xec, 0x10, 0xf3, 0x0f, 0x7f, 0x44, 0x24, 0x08}, true},
		{{0x53, 0x48, 0x83, 0xec, 0x10, 0x0f, 0x11, 0x44, 0x24, 0x08, 0x90}, true},
	};

	for (u32 i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		struct frame_state frame = run(stores[i].code, sizeof(stores[i].code));
		struct unwind_rule rule;

		assert_true(frame_state_rule(&frame, &rule));
		assert_int_equal(rule.slot[SLOT_RBX], stores[i].is_lost ? 0 : 2);
	}
}

/* --- whole files --- */

struct truth {
	u32 right, wrong, unknown;
};

static void compare(const struct frame_state *frame, const struct unwind_rule *table,
		    struct truth *truth)
{
	struct frame_value value = {};

	if (frame)
		value = frame->reg[table->cfa_register == REGISTER_RBP ? X86_RBP : X86_RSP];
	if (value.kind != VALUE_CFA || frame->flags)
		truth->unknown++;
	else if (value.offset + table->cfa_offset)
		truth->wrong++;
	else
		truth->right++;
}

static void compare_all(int file, bool is_stripped, struct truth *truth)
{
	struct code_analysis *analysis;
	struct file_spans covered = {};
	struct code_rows rows = {};
	struct file_image *image;
	struct code_file *code;

	assert_int_equal(code_rows_read_tables(file, &rows, &covered), 0);
	assert_int_equal(file_image_create(file, &image), 0);
	assert_int_equal(code_file_create(file, NULL, 0, &code), 0);
	if (is_stripped)
		code_file_strip(code);
	assert_int_equal(code_analysis_create(code_file_image(code), &analysis), 0);
	for (u32 i = 0; i < covered.count; i++) {
		for (u32 at = covered.spans[i].start; at < covered.spans[i].end; at++) {
			const struct frame_state *frame = code_analysis_state(analysis, at);
			u64 end = FILE_IMAGE_BASE + at + 1, offset;
			const struct unwind_rule *table = NULL;

			if (file_image_code_offset(image, FILE_IMAGE_BASE + at, &end, &offset))
				table = code_rows_rule(&rows, offset);
			if (frame && table && table->cfa_kind == CFA_REGISTER && !table->flags &&
			    (table->cfa_register == REGISTER_RSP ||
			     table->cfa_register == REGISTER_RBP))
				compare(frame, table, truth);
		}
	}
	code_analysis_free(&analysis);
	code_file_free(&code);
	file_image_free(&image);
	code_rows_clear(&rows);
	free(covered.spans);
}

TEST(the_code_agrees_with_hidden_tables)
{
	static const char *const files[] = {"/usr/bin/perl", "/usr/bin/git", "/bin/bash",
					    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};

	for (u32 i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int file = open(files[i], O_RDONLY);

		if (file < 0)
			continue;
		for (int is_stripped = 0; is_stripped < 2; is_stripped++) {
			struct truth truth = {};

			compare_all(file, is_stripped, &truth);
			printf("%s%s: right %u, unknown %u, wrong %u\n", files[i],
			       is_stripped ? ", stripped" : "", truth.right, truth.unknown,
			       truth.wrong);
			assert_true(truth.right > 10 * truth.unknown);
			assert_int_equal(truth.wrong, 0);
		}
		close(file);
	}
}

#define SOURCE                                                                                     \
	"#include <stdio.h>\n"                                                                     \
	"#include <stdlib.h>\n"                                                                    \
	"static int by_value(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"    \
	"int main(int argc, char **argv)\n"                                                        \
	"{\n"                                                                                      \
	"	int value[64];\n"                                                                        \
	"	for (int i = 0; i < 64; i++) {\n"                                                        \
	"		switch ((argc + i) % 9) {\n"                                                            \
	"		case 0: value[i] = puts(argv[0]); break;\n"                                             \
	"		case 1: value[i] = rand(); break;\n"                                                    \
	"		case 2: value[i] = getchar(); break;\n"                                                 \
	"		case 3: value[i] = atoi(argv[0]); break;\n"                                             \
	"		case 4: abort();\n"                                                                     \
	"		case 5: value[i] = printf(\"%d\", i); break;\n"                                         \
	"		default: value[i] = i;\n"                                                               \
	"		}\n"                                                                                    \
	"	}\n"                                                                                     \
	"	qsort(value, 64, sizeof(int), by_value);\n"                                              \
	"	return value[0];\n"                                                                      \
	"}\n"

/* Returns the result of code_rows_read() for a file. */
static int read_rows(const char *path, struct code_rows *rows)
{
	int file = open(path, O_RDONLY), result;

	assert_true(file >= 0);
	*rows = (struct code_rows){};
	result = code_rows_read(file, rows);
	close(file);
	return result;
}

static u32 count_analysed(const struct code_rows *rows)
{
	u32 analysed = 0;

	for (u32 i = 0; i < rows->rule_count; i++)
		analysed += (rows->rules[i].flags & RULE_ANALYSED) != 0;
	return analysed;
}

static u32 rules_by_code(const char *path, int *result)
{
	struct code_rows rows;
	u32 analysed;

	*result = read_rows(path, &rows);
	analysed = count_analysed(&rows);
	code_rows_clear(&rows);
	return analysed;
}

TEST(a_program_without_tables_has_rows)
{
	static const char *const kinds[] = {"-O2", "-O2 -s", "-O2 -static -s",
					    "-O3 -fno-omit-frame-pointer -no-pie -s"};
	char path[SAMPLE_PATH_BYTES], command[512];

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sample sample = {"bare", command, SOURCE, ".c"};
		struct code_rows rows;

		snprintf(command, sizeof(command),
			 "gcc %s $IN -o $OUT && objcopy -R .eh_frame -R .eh_frame_hdr $OUT",
			 kinds[i]);
		sample_build(&sample, path);
		assert_int_equal(read_rows(path, &rows), 0);
		assert_true(code_rows_are_sound(&rows));
		printf("%s: %u rows, %u rules\n", kinds[i], rows.count, rows.rule_count);
		assert_true(rows.count > 10);
		assert_int_equal(count_analysed(&rows), rows.rule_count);
		code_rows_clear(&rows);
	}
}

/* Only begin() has a symbol left. caller() calls shared(), and changing(), which changes rbp and
 * continues in shared(). */
#define SHARED                                                                                     \
	".globl begin\n.type begin, @function\nbegin: ret\n"                                       \
	".p2align 4\ncaller: push %rbp\nsub $64, %rsp\ncall shared\ncall changing\n"               \
	"add $64, %rsp\npop %rbp\nret\n"                                                           \
	".p2align 4\nchanging: mov 16(%rsp), %rbp\n"                                               \
	"shared: mov %ebx, %eax\n.rept 300\nxor %eax, %eax\n.endr\nret\n"

enum { BEHIND_CALLS = 31, CHANGING = 48, SHARED_BEGIN = 53, SHARED_END = SHARED_BEGIN + 602 };

TEST(code_may_go_on_as_a_function_with_a_changed_register)
{
	static const struct sample sample = {"shared", "gcc -shared -nostdlib -s -o $OUT $IN",
					     SHARED, ".s"};
	static const u32 places[] = {BEHIND_CALLS, CHANGING, SHARED_BEGIN, SHARED_END};
	static const u32 cfa_offset[] = {80, 8, 8, 8};
	static const u8 rbp_slot[] = {2, 0, SLOT_LOST, SLOT_LOST};
	struct code_analysis *analysis;
	char path[SAMPLE_PATH_BYTES];
	struct code_file *code;
	int file;

	sample_build(&sample, path);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(code_file_create(file, NULL, 0, &code), 0);
	assert_int_equal(code_analysis_create(code_file_image(code), &analysis), 0);
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		u32 at = code_file_image(code)->sections[0].start + places[i];
		const struct frame_state *frame = code_analysis_state(analysis, at);
		struct unwind_rule rule;

		assert_non_null(frame);
		assert_true(frame_state_rule(frame, &rule));
		assert_int_equal(rule.cfa_register, REGISTER_RSP);
		assert_int_equal(rule.cfa_offset, cfa_offset[i]);
		assert_int_equal(rule.slot[SLOT_RBP], rbp_slot[i]);
		assert_int_equal(rule.slot[SLOT_RBX], 0);
	}
	code_analysis_free(&analysis);
	code_file_free(&code);
	close(file);
}

/* The analysis of a sample's last code section, whose begin is `start`. */
struct analysed {
	struct code_file *code;
	struct code_analysis *analysis;
	u32 start;
};

static void analyse_sample(const struct sample *sample, bool is_stripped, struct analysed *analysed)
{
	const struct code_image *image;
	char path[SAMPLE_PATH_BYTES];
	int file;

	sample_build(sample, path);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(code_file_create(file, NULL, 0, &analysed->code), 0);
	if (is_stripped)
		code_file_strip(analysed->code);
	image = code_file_image(analysed->code);
	assert_int_equal(code_analysis_create(image, &analysed->analysis), 0);
	analysed->start = image->sections[image->section_count - 1].start;
	close(file);
}

static bool find_rule(const struct analysed *analysed, u32 place, struct unwind_rule *rule)
{
	const struct frame_state *frame =
		code_analysis_state(analysed->analysis, analysed->start + place);

	return frame && frame_state_rule(frame, rule);
}

static void analysed_free(struct analysed *analysed)
{
	code_analysis_free(&analysed->analysis);
	code_file_free(&analysed->code);
}

/* worker() calls imported functions. The words of their slots lead back to the stubs of the
 * program. */
#define IMPORTING                                                                                  \
	".globl start\nstart: call worker\nhlt\n.p2align 4\n"                                      \
	"worker: sub $8, %rsp\ncall puts@PLT\ntest %eax, %eax\nje 1f\nadd $8, %rsp\nret\n"         \
	"1: call abort@PLT\nmov %eax, %eax\nhlt\n"

enum { BEHIND_PUTS = 25, BEHIND_ABORT = 39 };

TEST(a_lazy_slot_leads_to_no_code_of_its_own_file)
{
	static const struct sample sample = {
		"importing", "gcc -no-pie -nostartfiles -Wl,-e,start -Wl,-z,lazy -s -o $OUT $IN",
		IMPORTING, ".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, BEHIND_PUTS, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.slot[SLOT_RBX], 0);
	assert_false(find_rule(&analysed, BEHIND_ABORT, &rule));
	analysed_free(&analysed);
}

/* worker() calls a function that the program chooses when it starts. The word of its slot leads
 * back into its stub. */
#define CHOOSING                                                                                   \
	".globl start\nstart: call worker\nhlt\n.p2align 4\n"                                      \
	"worker: push %rax\ncall chosen\nnop\npop %rcx\nret\n.p2align 4\n"                         \
	"choose: lea plain(%rip), %rax\nret\n.p2align 4\nplain: xor %eax, %eax\nret\n"             \
	".globl chosen\n.type chosen, @gnu_indirect_function\n.set chosen, choose\n"

enum { BEHIND_CHOSEN = 22 };

TEST(a_function_that_is_chosen_at_the_start_keeps_registers)
{
	static const struct sample sample = {
		"choosing", "gcc -no-pie -nostdlib -static -Wl,-e,start -s -o $OUT $IN", CHOOSING,
		".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, BEHIND_CHOSEN, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.slot[SLOT_RBX], 0);
	assert_int_equal(rule.slot[SLOT_R12], 0);
	analysed_free(&analysed);
}

/* worker() calls twenty functions that each change a register. */
#define CHANGING                                                                                   \
	".globl start\nstart: call worker\nhlt\n.p2align 4\nworker: push %rax\n"                   \
	".altmacro\n.macro each what\n.set n, 0\n.rept 20\n\\what %n\n.set n, n + 1\n.endr\n"      \
	".endm\n.macro calling number\ncall changing\\number\n.endm\n"                             \
	".macro defining number\nchanging\\number: xor %ebx, %ebx\nret\n.endm\n"                   \
	"each calling\npop %rcx\nret\n.p2align 4\neach defining\n"

enum { BEHIND_CHANGING = 17 + 5 * 20 };

TEST(a_function_may_call_many_that_change_registers)
{
	static const struct sample sample = {
		"changing", "gcc -no-pie -nostdlib -static -Wl,-e,start -o $OUT $IN", CHANGING,
		".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, BEHIND_CHANGING, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.slot[SLOT_RBX], SLOT_LOST);
	assert_int_equal(rule.slot[SLOT_R12], 0);
	analysed_free(&analysed);
}

/* The jump tables of first() and second() lie side by side; no comparison limits their index. */
#define TABLES                                                                                     \
	".globl start\nstart: call first\ncall second\nhlt\n.p2align 4\n"                          \
	"first: push %rbx\nmov (%rdi), %eax\njmp *.Lone(,%rax,8)\n.La: pop %rbx\nret\n"            \
	".p2align 4\nsecond: sub $40, %rsp\nmov (%rdi), %eax\njmp *.Ltwo(,%rax,8)\n"               \
	".Lb: add $40, %rsp\nret\n"                                                                \
	".section .rodata\n.p2align 3\n.Lone: .quad .La, .La\n.Ltwo: .quad .Lb, .Lb\n"

enum { FIRST_CASE = 26, SECOND_CASE = 45 };

TEST(a_table_of_jumps_ends_where_another_begins)
{
	static const struct sample sample = {
		"tables", "gcc -no-pie -nostdlib -static -Wl,-e,start -o $OUT $IN", TABLES, ".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, true, &analysed);
	assert_true(find_rule(&analysed, FIRST_CASE, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(find_rule(&analysed, SECOND_CASE, &rule));
	assert_int_equal(rule.cfa_offset, 48);
	analysed_free(&analysed);
}

/* The second case of switching() cannot be; clang lets it lead behind the function. */
#define SWITCHING                                                                                  \
	".globl start\nstart: call switching\ncall next\nhlt\n.p2align 4\n"                        \
	"switching: push %rbx\ncmp $2, %edi\nja 1f\nmov %edi, %edi\nlea .Ltable(%rip), %rax\n"     \
	"movslq (%rax,%rdi,4), %rcx\nadd %rax, %rcx\njmp *%rcx\n.Lcase: pop %rbx\nret\n"           \
	"1: pop %rbx\nret\n.Lend: .p2align 4\nnext: push %rbp\nmov %edi, %eax\npop %rbp\nret\n"    \
	".section .rodata\n.p2align 2\n.Ltable: .long .Lcase - .Ltable, .Lend - .Ltable, "         \
	".Lcase - .Ltable\n"

enum { CASE = 40, NEXT = 48 };

TEST(a_case_that_cannot_be_leads_nowhere)
{
	static const struct sample sample = {
		"switching", "gcc -no-pie -nostdlib -static -Wl,-e,start -s -o $OUT $IN", SWITCHING,
		".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, CASE, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(find_rule(&analysed, NEXT, &rule));
	assert_int_equal(rule.cfa_offset, 8);
	analysed_free(&analysed);
}

/* bad() pops its return address, so it has no rule. A jump of worse(), which does the same, also
 * reaches the block behind the call of bad(). */
#define DOUBTFUL                                                                                   \
	".globl start\nstart: call caller\ncall worse\nhlt\n.p2align 4\n"                          \
	"caller: push %rbx\ncall bad\n.Lblock: mov %eax, %eax\nhlt\n.p2align 4\n"                  \
	"bad: pop %rax\npop %rax\nret\n.p2align 4\n"                                               \
	"worse: pop %rax\npop %rax\ntest %eax, %eax\nje .Lblock\nret\n"

enum { CALL_OF_BAD = 17, BLOCK = 22 };

TEST(code_after_a_call_of_an_unknown_function_may_be_another_function)
{
	static const struct sample sample = {
		"doubtful", "gcc -no-pie -nostdlib -static -Wl,-e,start -o $OUT $IN", DOUBTFUL,
		".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, CALL_OF_BAD, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_false(find_rule(&analysed, BLOCK, &rule));
	analysed_free(&analysed);
}

/* fatal(), of another library, does not return, which its name does not say. The function behind
 * the padding does not return either, so it contradicts nothing. */
#define ENDING                                                                                     \
	".globl caller\n.type caller, @function\ncaller: sub $24, %rsp\ntest %edi, %edi\njne 1f\n" \
	"add $24, %rsp\nret\n1: call fatal@PLT\n.p2align 4\n"                                      \
	"hidden: push %rbx\ncall fatal@PLT\nhlt\n"                                                 \
	".globl user\nuser: lea hidden(%rip), %rax\nret\n"

enum { CALL_OF_FATAL = 13, HIDDEN = 32, IN_HIDDEN = 33 };

TEST(a_function_after_padding_is_no_part_of_the_one_before)
{
	static const struct sample sample = {"ending", "gcc -shared -nostdlib -s -o $OUT $IN",
					     ENDING, ".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, CALL_OF_FATAL, &rule));
	assert_int_equal(rule.cfa_offset, 32);
	if (find_rule(&analysed, HIDDEN, &rule))
		assert_int_equal(rule.cfa_offset, 8);
	if (find_rule(&analysed, IN_HIDDEN, &rule))
		assert_int_equal(rule.cfa_offset, 16);
	analysed_free(&analysed);
}

/* The linker writes the begin of the code as entry point of a library. */
#define LIBRARY                                                                                    \
	".globl first\n.type first, @function\nfirst: xor %ebp, %ebp\njmp 1f\n.p2align 4\n"        \
	"1: mov %ebp, %eax\nret\n"

TEST(the_begin_of_a_library_is_no_entry)
{
	static const struct sample sample = {
		"library", "gcc -shared -nostdlib -Wl,-e,first -s -o $OUT $IN", LIBRARY, ".s"};
	struct analysed analysed;
	struct unwind_rule rule;

	analyse_sample(&sample, false, &analysed);
	assert_true(find_rule(&analysed, 0, &rule));
	assert_int_equal(rule.flags & RULE_OUTERMOST, 0);
	assert_int_equal(rule.cfa_offset, 8);
	analysed_free(&analysed);
}

/* Several functions pop two arguments. framed() has a frame pointer, which the function that it
 * calls restores; lost() calls a function that changes rbp. */
#define POPPING                                                                                    \
	".globl popping\n.type popping, @function\npopping: ret $16\n"                             \
	".p2align 4\n.type framed, @function\nframed: push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\n"  \
	"push %rax\npush %rax\ncall *%rcx\nnop\nmov %rbp, %rsp\npop %rbp\nret\n"                   \
	".p2align 4\n.type lost, @function\nlost: push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\n"      \
	"push %rax\npush %rax\ncall changing\nnop\nlea 48(%rsp), %rsp\npop %rbp\nret\n"            \
	".p2align 4\nchanging: mov 8(%rsp), %rbp\nret $16\n.globl framed, lost\n"                  \
	".rept 4\n.p2align 4\npush %rbp\nmov %rsp, %rbp\npop %rbp\nret $16\n.endr\n"

/* The three addresses: the call in framed(), behind this call, and behind the call in lost(). */
TEST(the_depth_after_a_call_is_unknown_where_functions_pop_their_arguments)
{
	static const struct sample sample = {"popping", "gcc -shared -nostdlib -o $OUT $IN",
					     POPPING, ".s"};
	struct code_analysis *analysis;
	struct unwind_rule rule;
	char path[SAMPLE_PATH_BYTES];
	struct code_file *code;
	int file;
	u32 start, at, end;

	sample_build(&sample, path);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(code_file_create(file, NULL, 0, &code), 0);
	assert_int_equal(code_analysis_create(code_file_image(code), &analysis), 0);
	start = code_file_image(code)->sections[0].start;
	at = start + 16 + 10;
	assert_true(code_analysis_next_rule(analysis, &at, at + 1, &rule, &end));
	assert_int_equal(rule.cfa_register, REGISTER_RBP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(frame_state_rule(code_analysis_state(analysis, start + 16 + 12), &rule));
	assert_int_equal(rule.cfa_register, REGISTER_RBP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(!code_analysis_state(analysis, start + 48 + 15) ||
		    !frame_state_rule(code_analysis_state(analysis, start + 48 + 15), &rule));
	code_analysis_free(&analysis);
	code_file_free(&code);
	close(file);
}

/* A function with a table, whose size is mostly `fill`, and a function of 602 bytes without a
 * table. */
#define FILLED                                                                                     \
	".globl tabled\ntabled: .cfi_startproc\n.fill %u, 1, 0x90\nret\n.cfi_endproc\n"            \
	".globl bare\nbare: push %%rbx\n.rept 300\nxor %%eax, %%eax\n.endr\npop %%rbx\nret\n"

static u32 rules_beside(u32 fill)
{
	char path[SAMPLE_PATH_BYTES], source[512];
	struct sample sample = {"filled", "gcc -shared -nostdlib -o $OUT $IN", source, ".s"};
	int result;
	u32 rules;

	snprintf(source, sizeof(source), FILLED, fill);
	sample_build(&sample, path);
	rules = rules_by_code(path, &result);
	assert_int_equal(result, 0);
	return rules;
}

static void read_unanalysed(const char *path, struct code_rows *rows)
{
	int file = open(path, O_RDONLY);

	assert_true(file >= 0);
	*rows = (struct code_rows){};
	assert_int_equal(code_rows_read_unanalysed(file, rows), 0);
	assert_true(code_rows_are_sound(rows));
	close(file);
}

/* The first answer has the rows of the tables, the second one also the rows of code without tables.
 */
TEST(tables_come_before_the_analysis)
{
	struct sample sample = {"filled", "gcc -shared -nostdlib -o $OUT $IN", NULL, ".s"};
	char path[SAMPLE_PATH_BYTES], source[512];
	struct code_rows first, second;

	snprintf(source, sizeof(source), FILLED, 1 << 10);
	sample.source = source;
	sample_build(&sample, path);
	read_unanalysed(path, &first);
	assert_true(first.is_partial);
	assert_true(first.rule_count > 0);
	assert_int_equal(count_analysed(&first), 0);
	assert_int_equal(read_rows(path, &second), 0);
	assert_false(second.is_partial);
	assert_true(count_analysed(&second) > 0);
	for (u32 i = 0; i < first.count; i++) {
		const struct unwind_rule *rule = code_rows_rule(&first, first.rows[i].offset);

		if (rule && rule->cfa_kind != CFA_BY_CODE)
			assert_memory_equal(rule, code_rows_rule(&second, first.rows[i].offset),
					    sizeof(*rule));
	}
	code_rows_clear(&first);
	code_rows_clear(&second);
	snprintf(source, sizeof(source), FILLED, 4 << 20);
	sample_build(&sample, path);
	read_unanalysed(path, &first);
	assert_false(first.is_partial);
	code_rows_clear(&first);
}

/* 64 functions with tables, each aligned to 64 bytes: 4 KB of padding, and no other code. */
TEST(padding_alone_is_not_analysed)
{
	static const struct sample sample = {"padded", "gcc -shared -nostdlib -o $OUT $IN",
					     ".rept 64\n.p2align 6\n.cfi_startproc\nret\n"
					     ".cfi_endproc\n.endr\n",
					     ".s"};
	char path[SAMPLE_PATH_BYTES];
	struct code_rows rows;

	sample_build(&sample, path);
	read_unanalysed(path, &rows);
	assert_true(rows.rule_count > 0);
	assert_false(rows.is_partial);
	code_rows_clear(&rows);
}

/* The first table has no row, and says that it is partial. */
TEST(a_program_without_tables_is_partial_at_first)
{
	struct sample sample = {"bare",
				"gcc -O2 $IN -o $OUT && objcopy -R .eh_frame -R .eh_frame_hdr $OUT",
				SOURCE, ".c"};
	char path[SAMPLE_PATH_BYTES];
	struct code_rows rows;

	sample_build(&sample, path);
	read_unanalysed(path, &rows);
	assert_true(rows.is_partial);
	assert_int_equal(rows.count, 0);
	code_rows_clear(&rows);
}

TEST(a_small_part_of_much_code_is_not_analysed)
{
	assert_true(rules_beside(1 << 10) > 0);
	assert_int_equal(rules_beside(4 << 20), 0);
}

/* A table that is made with too little memory says so, and another process makes it anew. */
TEST(an_analysis_takes_a_part_of_the_memory)
{
	struct sample sample = {"bare",
				"gcc -O2 $IN -o $OUT && objcopy -R .eh_frame -R .eh_frame_hdr $OUT",
				SOURCE, ".c"};
	char path[SAMPLE_PATH_BYTES];
	struct code_rows rows;
	int result;

	sample_build(&sample, path);
	memory_limit_of_this_process_set(1 << 10);
	read_unanalysed(path, &rows);
	assert_true(rows.is_partial);
	code_rows_clear(&rows);
	assert_int_equal(rules_by_code(path, &result), 0);
	assert_int_equal(result, -ENOMEM);
	memory_limit_of_this_process_set(UINT64_MAX);
	assert_true(rules_by_code(path, &result) > 0);
	assert_int_equal(result, 0);
}

TEST_GROUP(NULL, sample_folder_teardown)

int main(void)
{
	if (!sample_folder_create())
		return 77;
	return unit_tests_run();
}
