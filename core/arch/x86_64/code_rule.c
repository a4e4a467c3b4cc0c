/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only an interrupted frame can be at any instruction; a frame that made a call is behind the call,
 * with its frame set up. Therefore prologues, 32-bit epilogues and stubs are recognised in
 * interrupted frames only. Other code is read forwards (code_scan); if that fails, and in 32-bit
 * code, it is assumed to keep a frame pointer, which is 0 where stacks begin. 32-bit libraries keep
 * other values in ebp, so 0 alone proves no beginning. Stubs of the PLT
 * (AMD64 supplement, section 5.2; with IBT also .plt.sec) never set up a frame:
 *
 *   PLT0   push GOT+8(%rip); jmp *GOT+16(%rip)      two words on the stack before it, the index too
 *   PLTn   [endbr64]; jmp *slot(%rip); push index; jmp PLT0
 *
 * A jump through memory is the end of a function, or a stub that is one: rsp points to the return
 * address, except in PLT0.
 */
#include <stdbool.h>

#include "arch/code_rule.h"
#include "arch/return_search.h"
#include "arch/x86_64/code_scan.h"

#define CODE_BEFORE 6 /* bytes of struct code that lie before the pc */
#define WORD 8
#define WORDS_BEFORE (NEAR_CODE_BEFORE / WORD)
#define PUSHED_RBP 16 /* a number of words: one word, which is rbp */

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
#define IMMEDIATE_15_SYSCALL 0x050f0000000fULL	 /* the end of either of these */
#define CODE_BEFORE_MASK 0xffffffffffffULL
#define MOV_15_EAX_MASK 0x00ffffffffffffffULL
#define TEST_RAX_JL_JE_RET 0xc301740000c08548ULL /* test %rax, %rax; jl ERROR; je CHILD; ret */
#define TEST_RAX_JL_JE_RET_MASK 0xffffff0000ffffffULL
#define MOV_ESP_DEREF_RET 0xc324048b	     /* for eax; the register is in bits 11 to 13 */
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

CORE_PART void rule_frame_pointer(struct unwind_rule *rule, u32 word, u32 flags)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RBP,
		.cfa_offset = 2 * word,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER | flags,
		.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
	};
}

/* The return address lies `words` above rsp; only rbp may have changed. */
CORE_PART void rule_stack_pointer(struct unwind_rule *rule, u32 words, u32 word, u8 rbp_slot)
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

