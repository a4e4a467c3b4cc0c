/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that imitates OpenJDK's virtual machine: the tables of libjvm, a heap of code, and
 * frames, methods and classes that the process forges. Makes so many getppid() calls, each from
 * code that it has written to anonymous memory. The name of the thread is the mode.
 *
 *   cycle     frames, segments and scopes form circles, or the heaps have no end
 *   deep      the stack has a frame of the interpreter for each 80 bytes
 *   forged    one address leads to memory that is not mapped, of the kernel, or of another object
 *   long      the names have 65,535 bytes
 *   twins     two processes with equal addresses, lengths and hashes, and different names
 *   plain     one method
 *   stub      the block has a name, and is not the code of a method
 *   wait      no calls; ends by a signal
 *
 * usage: java_imitation MODE CALLS
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHIFT 7 /* a segment has 128 bytes */
#define SEGMENTS 32
#define LONG_BYTES 0xffff
#define DEEP_FRAMES 50000
#define FRAME_WORDS 10

/* --- the machine's data --- */

struct text {
	uint16_t references, hash, length;
	char characters[];
};

struct array {
	uint32_t length;
	uint8_t byte[8];
};

struct class
{
	long first;
	struct pool *pool;
	struct text *name;
};

struct pool {
	struct array *tags;
	struct class *holder;
	uint16_t file, unused;
	uint32_t count;
	struct text *constant[4];
	long rest[8];
};

struct constants {
	struct pool *pool;
	uint16_t code_bytes, name;
	uint32_t unused;
	uint8_t code[64];
};

struct method {
	long first;
	struct constants *constants;
};

struct space {
	long first;
	void *low, *high;
};

struct heap {
	struct space memory, segments;
	int shift;
};

struct heaps {
	uint32_t count;
	struct heap **heap;
};

struct queue {
	void *code;
	uint32_t bytes;
};

/* The header of a block of code, the block's object, and its code. */
struct block {
	uint64_t segments;
	uint64_t used;
	const char *kind;
	uint32_t frame_words, complete;
	uint8_t *code;
	struct method *method;
	uint8_t *scopes;
	uint32_t methods, places, places_end, unused;
	uint8_t compiled[128], interpreted[128];
	struct {
		int distance;
		uint32_t scope, rest[2];
	} place[2];
	struct method *method_of_scope[2];
	uint8_t scope[64];
};

#define BLOB offsetof(struct block, kind)
#define IN_BLOB(member) (offsetof(struct block, member) - BLOB)

static struct heaps *heaps;
static struct queue *interpreter;
static void *called;

struct member {
	const char *type, *name, *kind;
	long is_static, offset;
	void *address;
};

struct type {
	const char *name;
	long rest[3], size;
};

static struct member members[] = {
	{"CodeCache", "_heaps", "", 1, 0, &heaps},
	{"AbstractInterpreter", "_code", "", 1, 0, &interpreter},
	{"StubRoutines", "_call_stub_return_address", "", 1, 0, &called},
	{"CodeHeap", "_memory", "", 0, offsetof(struct heap, memory), NULL},
	{"CodeHeap", "_segmap", "", 0, offsetof(struct heap, segments), NULL},
	{"CodeHeap", "_log2_segment_size", "", 0, offsetof(struct heap, shift), NULL},
	{"GrowableArrayBase", "_len", "", 0, offsetof(struct heaps, count), NULL},
	{"GrowableArray<int>", "_data", "", 0, offsetof(struct heaps, heap), NULL},
	{"VirtualSpace", "_low", "", 0, offsetof(struct space, low), NULL},
	{"VirtualSpace", "_high", "", 0, offsetof(struct space, high), NULL},
	{"HeapBlock::Header", "_used", "", 0, offsetof(struct block, used), NULL},
	{"StubQueue", "_stub_buffer", "", 0, offsetof(struct queue, code), NULL},
	{"StubQueue", "_buffer_limit", "", 0, offsetof(struct queue, bytes), NULL},
	{"Method", "_constMethod", "", 0, offsetof(struct method, constants), NULL},
	{"ConstMethod", "_code_size", "", 0, offsetof(struct constants, code_bytes), NULL},
	{"ConstMethod", "_constants", "", 0, offsetof(struct constants, pool), NULL},
	{"ConstMethod", "_name_index", "", 0, offsetof(struct constants, name), NULL},
	{"CodeBlob", "_code_begin", "", 0, IN_BLOB(code), NULL},
	{"CodeBlob", "_frame_size", "", 0, IN_BLOB(frame_words), NULL},
	{"CodeBlob", "_frame_complete_offset", "", 0, IN_BLOB(complete), NULL},
	{"CodeBlob", "_name", "", 0, IN_BLOB(kind), NULL},
	{"CompiledMethod", "_method", "", 0, IN_BLOB(method), NULL},
	{"CompiledMethod", "_scopes_data_begin", "", 0, IN_BLOB(scopes), NULL},
	{"nmethod", "_metadata_offset", "", 0, IN_BLOB(methods), NULL},
	{"nmethod", "_scopes_pcs_offset", "", 0, IN_BLOB(places), NULL},
	{"nmethod", "_dependencies_offset", "", 0, IN_BLOB(places_end), NULL},
	{"nmethod", "_stack_traversal_mark", "", 0, 0, NULL},
	{"PcDesc", "_pc_offset", "", 0, 0, NULL},
	{"PcDesc", "_scope_decode_offset", "", 0, 4, NULL},
	{"Symbol", "_hash_and_refcount", "", 0, 0, NULL},
	{"Symbol", "_length", "", 0, offsetof(struct text, length), NULL},
	{"Symbol", "_body[0]", "", 0, offsetof(struct text, characters), NULL},
	{"InstanceKlass", "_constants", "", 0, offsetof(struct class, pool), NULL},
	{"Klass", "_name", "", 0, offsetof(struct class, name), NULL},
	{"ConstantPool", "_tags", "", 0, offsetof(struct pool, tags), NULL},
	{"ConstantPool", "_pool_holder", "", 0, offsetof(struct pool, holder), NULL},
	{"ConstantPool", "_source_file_name_index", "", 0, offsetof(struct pool, file), NULL},
	{"ConstantPool", "_length", "", 0, offsetof(struct pool, count), NULL},
	{"Array<u1>", "_data", "", 0, offsetof(struct array, byte), NULL},
	{NULL, NULL, NULL, 0, 0, NULL},
};

