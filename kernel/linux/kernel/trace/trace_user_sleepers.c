// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * User stacks of tasks that do not return to user space before tracing stops.
 *
 * A task that sleeps, or was preempted, is unwound from here by the task that
 * stops tracing. A request is answered once, by the side that claims it.
 * Pages that are not in memory are not faulted in, and the mmap lock is tried,
 * because another task may hold it while it waits for I/O. After 100 ms the
 * remaining tasks are answered as "running".
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_user_stack_internal.h"

#define CLOSE_MS_MAX 100

/* Read a word of the user stack of another task, if it is in memory. */
static bool read_user_word(struct mm_struct *mm, unsigned long address,
			   unsigned int word_bytes, unsigned long *out)
{
	union {
		unsigned long whole;
		u32 half;
	} word = {};
	struct page *page;

	/* get_user_pages_remote() warns about an address below a stack */
	if (address & (word_bytes - 1) || !vma_lookup(mm, address) ||
	    get_user_pages_remote(mm, address, 1, FOLL_NOFAULT, &page,
				  NULL) != 1)
		return false;
	memcpy_from_page((char *)&word, page, offset_in_page(address),
			 word_bytes);
	put_page(page);
	*out = word_bytes == sizeof(u32) ? word.half : word.whole;
	return true;
}

/* Unwind by frame pointers, as kernel/unwind/user.c does for current. */
static unsigned int frames_walk(struct pt_regs *regs, struct mm_struct *mm,
				unsigned long *frames)
{
	unsigned int word_bytes = unwind_user_word_size(regs), count = 0;
	unsigned long ip = instruction_pointer(regs);
	unsigned long sp = user_stack_pointer(regs), fp = frame_pointer(regs);
	const struct unwind_user_frame rule = {
		ARCH_INIT_USER_FP_FRAME(word_bytes)
	};
	unsigned long cfa;

	if (!word_bytes)
		return 0;
	for (;;) {
		frames[count++] = ip;
		cfa = fp + rule.cfa_off;
		if (count == UNWIND_MAX_ENTRIES || fp < sp || cfa <= sp ||
		    !read_user_word(mm, cfa + rule.ra_off, word_bytes, &ip) ||
		    !read_user_word(mm, cfa + rule.fp_off, word_bytes, &fp))
			return count;
		sp = cfa;
	}
}

/*
 * The task that stops tracing may have a request, too, and cannot return to
 * user space meanwhile. Pairs with the smp_store_release() of on_cpu in
 * finish_task().
 */
static bool runs_elsewhere(struct task_struct *task)
{
	/* Acquires what the task has written before it was switched out */
	return task != current && smp_load_acquire(&task->on_cpu);
}

