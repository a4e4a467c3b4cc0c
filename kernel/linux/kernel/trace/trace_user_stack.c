// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * User stacks of trace events: asked for at the event, in any context, and answered when the
 * task returns to user mode, where its memory may be read. Who is asleep when tracing stops is
 * walked from outside; so is a task that was preempted.
 *
 * A request is answered once: who takes the instance's bit out of the task's mask answers, the
 * task itself or trace_user_stacks_close(). `unwind_completed` says that the task has begun to,
 * so that an event on its way out does not ask again. Who was answered in its sleep may ask again
 * for the same entry into the kernel, when tracing is on again.
 *
 * Nothing here waits for what a task decides: pages and files that are not in memory are not
 * fetched, locks are tried.
 */

#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/unwind_deferred.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

#define CLOSE_MS_MAX 100
#define LOCK_TRIES_MAX 20 /* 0.1 ms each */

/* What became of requests. */
struct user_stack_counts {
	unsigned long asked;
	unsigned long answered[USER_STACK_REASONS]; /* [0]: with a stack */
	unsigned long lost; /* answers for which the ring had no room */
};

/* The user stacks of an instance. */
struct trace_user_stacks {
	struct unwind_work work;
	unsigned long mask; /* of the work; its bit is gone when it is cancelled */
	struct trace_array *tr;
	bool is_closed;
	atomic_t answering; /* tasks that answer just now */
	struct user_stack_counts __percpu *counts;
};

/* One answer. */
struct user_stack_answer {
	struct trace_user_stacks *user;
	u64 cookie;
	struct task_struct *task;
	struct trace_process process;
	struct mm_struct *mm;
};

const char *trace_user_stack_reason(u32 reason)
{
	static const char *const words[] = {
		[USER_STACK_CHANGED] = "changed",     [USER_STACK_BUSY] = "busy",
		[USER_STACK_RUNNING] = "running",     [USER_STACK_FULL] = "full",
		[USER_STACK_NO_MEMORY] = "no_memory",
	};

	return reason && reason < ARRAY_SIZE(words) ? words[reason] : "unknown";
}

static void answer_record(struct user_stack_answer *answer, struct trace_stackmap *map,
			  const struct stack *stack, u32 reason)
{
	struct trace_buffer *buffer = answer->user->tr->array_buffer.buffer;
	struct user_stack_id_entry *entry;
	struct ring_buffer_event *event;
	s64 id = 0;

	guard(preempt_notrace)();
	event = trace_buffer_lock_reserve(buffer, TRACE_USER_STACK_ID, sizeof(*entry),
					    tracing_gen_ctx());
	if (!event) {
		this_cpu_inc(answer->user->counts->lost);
		return;
	}
	if (!reason)
		id = stack_map_get_id(map->table, &map->geometry, raw_smp_processor_id(), stack);
	if (id < 0)
		reason = USER_STACK_FULL;
	entry = ring_buffer_event_data(event);
	entry->cookie = answer->cookie;
	entry->stack_id = reason ? 0 : id;
	entry->reason = reason;
	trace_buffer_unlock_commit_nostack(buffer, event);
	this_cpu_inc(answer->user->counts->answered[reason]);
}

/* By mapping and offset. The caller holds the mmap lock. */
static void stack_make(struct stack *stack, struct user_stack_answer *answer,
		       struct trace_stackmap *map, const unsigned long *frames, unsigned int count)
{
	BUILD_BUG_ON(UNWIND_MAX_ENTRIES > STACK_USER_DEPTH_MAX);
	stack->depth = count;
	stack->flags = STACK_USER | (count == UNWIND_MAX_ENTRIES ? STACK_TRUNCATED : 0);
	for (u32 i = 0; i < stack->depth; i++)
		stack->word[i] = trace_mappings_frame(&map->mappings, &answer->process,
						      answer->mm, frames[i]);
	stack_pack(stack);
}

static void answer_frames(struct user_stack_answer *answer, const unsigned long *frames,
			  unsigned int count)
{
	struct stack *stack __free(kfree) = kmalloc(sizeof(*stack), GFP_KERNEL);
	struct trace_stackmap *map = trace_stackmap_get(answer->user->tr);

	if (stack && map)
		stack_make(stack, answer, map, frames, count);
	answer_record(answer, map, stack, stack && map ? 0 : USER_STACK_NO_MEMORY);
	trace_stackmap_put(map);
}

