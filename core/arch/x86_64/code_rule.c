/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only an interrupted frame can be at any instruction. A frame that made a call is after the call
 * instruction, with its frame set up. Therefore prologues, 32-bit epilogues and stubs are
 * recognised in interrupted frames only. Other code is read forwards (code_scan). If that fails,
 * and in 32-bit code, the code is assumed to keep a frame pointer, which is 0 where stacks begin.
 * 32-bit libraries keep other values in ebp, so an ebp of 0 alone does not prove that the stack
 * begins. Stubs of the PLT (AMD64 supplement, section 5.2; with IBT also .plt.sec) never set up a
 * frame:
 *
 *   PLT0   push GOT+8(%rip); jmp *GOT+16(%rip)      the stack has two more words: the index too
 *   PLTn   [endbr64]; jmp *slot(%rip); push index; jmp PLT0
 *
 * A jump through memory is the end of a function, or a stub that consists of this jump: rsp points
 * to the return address, except in PLT0.
 */
#include <stdbool.h>

#include "arch/code_rule.h"
#include "arch/return_search.h"

/*
 * Makes the rule of a pc by reading the code in scan->word from the pc on. 0: the scan did not
 * reach the end of the function.
 */
CORE_GLOBAL int code_scan_make_rule(struct near_code *scan, struct unwind_rule *rule);

#define CODE_BEFORE 6 /* number of code bytes before the pc in struct code */
#define WORD 8
#define WORDS_BEFORE (NEAR_CODE_BEFORE / WORD)
/* In place of a number of words: one word was pushed, and this word is rbp. */
#define PUSHED_RBP 16

#define BYTES_1(code) ((u8)(code))
#define BYTES_2(code) ((u16)(code))
#define BYTES_3(code) ((u32)(code)&0xffffff)
#define BYTES_4(code) ((u32)(code))

/* Instructions as little-endian numbers. */
#define ENDBR64 0xfa1e0ff3
#define ENDBR32 0xfb1e0ff3
#define PUSH_RBP 0x55
#define MOV_RSP_RBP 0xe58948
#define MOV_ESP_EBP 0xe589
#define RET 0xc3
#define JMP_MEMORY 0x25ff
#define BND_JMP_MEMORY 0x25fff2
#define PUSH_MEMORY 0x35ff
#define PUSH_IMMEDIATE 0x68
#define JMP 0xe9
#define CALL 0xe8
#define HLT 0xf4
#define MOV_RSP_RDI 0xe78948
#define MOV_RSP_RDI_CALL 0xe8e78948
#define MOV_RAX_R12 0xc48949
#define BND_JMP 0xe9f2
#define MOV_15_RAX_SYSCALL 0x0f0000000fc0c748ULL /* mov $15, %rax; the first byte of syscall */
#define MOV_15_EAX_SYSCALL 0x00050f0000000fb8ULL /* mov $15, %eax; syscall */
#define IMMEDIATE_15_SYSCALL 0x050f0000000fULL	 /* the last bytes of both MOV_15_..._SYSCALL */
#define CODE_BEFORE_MASK 0xffffffffffffULL
#define MOV_15_EAX_MASK 0x00ffffffffffffffULL
#define TEST_RAX_JL_JE_RET 0xc301740000c08548ULL /* test %rax, %rax; jl ERROR; je CHILD; ret */
#define TEST_RAX_JL_JE_RET_MASK 0xffffff0000ffffffULL
#define MOV_ESP_DEREF_RET 0xc324048b /* mov (%esp), %eax; ret. The register is in bits 11 to 13 */
#define MOV_EDI_MOV_60 0x003cb800000000bfULL /* mov STATUS, %edi; mov $60, %eax: exit() */
#define MOV_EDI_MOV_60_MASK 0xffffff00000000ffULL
#define ADD_ESP_MOV_EDI 0xc78910c483ULL /* add $16, %esp; mov %eax, %edi */
#define ADD_ESP_MOV_EDI_MASK 0xffffffffffULL
#define VSYSCALL_RETURN 0xc3595a5d /* pop %ebp; pop %edx; pop %ecx; ret */