static struct type types[] = {
	{"HeapBlock", {0}, BLOB},
	{"ConstMethod", {0}, offsetof(struct constants, code)},
	{"ConstantPool", {0}, offsetof(struct pool, constant)},
	{"PcDesc", {0}, 16},
	{NULL, {0}, 0},
};

struct member *gHotSpotVMStructs = members;
struct type *gHotSpotVMTypes = types;

void JNI_CreateJavaVM(void);
void enter(void *code, void (*call)(void), void *frame, void *thread);

void JNI_CreateJavaVM(void)
{
}

__asm__(".globl enter\n"
	".type enter, @function\n"
	"enter:\n"
	".cfi_startproc\n"
	"push %r15\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %r15, -16\n"
	"mov %rcx, %r15\n"
	"call *%rdi\n"
	"pop %r15\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size enter, . - enter\n");

/* push %rbp; sub $16, %rsp; call *%rsi; add $16, %rsp; pop %rbp; ret */
static const uint8_t compiled[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd6,
				   0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
#define COMPILED_CALLED 7 /* the place after the call */
#define COMPILED_WORDS 4

/* push %rbp; mov %rdx, %rbp; call *%rsi; pop %rbp; ret */
static const uint8_t interpreted[] = {0x55, 0x48, 0x89, 0xd5, 0xff, 0xd6, 0x5d, 0xc3};
#define INTERPRETED_CALLED 6

static void *functions[] = {(void *)JNI_CreateJavaVM};
static void *thread[] = {functions};

static struct heap heap;
static struct heap *heap_address = &heap;
static uint8_t segments[SEGMENTS];
static struct heaps all_heaps = {1, &heap_address};
static struct queue queue;
static struct block *block;

static struct array tags = {4, {0, 1, 1, 1}};
static struct class class;
static struct pool pool = {&tags, &class, 3, 0, 4, {0}, {0}};
static struct constants constants = {&pool, sizeof(constants.code), 1, 0, {0}};
static struct method method = {0, &constants};

static struct text *text_make(const char *characters, size_t length)
{
	struct text *text = calloc(1, sizeof(*text) + LONG_BYTES + 1);

	if (!text)
		exit(1);
	text->hash = 1;
	text->length = length;
	memcpy(text->characters, characters, length);
	return text;
}

static int machine_make(void)
{
	block = mmap(NULL, SEGMENTS << SHIFT, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return -1;
	memcpy(block->compiled, compiled, sizeof(compiled));
	memcpy(block->interpreted, interpreted, sizeof(interpreted));
	block->segments = SEGMENTS;
	block->used = 1;
	block->kind = "nmethod\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	block->frame_words = COMPILED_WORDS;
	block->code = block->compiled;
	block->method = &method;
	block->scopes = block->scope;
	block->methods = IN_BLOB(method_of_scope);
	block->places = IN_BLOB(place);
	block->places_end = IN_BLOB(method_of_scope);
	block->method_of_scope[0] = &method;
	/* one scope at byte 1: no caller, the first method */
	block->scope[2] = 1;
	block->place[0].distance = COMPILED_CALLED;
	block->place[0].scope = 1;
	block->place[1].distance = 1000;
	heap.memory = (struct space){0, block, (char *)block + (SEGMENTS << SHIFT)};
	heap.segments = (struct space){0, segments, segments + SEGMENTS};
	heap.shift = SHIFT;
	for (int i = 0; i < SEGMENTS; i++)
		segments[i] = i;
	heaps = &all_heaps;
	queue = (struct queue){block->interpreted, sizeof(block->interpreted)};
	interpreter = &queue;
	class = (struct class){0, &pool, text_make("Forged", 6)};
	pool.constant[1] = text_make("by_hand", 7);
	pool.constant[2] = pool.constant[3] = text_make("imitation.java", 14);
	return 0;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void enter_compiled(void)
{
	enter(block->compiled, call, NULL, thread);
}

/* Makes a frame of the interpreter at &words[8], which returns to the interpreter with rsp behind
 * the frame. */
static void frame_make(uintptr_t *words, uintptr_t *outer)
{
	words[0] = (uintptr_t)constants.code;
	words[5] = (uintptr_t)&method;
	words[7] = (uintptr_t)&words[FRAME_WORDS];
	words[8] = (uintptr_t)&outer[8];
	words[9] = (uintptr_t)&block->interpreted[INTERPRETED_CALLED];
}

static void run_deep(unsigned count)
{
	uintptr_t frames[DEEP_FRAMES * FRAME_WORDS];

	for (unsigned i = 0; i < DEEP_FRAMES; i++)
		frame_make(&frames[i * FRAME_WORDS], &frames[(i + 1) % DEEP_FRAMES * FRAME_WORDS]);
	while (count--)
		enter(block->interpreted, call, &frames[8], thread);
}

static void run_cycle(unsigned number)
{
	uintptr_t frames[2 * FRAME_WORDS];

	if (number % 4 == 0) {
		frame_make(frames, frames);
		enter(block->interpreted, call, &frames[8], thread);
	} else if (number % 4 == 1) {
		memset(segments, 1, sizeof(segments));
		enter_compiled();
		for (int i = 0; i < SEGMENTS; i++)
			segments[i] = i;
	} else if (number % 4 == 2) {
		/* the second heap and all further ones are other data */
		all_heaps.count = ~0U;
		heap.memory.high = block;
		enter_compiled();
		heap.memory.high = (char *)block + (SEGMENTS << SHIFT);
		all_heaps.count = 1;
	} else {
		/* the scope is its own caller's */
		block->scope[1] = 1;
		enter_compiled();
		block->scope[1] = 0;
	}
}

/* Sets one address of the machine to one that leads nowhere, or to another object. */
static void run_forged(unsigned number)
{
	void **const places[] = {
		(void **)&heaps,
		(void **)&interpreter,
		(void **)&heap_address,
		(void **)&all_heaps.heap,
		(void **)&heap.memory.low,
		(void **)&heap.segments.low,
		(void **)&block->kind,
		(void **)&block->code,
		(void **)&block->method,
		(void **)&block->scopes,
		(void **)&block->method_of_scope[0],
		(void **)&method.constants,
		(void **)&constants.pool,
		(void **)&pool.holder,
		(void **)&pool.tags,
		(void **)&pool.constant[1],
		(void **)&pool.constant[3],
		(void **)&class.pool,
		(void **)&class.name,
		(void **)&functions[0],
		(void **)&thread[0],
	};
	static const uintptr_t addresses[] = {0,	  8, 0xffffffff81000000, 0x7ffffffff000,
					      0xdead0000, 0};
	void **place = places[number / 6 % (sizeof(places) / sizeof(places[0]))];
	void *kept = *place;

	*place = number % 6 == 5 ? (void *)segments : (void *)addresses[number % 6];
	enter_compiled();
	*place = kept;
}

static int run(const char *mode, unsigned calls)
{
	if (!strcmp(mode, "long")) {
		memset(pool.constant[1]->characters, 'x', LONG_BYTES);
		pool.constant[1]->length = LONG_BYTES;
	}
	if (!strcmp(mode, "stub"))
		block->kind = "Imitated stub\0\0\0\0\0\0\0\0\0\0";
	if (!strcmp(mode, "deep")) {
		run_deep(calls);
		return 0;
	}
	for (unsigned i = 0; i < calls; i++)
		if (!strcmp(mode, "cycle"))
			run_cycle(i);
		else if (!strcmp(mode, "forged"))
			run_forged(i);
		else
			enter_compiled();
	return 0;
}

/* Both processes run the same method, whose name each has overwritten. */
static int run_twins(unsigned calls)
{
	pid_t child = fork();
	int status = 1;

	if (child < 0)
		return 1;
	memcpy(pool.constant[1]->characters, child ? "first__" : "second_", 7);
	prctl(PR_SET_NAME, child ? "first" : "second");
	run("twins", calls);
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