/* Not 0 if a byte of the word is 0 (Mycroft's test). */
CORE_PART u64 zero_bytes(u64 word)
{
	return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

/* Not 0 if xor %ebp, %ebp begins in the word. */
CORE_PART u64 clears_rbp(u64 word, u64 next)
{
	return zero_bytes((word ^ XOR_EBP_EBP_1) | ((word >> 8 | next << 56) ^ XOR_EBP_EBP_2));
}

/* True at the start of the dynamic linker: mov %rsp, %rdi; call; mov %rax, %r12. */
CORE_PART bool is_linker_start(u64 before, u64 at, bool is_interrupted)
{
	if (!is_interrupted)
		return BYTES_4(before) == MOV_RSP_RDI_CALL && BYTES_3(at) == MOV_RAX_R12;
	return BYTES_4(at) == MOV_RSP_RDI_CALL ||
	       (BYTES_1(at) == CALL && before >> 40 == MOV_RSP_RDI &&
		BYTES_3(at >> 40) == MOV_RAX_R12);
}

/*
 * RULE_ENTRY if stacks begin in the code around the pc, else 0. The arguments are the three words
 * before the pc and the word at it. Stacks begin in code that clears rbp, as _start and clone() do
 * before they call a function, and in the dynamic linker's start. With RULE_UNCALLED: the pc is a
 * return address that no call has pushed, but the creator of the stack (Go's goexit).
 */
CORE_GLOBAL_PART int entry_flag(u64 third, u64 second, u64 last, u64 at, u32 is_interrupted)
{
	if (clears_rbp(third, second) | clears_rbp(second, last) |
	    clears_rbp(last, is_interrupted ? at : 0))
		return RULE_ENTRY;
	if (is_interrupted)
		return clears_rbp(at, 0) || is_linker_start(last, at, true) ? RULE_ENTRY : 0;
	if (!is_behind_call(last))
		return RULE_ENTRY | RULE_UNCALLED;
	return is_linker_start(last, at, false) ? RULE_ENTRY : 0;
}

/*
 * RULE_ENTRY if stacks begin in the 32-bit code around the pc, else 0. glibc's _start clears ebp
 * too far before its call, but ends with hlt behind the call. The dynamic linker's start clears no
 * register.
 */
CORE_PART u32 compat_entry_flag(const struct near_code *near, const struct code *code,
				u32 is_interrupted)
{
	u64 at = code->at, last = near->word[WORDS_BEFORE - 1];

	if (entry_flag(near->word[0], near->word[1], last, at, is_interrupted) == RULE_ENTRY)
		return RULE_ENTRY;
	return !is_interrupted && is_behind_call(last) &&
			       (BYTES_1(at) == HLT ||
				(at & ADD_ESP_MOV_EDI_MASK) == ADD_ESP_MOV_EDI)
		       ? RULE_ENTRY
		       : 0;
}

/* The number of words that a PLT entry or PLT0 has pushed; -1: the code is no stub. */
CORE_PART int stub_words(const struct code *code)
{
	u64 at = code->at;
	u8 push = code->before >> 8; /* five bytes before the pc */

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
 * True in code that gives 32-bit position-independent code its own address: mov (%esp), %REG; ret.
 */
CORE_PART bool is_pc_thunk(u64 at)
{
	return (at & 0xffffc7ff) == MOV_ESP_DEREF_RET;
}

/* True behind the landing pad of a function that only jumps elsewhere. */
CORE_PART bool is_tail_only(const struct code *code)
{
	return BYTES_1(code->at) == JMP && BYTES_4(code->before >> 16) == ENDBR64;
}

/*
 * The words on the stack at the beginning of a function, or at the end of a 32-bit one; -1: the pc
 * is at neither.
 */
CORE_PART int edge_words(const struct code *code)
{
	u64 at = code->at;
	u8 byte_before = code->before >> 40;

	if (BYTES_1(at) == RET || BYTES_1(at) == PUSH_RBP || is_tail_only(code) ||
	    BYTES_4(at) == ENDBR64 || BYTES_4(at) == ENDBR32 || is_pc_thunk(at))
		return 0;
	if (byte_before != PUSH_RBP)
		return -1;
	return BYTES_3(at) == MOV_RSP_RBP || BYTES_2(at) == MOV_ESP_EBP ? PUSHED_RBP : -1;
}

/*
 * True at the beginning of the signal trampoline, to which the handler returns, or behind its
 * system call.
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
CORE_PART void rule_signal_frame(struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_kind = CFA_SIGNAL,
		.cfa_register = REGISTER_RSP,
		.base = RULE_BASE_CFA,
		.flags = RULE_SIGNAL,
	};
}

/*
 * True behind the system call of clone(). No table covers this code, since two threads return from
 * the call.
 */
CORE_PART bool is_clone_return(const struct code *code)
{
	return BYTES_2(code->before >> 32) == SYSCALL_CODE &&
	       (code->at & TEST_RAX_JL_JE_RET_MASK) == TEST_RAX_JL_JE_RET;
}

/*
 * The words above the return address in code where only an interrupted frame can be; -1: the pc is
 * in other code.
 */
CORE_PART int interrupted_words(const struct code *code)
{
	int words = stub_words(code);

	return words < 0 ? edge_words(code) : words;
}

/*
 * Makes the rule in code where only an interrupted frame can be. False: the pc is in other code.
 * The number of words goes through memory: the verifier would follow the rest once for each number.
 */
CORE_PART bool interrupted_rule(struct near_code *near, const struct code *code, u32 word,
				struct unwind_rule *rule)
{
	int words;

	if (word != WORD && BYTES_4(code->at) == VSYSCALL_RETURN) {
		rule_stack_pointer(rule, 3, word, 4);
		return true;
	}
	near->words = interrupted_words(code);
	words = core_reload(near->words);
	if (words == PUSHED_RBP)
		rule_stack_pointer(rule, 1, word, 2);
	else if (words >= 0)
		rule_stack_pointer(rule, words, word, 0);
	else
		return false;
	return true;
}

/*
 * True behind the call of a thread's function, before the thread exits (Go's clone). There is no
 * caller, whatever the registers say: they are those of the thread's creator.
 */
CORE_PART bool is_thread_end(const struct code *code, u32 is_interrupted)
{
	return !is_interrupted && (code->at & MOV_EDI_MOV_60_MASK) == MOV_EDI_MOV_60;
}

/* Chooses the rule of 64-bit code. */
CORE_PART void rule_choose(struct near_code *near, const struct code *code,
			   struct unwind_rule *rule, u32 is_interrupted)
{
	if (is_signal_return(code))
		rule_signal_frame(rule);
	else if (is_thread_end(code, is_interrupted))
		*rule = (struct unwind_rule){.flags = RULE_OUTERMOST};
	else if (!code_scan_rule(near, rule))
		rule_frame_pointer(rule, WORD,
				   entry_flag(near->word[0], near->word[1], near->word[2], code->at,
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
	if (is_interrupted && word == WORD && is_clone_return(&code)) {
		/* clone() has returned 0 to the new thread, which has no caller. */
		rule_stack_pointer(rule, 0, WORD, 0);
		if (!rax)
			rule->flags = RULE_OUTERMOST;
		return 0;
	}
	if (is_interrupted && interrupted_rule(near, &code, word, rule))
		return 1;
	if (word != WORD)
		rule_frame_pointer(rule, word, compat_entry_flag(near, &code, is_interrupted));
	else
		rule_choose(near, &code, rule, is_interrupted);
	return 1;
}

#include "arch/x86_64/code_scan.c"