/* The eight bytes at the pc, and the six bytes before it. */
struct code {
	u64 at;
	u64 before;
};

CORE_PART void make_frame_pointer_rule(struct unwind_rule *rule, u32 word, u32 flags)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RBP,
		.cfa_offset = 2 * word,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER | flags,
		.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
	};
}

/*
 * The rule of a frame whose return address lies `words` words above rsp, and in which only rbp may
 * have changed.
 */
CORE_PART void make_stack_pointer_rule(struct unwind_rule *rule, u32 words, u32 word, u8 rbp_slot)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = (words + 1) * word,
		.base = RULE_BASE_CFA,
		.slot = {[SLOT_RBP] = rbp_slot, [SLOT_RETURN] = 1},
	};
}

#define EACH_BYTE(byte) (0x0101010101010101ULL * (byte))
#define XOR_EBP_EBP_1 EACH_BYTE(0x31)
#define XOR_EBP_EBP_2 EACH_BYTE(0xed)

/* Not 0 if the instruction xor %ebp, %ebp begins in the word. */
CORE_PART u64 has_instruction_clearing_ebp(u64 word, u64 next)
{
	u64 differ = (word ^ XOR_EBP_EBP_1) | ((word >> 8 | next << 56) ^ XOR_EBP_EBP_2);

	/* Mycroft's test: not 0 if one of the bytes is 0 */
	return (differ - EACH_BYTE(1)) & ~differ & EACH_BYTE(0x80);
}

/* True if the pc is at the start of the dynamic linker: mov %rsp, %rdi; call; mov %rax, %r12. */
CORE_PART bool is_pc_at_dynamic_linker_start(u64 before, u64 at, bool is_interrupted)
{
	if (!is_interrupted)
		return BYTES_4(before) == MOV_RSP_RDI_CALL && BYTES_3(at) == MOV_RAX_R12;
	return BYTES_4(at) == MOV_RSP_RDI_CALL ||
	       (BYTES_1(at) == CALL && before >> 40 == MOV_RSP_RDI &&
		BYTES_3(at >> 40) == MOV_RAX_R12);
}

/*
 * RULE_ENTRY if stacks begin in the code around the pc, else 0. The arguments are the three words
 * before the pc and the word at the pc. Stacks begin in code that clears rbp, as _start and clone()
 * do before they call a function, and in the dynamic linker's start. RULE_UNCALLED is added if the
 * pc is a return address that was not pushed by a call, but by the creator of the stack (Go's
 * goexit).
 */
CORE_GLOBAL_PART int flag_if_stack_begins_at_code(u64 third, u64 second, u64 last, u64 at,
						  u32 is_interrupted)
{
	if (has_instruction_clearing_ebp(third, second) |
	    has_instruction_clearing_ebp(second, last) |
	    has_instruction_clearing_ebp(last, is_interrupted ? at : 0))
		return RULE_ENTRY;
	if (is_interrupted)
		return has_instruction_clearing_ebp(at, 0) ||
				       is_pc_at_dynamic_linker_start(last, at, true)
			       ? RULE_ENTRY
			       : 0;
	if (!is_after_call(last))
		return RULE_ENTRY | RULE_UNCALLED;
	return is_pc_at_dynamic_linker_start(last, at, false) ? RULE_ENTRY : 0;
}

/*
 * RULE_ENTRY if stacks begin in the 32-bit code around the pc, else 0. glibc's _start clears ebp
 * too far before its call, but has hlt after the call. The dynamic linker's start clears no
 * register.
 */
CORE_PART u32 flag_if_stack_begins_at_32_bit_code(const struct near_code *near,
						  const struct code *code, u32 is_interrupted)
{
	u64 at = code->at, last = near->word[WORDS_BEFORE - 1];

	if (flag_if_stack_begins_at_code(near->word[0], near->word[1], last, at, is_interrupted) ==
	    RULE_ENTRY)
		return RULE_ENTRY;
	return !is_interrupted && is_after_call(last) &&
			       (BYTES_1(at) == HLT ||
				(at & ADD_ESP_MOV_EDI_MASK) == ADD_ESP_MOV_EDI)
		       ? RULE_ENTRY
		       : 0;
}

