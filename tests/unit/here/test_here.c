/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A known chain of calls: each link stores its return address, and the stack must have these
 * addresses. Taken from threads, from signal handlers on another stack, through libc and through
 * code without a file.
 */
#include "stackmap/here.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit_test.h"

#define DEPTH STACKMAP_HERE_DEPTH_MAX
#define ALTERNATE_BYTES (256U << 10)
#define PAGE 4096U

/* The frames of a walk and the expected ones, both innermost first. */
struct chain {
	uint64_t frame[DEPTH];
	int depth;
	uint64_t expected[DEPTH];
	int links;
	int levels; /* of recursion */
	void (*innermost)(struct chain *);
};

static __thread struct chain *current;

static void walk_own_stack_into_chain(struct chain *chain)
{
	chain->depth = stackmap_here(chain->frame, DEPTH);
}

__attribute__((noinline)) static void descend(struct chain *chain, int level)
{
	volatile char room[64 + 16 * (level & 3)]; /* gives each level a different CFA rule */

	room[0] = level;
	chain->expected[level] = (uint64_t)__builtin_return_address(0);
	if (level)
		descend(chain, level - 1);
	else
		chain->innermost(chain);
	__asm__ volatile("" : : "m"(room[0]));
}

/* expected[] goes from the innermost descend() outwards, and is part of frame[] at some offset. */
static void assert_chain(const struct chain *chain)
{
	int at = 0;

	while (at < chain->depth && chain->frame[at] != chain->expected[0])
		at++;
	assert_in_range(chain->depth, at + chain->links, DEPTH);
	assert_memory_equal(&chain->frame[at], chain->expected,
			    chain->links * sizeof(*chain->expected));
}

static void walk(struct chain *chain)
{
	chain->links = chain->levels + 1;
	descend(chain, chain->levels);
	assert_chain(chain);
}

TEST(each_frame_is_where_its_function_goes_on)
{
	struct chain chain = {.levels = 40, .innermost = walk_own_stack_into_chain};

	walk(&chain);
}

__attribute__((noinline)) static int call(uint64_t *frames, int max, uint64_t *after)
{
	int depth = stackmap_here(frames, max);

	*after = (uint64_t)__builtin_return_address(0);
	return depth;
}

TEST(the_innermost_frame_is_the_caller)
{
	uint64_t frames[DEPTH], after = 0;

	assert_in_range(call(frames, DEPTH, &after), 3, DEPTH);
	assert_in_range(frames[0], (uint64_t)call, (uint64_t)call + 200);
	assert_int_equal(frames[1], after);
}

TEST(the_limit_is_kept)
{
	uint64_t all[DEPTH], some[3] = {0, 0, 7}, after;

	call(all, DEPTH, &after);
	assert_int_equal(call(some, 2, &after), 2);
	assert_int_equal(some[0], all[0]);
	assert_int_equal(some[2], 7);
	assert_int_equal(stackmap_here(some, 0), -EINVAL);
	assert_int_equal(stackmap_here(some, -1), -EINVAL);
}

TEST(a_deep_stack_is_cut)
{
	struct chain chain = {.levels = DEPTH - 1, .innermost = walk_own_stack_into_chain};

	chain.links = DEPTH - 8;
	descend(&chain, chain.levels);
	assert_int_equal(chain.depth, DEPTH);
	assert_chain(&chain);
}

static void on_signal(int number)
{
	int saved = errno = 1234;

	(void)number;
	walk_own_stack_into_chain(current);
	current->frame[0] = errno == saved ? current->frame[0] : 0;
}

static void interrupt(struct chain *chain)
{
	current = chain;
	raise(SIGUSR1);
}

/* Gives this thread an alternate signal stack. */
static void *enter_alternate(void)
{
	stack_t stack = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	return stack.ss_sp;
}

static void leave_alternate(void *memory)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	free(memory);
}

TEST(a_signal_handler_sees_what_it_interrupted)
{
	struct chain chain = {.levels = 12, .innermost = interrupt};
	void *memory = enter_alternate();

	walk(&chain);
	leave_alternate(memory);
}

/* A signal interrupts a loop at any instruction: the handler's stack must have the calls that led
 * to the loop. */