/* Whether the task has begun to answer, in the present entry into the kernel. */
static bool has_answered(struct task_struct *task, struct trace_user_stacks *user)
{
	return atomic_long_read(&task->unwind_info.unwind_completed) & user->mask;
}

/* Whether the caller is who answers. */
static bool claim(struct task_struct *task, struct trace_user_stacks *user)
{
	return atomic_long_fetch_andnot(user->mask, &task->unwind_info.unwind_mask) & user->mask;
}

/* False: the task is gone by now. */
static bool process_of(struct task_struct *task, struct trace_process *process)
{
	guard(rcu)();
	if (!pid_alive(task))
		return false;
	process->tgid = task->tgid;
	process->since = READ_ONCE(task->group_leader)->start_boottime;
	return true;
}

static bool lock_mappings(struct mm_struct *mm)
{
	for (int i = 0; i < LOCK_TRIES_MAX; i++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(50, 150);
	}
	return false;
}

static void own_answer(struct user_stack_answer *answer, struct unwind_stacktrace *trace)
{
	if (!trace->nr || !answer->mm || !process_of(answer->task, &answer->process)) {
		answer_record(answer, NULL, NULL, USER_STACK_CHANGED);
	} else if (!lock_mappings(answer->mm)) {
		answer_record(answer, NULL, NULL, USER_STACK_BUSY);
	} else {
		answer_frames(answer, trace->entries, trace->nr);
		mmap_read_unlock(answer->mm);
	}
}

/*
 * In the task, when it returns to user mode or ends. Frames are missing where its user mode is
 * another one by now.
 */
static void user_stack_called_back(struct unwind_work *work, struct unwind_stacktrace *trace,
				   u64 cookie)
{
	struct trace_user_stacks *user = container_of(work, struct trace_user_stacks, work);
	struct user_stack_answer answer = {
		.user = user,
		.cookie = cookie,
		.task = current,
		.mm = current->mm,
	};

	atomic_inc(&user->answering);
	atomic_long_or(user->mask, &current->unwind_info.unwind_completed);
	if (claim(current, user))
		own_answer(&answer, trace);
	atomic_dec(&user->answering);
}

bool trace_user_stack_ask(struct trace_array *tr, struct trace_buffer *buffer,
			  unsigned int trace_ctx)
{
	struct user_stack_cookie_entry *entry;
	struct ring_buffer_event *event;
	struct trace_user_stacks *user;
	int bit, answer;
	u64 cookie;

	if (!(tr->trace_flags & TRACE_ITER(USERSTACKMAP)))
		return false;
	guard(preempt_notrace)();
	user = rcu_dereference_sched(tr->user_stacks);
	if (!user)
		return false;
	if (READ_ONCE(user->is_closed))
		return true;
	bit = trace_test_and_set_recursion(_THIS_IP_, _RET_IP_, TRACE_EVENT_START);
	if (bit < 0)
		return true;
	event = trace_buffer_lock_reserve(buffer, TRACE_USER_STACK_COOKIE, sizeof(*entry),
					    trace_ctx);
	if (!event)
		goto out;
	answer = unwind_deferred_request(&user->work, &cookie);
	if (answer < 0) { /* a kernel thread, or a task that ends */
		ring_buffer_discard_commit(buffer, event);
		goto out;
	}
	if (!answer && !has_answered(current, user))
		this_cpu_inc(user->counts->asked);
	entry = ring_buffer_event_data(event);
	entry->cookie = cookie;
	trace_buffer_unlock_commit_nostack(buffer, event);
out:
	trace_clear_recursion(bit);
	return true;
}

/* --- tasks that are walked from outside --- */