/* The number of words that a PLT entry or PLT0 has pushed; -1: the pc is not in a PLT stub. */
CORE_PART int words_pushed_by_stub(const struct code *code)
{
	u64 at = code->at;
	u8 push = code->before >> 8; /* the byte that is five bytes before the pc */

	if (BYTES_2(at) == JMP_MEMORY || BYTES_3(at) == BND_JMP_MEMORY)
		return BYTES_2(code->before) == PUSH_MEMORY ? 2 : 0;
	if (BYTES_2(at) == PUSH_MEMORY)
		return 1;
	if (BYTES_1(at) == PUSH_IMMEDIATE &&
	    (BYTES_1(at >> 40) == JMP || BYTES_2(at >> 40) == BND_JMP))
		return 0;
	if ((BYTES_1(at) == JMP || BYTES_2(at) == BND_JMP) && push == PUSH_IMMEDIATE)
		return 1;
	return -1;
}

/*
 * The number of words that the function has pushed, at the beginning of a function or at the end of
 * a 32-bit one; -1: the pc is at neither.
 */
CORE_PART int pushed_words_at_function_edge(const struct code *code)
{
	u64 at = code->at;
	u8 byte_before = code->before >> 40;

	/* Also at the jump of a function that is only a landing pad (endbr64) and a jump elsewhere,
	 * and in a function with which 32-bit position-independent code gets its own address: mov
	 * (%esp), %REG; ret. */
	if (BYTES_1(at) == RET || BYTES_1(at) == PUSH_RBP ||
	    (BYTES_1(code->at) == JMP && BYTES_4(code->before >> 16) == ENDBR64) ||
	    BYTES_4(at) == ENDBR64 || BYTES_4(at) == ENDBR32 ||
	    (at & 0xffffc7ff) == MOV_ESP_DEREF_RET)
		return 0;
	if (byte_before != PUSH_RBP)
		return -1;
	return BYTES_3(at) == MOV_RSP_RBP || BYTES_2(at) == MOV_ESP_EBP ? PUSHED_RBP : -1;
}

/*
 * True at the beginning of the signal trampoline, to which the handler returns, or directly after
 * its system call.
 */
CORE_PART bool is_signal_return(const struct code *code)
{
	return code->at == MOV_15_RAX_SYSCALL ||
	       (code->at & MOV_15_EAX_MASK) == MOV_15_EAX_SYSCALL ||
	       (code->before & CODE_BEFORE_MASK) == IMMEDIATE_15_SYSCALL;
}

/*
 * The rule of the signal trampoline: when the handler has returned, rsp points to the kernel's
 * ucontext.
 */
CORE_PART void make_signal_frame_rule(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_kind = CFA_SIGNAL,
		.cfa_register = REGISTER_RSP,
		.base = RULE_BASE_CFA,
		.flags = RULE_SIGNAL,
	};
}

/*
 * Makes the rule if the pc is at an instruction where only an interrupted frame can be. False: the
 * pc is in other code. The number of words is passed in memory: the verifier would follow the rest
 * once for each number.
 */
CORE_PART bool make_interrupted_rule(struct near_code *near, const struct code *code, u32 word,
				     struct unwind_rule *rule)
{
	int words;

	if (word != WORD && BYTES_4(code->at) == VSYSCALL_RETURN) {
		make_stack_pointer_rule(rule, 3, word, 4);
		return true;
	}
	words = words_pushed_by_stub(code);
	near->words = words < 0 ? pushed_words_at_function_edge(code) : words;
	words = core_reload(near->words);
	if (words == PUSHED_RBP)
		make_stack_pointer_rule(rule, 1, word, 2);
	else if (words >= 0)
		make_stack_pointer_rule(rule, words, word, 0);
	else
		return false;
	return true;
}