static unsigned long switch_count(struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/*
 * Unwind current, or a task that does not run meanwhile. The caller holds the
 * mmap lock and the stack of the task.
 *
 * Return: the number of frames, 0 if the task returns to another user mode, or
 * -EAGAIN if the task has run
 */
static int sleeper_frames(struct task_struct *task, struct mm_struct *mm,
			  unsigned long *frames)
{
	unsigned long before = switch_count(task);
	int count = 0;

	/*
	 * Count before the stack is read. Pairs with the smp_store_release() of
	 * on_cpu in finish_task(): a task that is seen off its CPU has counted
	 * the switch.
	 */
	smp_rmb();
	if (runs_elsewhere(task))
		return -EAGAIN;
	if (unwind_deferred_stack_is_same(task))
		count = frames_walk(task_pt_regs(task), mm, frames);
	if (count)
		frames[0] = task->unwind_info.ip;
	/*
	 * Read the stack before on_cpu and the counts. Pairs with the full
	 * barrier of __schedule(): a task that has written to its stack since
	 * was seen on a CPU, or has counted another switch.
	 */
	smp_rmb();
	if (runs_elsewhere(task) || switch_count(task) != before)
		return -EAGAIN;
	return count;
}

static bool answer_sleeper(struct user_stack_answer *answer,
			   unsigned long *frames)
{
	struct task_struct *task = answer->task;
	int count;

	if (!mmap_read_trylock(answer->mm))
		return false;
	count = sleeper_frames(task, answer->mm, frames);
	if (count >= 0 && unwind_deferred_claim(task, &answer->user->work)) {
		if (count)
			trace_user_stack_answer(answer, frames, count);
		else
			trace_user_stack_refuse(answer, USER_STACK_CHANGED);
	}
	mmap_read_unlock(answer->mm);
	return count >= 0;
}

/* Return: false if the task has to be tried again */
static bool answer_task(struct trace_user_stacks *user,
			struct task_struct *task, unsigned long *frames)
{
	struct user_stack_answer answer = { .user = user, .task = task };
	bool is_answered = true;

	if (!unwind_deferred_is_pending(task, &user->work))
		return true;
	answer.cookie = READ_ONCE(task->unwind_info.id.id);
	answer.mm = get_task_mm(task);
	if (!answer.mm)
		return false; /* it exits, and answers itself */
	if (!trace_user_stack_process(task, &answer.process)) {
		mmput_async(answer.mm);
		return false;
	}
	if (try_get_task_stack(task)) {
		is_answered = answer_sleeper(&answer, frames);
		put_task_stack(task);
	}
	/* The last reference must not unmap files here */
	mmput_async(answer.mm);
	return is_answered;
}

static void answer_as_running(struct trace_user_stacks *user,
			      struct task_struct *task)
{
	struct user_stack_answer answer = {
		.user = user,
		.task = task,
		.cookie = READ_ONCE(task->unwind_info.id.id),
	};

	if (unwind_deferred_is_pending(task, &user->work) &&
	    unwind_deferred_claim(task, &user->work))
		trace_user_stack_refuse(&answer, USER_STACK_RUNNING);
}

/* The first task whose PID is *number or higher, with a reference */
static struct task_struct *task_at_or_after(int *number)
{
	struct task_struct *task;
	struct pid *pid;

	guard(rcu)();
	for (;; ++*number) {
		pid = find_ge_pid(*number, &init_pid_ns);
		if (!pid)
			return NULL;
		*number = pid_nr(pid);
		task = pid_task(pid, PIDTYPE_PID);
		if (task)
			return get_task_struct(task);
	}
}

/* Return: true if tasks have to be tried again; false after @end */
static bool answer_tasks(struct trace_user_stacks *user, unsigned long *frames,
			 ktime_t end)
{
	struct task_struct *task;
	bool is_left = false;

	for (int number = 1; (task = task_at_or_after(&number)); number++) {
		if (!frames || ktime_after(ktime_get(), end))
			answer_as_running(user, task);
		else if (!answer_task(user, task, frames))
			is_left = true;
		put_task_struct(task);
		cond_resched();
	}
	return is_left;
}

/**
 * trace_user_stacks_close - Answer all requests before the ring buffer stops
 * @tr: the instance
 *
 * Further events request no user stack until trace_user_stacks_open(). Sleeps;
 * the caller holds trace_types_lock.
 */
void trace_user_stacks_close(struct trace_array *tr)
{
	struct trace_user_stacks *user = trace_user_stacks_of(tr);
	unsigned long *frames;
	ktime_t end;

	if (!user)
		return;
	frames = kmalloc_array(UNWIND_MAX_ENTRIES, sizeof(*frames), GFP_KERNEL);
	WRITE_ONCE(user->is_closed, true);
	/* Requests that did not see is_closed are made */
	synchronize_rcu();
	end = ktime_add_ms(ktime_get(), CLOSE_MS_MAX);
	while (answer_tasks(user, frames, end))
		fsleep(1000);
	/*
	 * Pairs with the full barrier of unwind_deferred_claim(): a task whose
	 * claim was seen is seen among those that answer.
	 */
	smp_rmb();
	while (atomic_read(&user->answering) && ktime_before(ktime_get(), end))
		fsleep(1000);
	kfree(frames);
}

/* Undoes trace_user_stacks_close(). */
void trace_user_stacks_open(struct trace_array *tr)
{
	struct trace_user_stacks *user = trace_user_stacks_of(tr);

	if (user)
		WRITE_ONCE(user->is_closed, false);
}