/* Reads a word of another's stack, if it is in memory: waits for nothing. */
static bool word_read(struct mm_struct *mm, unsigned long address, unsigned int word_bytes,
		      unsigned long *out)
{
	struct page *page;
	u8 word[sizeof(long)] = {};

	/* Below a stack, get_user_pages_remote() would complain. */
	if (address & (word_bytes - 1) || !vma_lookup(mm, address) ||
	    get_user_pages_remote(mm, address, 1, FOLL_NOFAULT, &page, NULL) != 1)
		return false;
	memcpy_from_page(word, page, offset_in_page(address), word_bytes);
	put_page(page);
	*out = word_bytes == sizeof(u32) ? *(u32 *)word : *(unsigned long *)word;
	return true;
}

/* By frame pointers, as kernel/unwind/user.c does for the current task. */
static unsigned int frames_walk(struct pt_regs *regs, struct mm_struct *mm, unsigned long *frames)
{
	unsigned int word_bytes = unwind_user_word_size(regs), count = 0;
	unsigned long ip = instruction_pointer(regs);
	unsigned long sp = user_stack_pointer(regs), fp = frame_pointer(regs);
	const struct unwind_user_frame rule = {ARCH_INIT_USER_FP_FRAME(word_bytes)};
	unsigned long cfa;

	if (!word_bytes)
		return 0;
	for (;;) {
		frames[count++] = ip;
		cfa = fp + rule.cfa_off;
		if (count == UNWIND_MAX_ENTRIES || fp < sp || cfa <= sp ||
		    !word_read(mm, cfa + rule.ra_off, word_bytes, &ip) ||
		    !word_read(mm, cfa + rule.fp_off, word_bytes, &fp))
			return count;
		sp = cfa;
	}
}