/*
 * True directly after the call of a thread's function, before the thread exits (Go's clone). The
 * frame is the outermost one: the registers are still those of the thread's creator, and the caller
 * that they give is the creator's.
 */
CORE_PART bool is_after_call_of_thread_function(const struct code *code, u32 is_interrupted)
{
	return !is_interrupted && (code->at & MOV_EDI_MOV_60_MASK) == MOV_EDI_MOV_60;
}

/* Makes the rule of a pc in 64-bit code. */
CORE_PART void make_rule_of_64_bit_code(struct near_code *near, const struct code *code,
					struct unwind_rule *rule, u32 is_interrupted)
{
	if (is_signal_return(code))
		make_signal_frame_rule(rule);
	else if (is_after_call_of_thread_function(code, is_interrupted))
		*rule = (struct unwind_rule){.flags = RULE_OUTERMOST};
	else if (!code_scan_make_rule(near, rule))
		make_frame_pointer_rule(rule, WORD,
					flag_if_stack_begins_at_code(near->word[0], near->word[1],
								     near->word[2], code->at,
								     is_interrupted));
}

CORE_GLOBAL int code_rule(struct near_code *near, struct unwind_rule *rule, u32 word,
			  u32 is_interrupted, u64 rax)
{
	struct code code;

	if (core_is_null(near) || core_is_null(rule))
		return 0;
	near->at = 0;
	code.at = near->word[WORDS_BEFORE];
	code.before = near->word[WORDS_BEFORE - 1] >> 8 * (WORD - CODE_BEFORE);
	/* Two threads return from clone(), so no table covers the code after this system call. */
	if (is_interrupted && word == WORD && BYTES_2(code.before >> 32) == SYSCALL_CODE &&
	    (code.at & TEST_RAX_JL_JE_RET_MASK) == TEST_RAX_JL_JE_RET) {
		/* clone() has returned 0 to the new thread, which has no caller. */
		make_stack_pointer_rule(rule, 0, WORD, 0);
		if (!rax)
			rule->flags = RULE_OUTERMOST;
		return 0;
	}
	if (is_interrupted && make_interrupted_rule(near, &code, word, rule))
		return 1;
	if (word != WORD)
		make_frame_pointer_rule(
			rule, word,
			flag_if_stack_begins_at_32_bit_code(near, &code, is_interrupted));
	else
		make_rule_of_64_bit_code(near, &code, rule, is_interrupted);
	return 1;
}

/*
 * The scan reads code forwards, from a pc to the end of its function. If all instructions on the
 * way are understood, the place of the return address is known without a table or frame pointer.
 *
 * Compilers keep one stack depth for each instruction, on every path to it. It therefore suffices
 * to follow one path, without taken branches, from the pc to a return, and to sum the changes of
 * the stack pointer. The scan understands the instructions of start-up code (crti.o, crtbegin.o),
 * which has no tables, and of epilogues; any other instruction ends it without a result. A jump
 * counts as the end of a function only where it cannot stay within the function: after a
 * conditional jump or a landing pad, as start-up code has them.
 */

#define INSTRUCTIONS_MAX 24

#define REX_W 0x48
#define REX_B 0x41
#define MODRM_REGISTERS(modrm) (((modrm)&0xc0) == 0xc0)
#define MODRM_IP_RELATIVE(modrm) (((modrm)&0xc7) == 0x05)
#define MODRM_RM(modrm) ((modrm)&7)
#define RM_RSP 4
#define RM_RBP 5

#define NUMBER_RBX 3
#define NUMBER_RBP 5

#define BYTE(code, i) ((u8)((code) >> 8 * (i)))
#define ENDBR64 0xfa1e0ff3