static atomic_bool stop;
static atomic_int taken;

static void on_interrupt(int number)
{
	(void)number;
	if (!current)
		return;
	walk_own_stack_into_chain(current);
	assert_chain(current);
	if (++taken == 300)
		stop = true;
}

__attribute__((noinline)) static unsigned int leaf(unsigned int number)
{
	return (number >> 1) ^ (-(number & 1) & 0xedb88320U);
}

static void work(struct chain *chain)
{
	unsigned int number = 1;

	current = chain;
	while (!stop)
		number = leaf(number);
	current = NULL;
	__asm__ volatile("" : : "r"(number));
}

static void *interrupt_until_stopped(void *thread)
{
	while (!stop) {
		pthread_kill(*(pthread_t *)thread, SIGUSR2);
		sched_yield();
	}
	return NULL;
}

TEST(any_instruction_may_be_interrupted)
{
	struct chain chain = {.levels = 5, .innermost = work};
	struct sigaction action = {.sa_handler = on_interrupt};
	pthread_t self = pthread_self(), other;

	stop = false;
	taken = 0;
	current = NULL; /* the first signal may come before work() begins */
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	assert_int_equal(pthread_create(&other, NULL, interrupt_until_stopped, &self), 0);
	chain.links = chain.levels + 1;
	descend(&chain, chain.levels);
	pthread_join(other, NULL);
	assert_in_range(taken, 300, 1000000);
}

static void *walk_often(void *arg)
{
	struct chain *chain = arg;
	void *memory = enter_alternate();

	for (int i = 0; i < 200; i++) {
		chain->levels = i % 30;
		walk(chain);
	}
	leave_alternate(memory);
	return NULL;
}

TEST(threads_do_not_disturb_each_other)
{
	struct chain chain[4] = {};
	pthread_t thread[4];

	for (int i = 0; i < 4; i++) {
		chain[i].innermost = i % 2 ? interrupt : walk_own_stack_into_chain;
		assert_int_equal(pthread_create(&thread[i], NULL, walk_often, &chain[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static int compare(const void *a, const void *b)
{
	(void)a, (void)b;
	walk_own_stack_into_chain(current);
	return 0;
}

static void sort(struct chain *chain)
{
	int numbers[2] = {1, 2};

	current = chain;
	qsort(numbers, 2, sizeof(*numbers), compare);
}

TEST(libraries_are_walked_through)
{
	struct chain chain = {.levels = 3, .innermost = sort};

	walk(&chain);
}

/* Code that no file holds. */
#ifdef __aarch64__
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #16; ret */
static const uint32_t generated[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0020, 0xa8c17bfd, 0xd65f03c0};
#else
/* push %rbp; mov %rsp, %rbp; call *%rsi; pop %rbp; ret */
static const uint8_t generated[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
#endif

static void run_generated(struct chain *chain)
{
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(code != MAP_FAILED);
	memcpy(code, generated, sizeof(generated));
	assert_int_equal(mprotect(code, PAGE, PROT_READ | PROT_EXEC), 0);
	__builtin___clear_cache(code, (char *)code + sizeof(generated));
	((void (*)(struct chain *, void (*)(struct chain *)))code)(chain,
								   walk_own_stack_into_chain);
	munmap(code, PAGE);
}

TEST(generated_code_is_walked_through)
{
	struct chain chain = {.levels = 3, .innermost = run_generated};

	walk(&chain);
}

/* The caller's return address is replaced while the stack is walked. */
__attribute__((noinline)) static int walk_damaged(uint64_t *frames, uint64_t address)
{
	volatile uint64_t *slot = (uint64_t *)__builtin_frame_address(0) + 1;
	uint64_t saved = *slot;
	int depth;

	*slot = address;
	depth = stackmap_here(frames, DEPTH);
	*slot = saved;
	return depth;
}

TEST(damage_is_the_end_and_no_crash)
{
	const uint64_t damage[] = {0, 1, 0x1234, (uint64_t)&damage, 1ULL << 47, ~0ULL};
	uint64_t frames[DEPTH];

	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++)
		assert_int_equal(walk_damaged(frames, damage[i]), 1);
}