static unsigned long switches(struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/* The request of an instance that nobody has answered yet. */
static bool is_pending(struct task_struct *task, struct trace_user_stacks *user)
{
	return !has_answered(task, user) &&
	       atomic_long_read(&task->unwind_info.unwind_mask) & user->mask;
}

/*
 * Its frames, if it did not run meanwhile; none if its user mode is another one by now. The
 * caller holds the mmap lock and the task's stack.
 */
static int frames_of_sleeper(struct task_struct *task, struct mm_struct *mm,
			     unsigned long *frames)
{
	unsigned long before = switches(task);
	int count = 0;

	smp_rmb(); /* before it ran again */
	if (READ_ONCE(task->on_cpu))
		return -EAGAIN;
	smp_rmb(); /* it did not run when its registers were read */
	if (unwind_entry_is_same(task))
		count = frames_walk(task_pt_regs(task), mm, frames);
	if (count)
		frames[0] = task->unwind_info.ip;
	smp_rmb(); /* nor until its stack had been read */
	return READ_ONCE(task->on_cpu) || switches(task) != before ? -EAGAIN : count;
}

static bool sleeper_answer(struct user_stack_answer *answer, unsigned long *frames)
{
	struct task_struct *task = answer->task;
	int count;

	if (!mmap_read_trylock(answer->mm))
		return false;
	count = frames_of_sleeper(task, answer->mm, frames);
	if (count >= 0 && claim(task, answer->user)) {
		if (count)
			answer_frames(answer, frames, count);
		else
			answer_record(answer, NULL, NULL, USER_STACK_CHANGED);
	}
	mmap_read_unlock(answer->mm);
	return count >= 0;
}

/* False: it has to be tried again. */
static bool task_answer(struct trace_user_stacks *user, struct task_struct *task,
			unsigned long *frames)
{
	struct user_stack_answer answer = {.user = user, .task = task};
	bool is_answered = true;

	if (!is_pending(task, user))
		return true;
	answer.cookie = READ_ONCE(task->unwind_info.id.id);
	answer.mm = get_task_mm(task);
	if (!answer.mm)
		return false; /* it ends, and answers itself */
	if (!process_of(task, &answer.process)) {
		mmput_async(answer.mm);
		return false;
	}
	if (try_get_task_stack(task)) {
		is_answered = sleeper_answer(&answer, frames);
		put_task_stack(task);
	}
	mmput_async(answer.mm); /* what is mapped is given back elsewhere */
	return is_answered;
}

static void task_give_up(struct trace_user_stacks *user, struct task_struct *task)
{
	struct user_stack_answer answer = {
		.user = user,
		.task = task,
		.cookie = READ_ONCE(task->unwind_info.id.id),
	};

	if (is_pending(task, user) && claim(task, user))
		answer_record(&answer, NULL, NULL, USER_STACK_RUNNING);
}

/* The first task whose id is *number or more, with a reference. */
static struct task_struct *task_from(int *number)
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

/* Whether some have to be tried again. After `end` nobody is. */
static bool tasks_answer(struct trace_user_stacks *user, unsigned long *frames, ktime_t end)
{
	struct task_struct *task;
	bool is_left = false;

	for (int number = 1; (task = task_from(&number)); number++) {
		if (!frames || ktime_after(ktime_get(), end))
			task_give_up(user, task);
		else if (!task_answer(user, task, frames))
			is_left = true;
		put_task_struct(task);
		cond_resched();
	}
	return is_left;
}

static void user_stacks_close(struct trace_user_stacks *user)
{
	unsigned long *frames = kmalloc_array(UNWIND_MAX_ENTRIES, sizeof(*frames), GFP_KERNEL);
	ktime_t end;

	WRITE_ONCE(user->is_closed, true);
	synchronize_rcu();
	end = ktime_add_ms(ktime_get(), CLOSE_MS_MAX);
	while (tasks_answer(user, frames, end))
		fsleep(1000);
	while (atomic_read(&user->answering) && ktime_before(ktime_get(), end))
		fsleep(1000);
	kfree(frames);
}

/* --- an instance --- */

static struct trace_user_stacks *user_stacks_of(struct trace_array *tr)
{
	return rcu_dereference_protected(tr->user_stacks, lockdep_is_held(&trace_types_lock));
}

int trace_user_stacks_enable(struct trace_array *tr)
{
	struct trace_user_stacks *user = kzalloc(sizeof(*user), GFP_KERNEL);
	int error = -ENOMEM;

	if (!user)
		return -ENOMEM;
	user->tr = tr;
	user->counts = alloc_percpu(struct user_stack_counts);
	if (user->counts)
		error = unwind_deferred_init(&user->work, user_stack_called_back);
	if (error) {
		free_percpu(user->counts);
		kfree(user);
		return error;
	}
	user->mask = BIT(user->work.bit);
	rcu_assign_pointer(tr->user_stacks, user);
	return 0;
}

void trace_user_stacks_disable(struct trace_array *tr)
{
	struct trace_user_stacks *user = user_stacks_of(tr);

	if (!user)
		return;
	if (system_state >= SYSTEM_SCHEDULING) /* before, there are neither tasks nor a clock */
		user_stacks_close(user);
	RCU_INIT_POINTER(tr->user_stacks, NULL);
	synchronize_rcu();
	unwind_deferred_cancel(&user->work);
	free_percpu(user->counts);
	kfree(user);
}

void trace_user_stacks_close(struct trace_array *tr)
{
	struct trace_user_stacks *user = user_stacks_of(tr);

	if (user)
		user_stacks_close(user);
}

void trace_user_stacks_open(struct trace_array *tr)
{
	struct trace_user_stacks *user = user_stacks_of(tr);

	if (user)
		WRITE_ONCE(user->is_closed, false);
}

static void counts_sum(struct trace_user_stacks *user, struct user_stack_counts *sum)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct user_stack_counts *counts = per_cpu_ptr(user->counts, cpu);

		sum->asked += READ_ONCE(counts->asked);
		sum->lost += READ_ONCE(counts->lost);
		for (int i = 0; i < USER_STACK_REASONS; i++)
			sum->answered[i] += READ_ONCE(counts->answered[i]);
	}
}

void trace_user_stacks_show(struct seq_file *seq, struct trace_array *tr)
{
	struct user_stack_counts sum = {};

	scoped_guard(mutex, &trace_types_lock) {
		struct trace_user_stacks *user = user_stacks_of(tr);

		if (!user)
			return;
		counts_sum(user, &sum);
	}
	seq_printf(seq, "user_asked: %lu\n", sum.asked);
	seq_printf(seq, "user_answered: %lu\n", sum.answered[0]);
	for (int i = 1; i < USER_STACK_REASONS; i++)
		seq_printf(seq, "user_%s: %lu\n", trace_user_stack_reason(i), sum.answered[i]);
	seq_printf(seq, "user_lost: %lu\n", sum.lost);
}