enum opcode {
	OPCODE_ADD = 0x01,
	OPCODE_SUB = 0x29,
	OPCODE_XOR = 0x31,
	OPCODE_CMP = 0x39,
	OPCODE_PUSH_RBP = 0x55,
	OPCODE_POP = 0x58,
	OPCODE_JE = 0x74,
	OPCODE_JNE = 0x75,
	OPCODE_CMP_BYTE = 0x80,
	OPCODE_ARITHMETIC_32 = 0x81,
	OPCODE_ARITHMETIC_8 = 0x83,
	OPCODE_TEST = 0x85,
	OPCODE_MOV = 0x89,
	OPCODE_LOAD = 0x8b,
	OPCODE_LEA = 0x8d,
	OPCODE_SHIFT = 0xc1,
	OPCODE_RET = 0xc3,
	OPCODE_MOV_BYTE = 0xc6,
	OPCODE_SHIFT_1 = 0xd1,
	OPCODE_CALL = 0xe8,
	OPCODE_JMP = 0xe9,
	OPCODE_GROUP_5 = 0xff,
};

#define MODRM_RSP_TO_RBP 0xe5
#define MODRM_ADD_RSP 0xc4
#define MODRM_SUB_RSP 0xec
#define MODRM_CALL_RAX 0xd0
#define MODRM_JMP_RAX 0xe0

/*
 * The length of an instruction that works on registers alone, or on memory relative to the pc; 0:
 * another instruction.
 */
CORE_PART u32 plain_instruction_length(u32 opcode, u8 modrm)
{
	bool is_ip_relative = MODRM_IP_RELATIVE(modrm);

	switch (opcode) {
	case OPCODE_ADD:
	case OPCODE_SUB:
	case OPCODE_XOR:
	case OPCODE_MOV:
	case OPCODE_SHIFT_1:
		return MODRM_REGISTERS(modrm) && MODRM_RM(modrm) != RM_RSP &&
				       MODRM_RM(modrm) != RM_RBP
			       ? 2
			       : 0;
	case OPCODE_CMP:
	case OPCODE_TEST:
		return MODRM_REGISTERS(modrm) ? 2 : 0;
	case OPCODE_SHIFT:
		return MODRM_REGISTERS(modrm) && MODRM_RM(modrm) != RM_RSP ? 3 : 0;
	case OPCODE_LEA:
	case OPCODE_LOAD:
		return is_ip_relative ? 6 : 0;
	case OPCODE_CMP_BYTE:
	case OPCODE_MOV_BYTE:
	case OPCODE_ARITHMETIC_8:
		return is_ip_relative ? 7 : 0;
	}
	return 0;
}

/* True if the instruction ends the function. */
CORE_PART bool is_function_end(const struct near_code *scan, u64 code)
{
	switch (BYTE(code, 0)) {
	case OPCODE_RET:
		return true;
	case OPCODE_JMP:
		return scan->instructions == 1 && scan->bytes == 0;
	case OPCODE_GROUP_5:
		return BYTE(code, 1) == MODRM_JMP_RAX && scan->after_branch;
	}
	return false;
}

/*
 * Interprets a pop. Only the first pop of a register that was saved before the pc gives the
 * caller's value.
 */
CORE_PART void interpret_pop(struct near_code *scan, u32 number)
{
	s64 *popped;

	/* clang 19 knows that number < 16, but the verifier of Linux 6.1 does not */
	core_one_register(number);
	popped = &scan->popped[number & 15];
	if (scan->bytes >= 0 && !*popped)
		*popped = 1 + scan->bytes;
	scan->bytes += 8;
}

/*
 * Interprets an instruction that changes the stack pointer, or sets up a frame with it, and returns
 * its length. 0: another instruction.
 */
CORE_PART u32 interpret_stack_instruction(struct near_code *scan, u64 code, u8 prefix)
{
	u8 opcode = BYTE(code, 0), modrm = BYTE(code, 1);

	if ((opcode & 0xf8) == OPCODE_POP && prefix != REX_W) {
		interpret_pop(scan, (opcode & 7) + (prefix == REX_B ? 8 : 0));
		return 1;
	}
	if (opcode == OPCODE_PUSH_RBP && !prefix) {
		scan->bytes -= 8;
		return 1;
	}
	if (prefix == REX_W && opcode == OPCODE_MOV && modrm == MODRM_RSP_TO_RBP)
		return 2;
	if (prefix != REX_W || opcode != OPCODE_ARITHMETIC_8 ||
	    (modrm != MODRM_ADD_RSP && modrm != MODRM_SUB_RSP))
		return 0;
	scan->bytes += modrm == MODRM_ADD_RSP ? (s8)BYTE(code, 2) : -(s8)BYTE(code, 2);
	return 3;
}

/*
 * Interprets an instruction that the scan understands, and returns its length without the prefix.
 * 0: any other instruction.
 */
CORE_PART u32 interpret_understood_instruction(struct near_code *scan, u64 code, u8 prefix)
{
	u32 length;

	if ((u32)code == ENDBR64)
		return scan->instructions ? 0 : 4;
	if (prefix)
		code >>= 8;
	length = interpret_stack_instruction(scan, code, prefix);
	if (!length && BYTE(code, 0) == OPCODE_CALL)
		length = 5;
	if (!length && BYTE(code, 0) == OPCODE_GROUP_5 && BYTE(code, 1) == MODRM_CALL_RAX)
		length = 2;
	if (!length && (BYTE(code, 0) == OPCODE_JE || BYTE(code, 0) == OPCODE_JNE))
		length = 2;
	if (!length)
		length = plain_instruction_length(BYTE(code, 0), BYTE(code, 1));
	return length;
}

/* Interprets the instruction at the scan's position. 1: the scan ends. */
CORE_GLOBAL_PART int interpret_instruction(struct near_code *scan)
{
	u64 code, is_understood;
	u8 first, prefix;
	u32 at;

	if (core_is_null(scan))
		return 1;
	at = scan->at;
	core_one_register(at);
	if (at > NEAR_CODE_AFTER - NEAR_CODE_STEP)
		return 1;
	code = core_load_u64((const u8 *)scan->word + NEAR_CODE_BEFORE + at);
	scan->has_end = is_function_end(scan, code);
	if (scan->has_end)
		return 1;
	first = BYTE(code, 0);
	prefix = first == REX_W || first == REX_B ? first : 0;
	/* The length is kept in memory, since the verifier would follow the rest of the code once
	 * for each length in a register. */
	scan->length = interpret_understood_instruction(scan, code, prefix);
	is_understood = is_below(0, core_reload(scan->length));
	scan->at += scan->length + (is_understood & is_below(0, prefix));
	scan->after_branch = is_below(first ^ OPCODE_JE, 1);
	scan->instructions++;
	return 1 - is_understood;
}

/* The slot from which a pop restores the register; 0: no pop restores it. */
CORE_PART u8 slot_from_which_pop_restores(const struct near_code *scan, u32 number)
{
	s64 popped = scan->popped[number & 15];

	return popped ? slot_of_word_below_base(popped - 1 - scan->bytes - 8) : 0;
}

CORE_PART void make_rule_from_pops(const struct near_code *scan, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = scan->bytes + 8,
		.base = RULE_BASE_CFA,
		.slot = {slot_from_which_pop_restores(scan, NUMBER_RBX),
			 slot_from_which_pop_restores(scan, NUMBER_RBP),
			 slot_from_which_pop_restores(scan, 12),
			 slot_from_which_pop_restores(scan, 13),
			 slot_from_which_pop_restores(scan, 14),
			 slot_from_which_pop_restores(scan, 15), 1},
	};
}

CORE_GLOBAL int code_scan_make_rule(struct near_code *scan, struct unwind_rule *rule)
{
	if (core_is_null(scan) || core_is_null(rule))
		return 0;
	scan->bytes = 0;
	scan->at = 0;
	scan->instructions = 0;
	scan->has_end = 0;
	scan->after_branch = 0;
	for (u32 i = 0; i < sizeof(scan->popped) / sizeof(*scan->popped); i++)
		scan->popped[i] = 0;
	for (u32 i = 0; i < INSTRUCTIONS_MAX; i++)
		if (interpret_instruction(scan))
			break;
	if (!(scan->has_end && scan->bytes >= 0 && (u64)scan->bytes % SLOT_WORD == 0))
		return 0;
	make_rule_from_pops(scan, rule);
	return 1;
}
