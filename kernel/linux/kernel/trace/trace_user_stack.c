// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * User stacks of events, by id.
 *
 * The memory of a task cannot be read in each context that records events. So
 * an event requests the user stack and records the cookie of the request, see
 * kernel/unwind/deferred.c. When the task returns to user space, one event
 * with the same cookie, the answer, tells the id of the stack in the stack map
 * of the instance, or why there is none.
 */
#include <linux/slab.h>
#include <linux/unwind_deferred.h>

#include "trace.h"
#include "trace_stackmap_internal.h"
#include "trace_user_stack.h"

/* The user stacks of an instance */
struct trace_user_stacks {
	struct unwind_work work;
	struct trace_array *tr;
};

/* One answer, to all events of an entry into the kernel */
struct user_stack_answer {
	struct trace_user_stacks *user;
	u64 cookie;
};

const char *trace_user_stack_reason(u32 reason)
{
	static const char *const words[] = {
		[USER_STACK_CHANGED]	= "changed",
		[USER_STACK_FULL]	= "full",
		[USER_STACK_NO_MEMORY]	= "no_memory",
	};

	return reason && reason < ARRAY_SIZE(words) ? words[reason] : "unknown";
}

static void answer_record(struct user_stack_answer *answer,
			  struct trace_stackmap *map,
			  const struct stackid_stack *stack, u32 reason)
{
	struct trace_buffer *buffer = answer->user->tr->array_buffer.buffer;
	struct user_stack_id_entry *entry;
	struct ring_buffer_event *event;
	s64 id = 0;

	guard(preempt_notrace)();
	event = trace_buffer_lock_reserve(buffer, TRACE_USER_STACK_ID,
					  sizeof(*entry), tracing_gen_ctx());
	if (!event)
		return;
	if (!reason)
		id = stackid_map_get_id(map->table, &map->geometry,
					raw_smp_processor_id(), stack);
	if (id < 0)
		reason = USER_STACK_FULL;
	entry = ring_buffer_event_data(event);
	entry->cookie = answer->cookie;
	entry->stack_id = reason ? 0 : id;
	entry->reason = reason;
	trace_buffer_unlock_commit_nostack(buffer, event);
}

static void stack_fill(struct stackid_stack *stack, const unsigned long *frames,
		       unsigned int count)
{
	stack->depth = min(count, STACKID_DEPTH_MAX);
	stack->flags = STACKID_USER;
	if (count >= STACKID_DEPTH_MAX)
		stack->flags |= STACKID_TRUNCATED;
	for (u32 i = 0; i < stack->depth; i++)
		stack->word[i] = frames[i];
	stackid_pack(stack);
}

static void answer_frames(struct user_stack_answer *answer,
			  const unsigned long *frames, unsigned int count)
{
	struct stackid_stack *stack __free(kfree) =
		kmalloc(sizeof(*stack), GFP_KERNEL);
	struct trace_stackmap *map = trace_stackmap_get(answer->user->tr);

	if (stack && map)
		stack_fill(stack, frames, count);
	answer_record(answer, map, stack,
		      stack && map ? 0 : USER_STACK_NO_MEMORY);
	trace_stackmap_put(map);
}

/* Called in the task, when it returns to user space, execs or exits. */
static void user_stack_callback(struct unwind_work *work,
				struct unwind_stacktrace *trace, u64 cookie)
{
	struct user_stack_answer answer = {
		.user = container_of(work, struct trace_user_stacks, work),
		.cookie = cookie,
	};

	if (trace->nr)
		answer_frames(&answer, trace->entries, trace->nr);
	else
		answer_record(&answer, NULL, NULL, USER_STACK_CHANGED);
}

/**
 * trace_user_stack_request - Request the user stack of the previous event
 * @tr: the instance
 * @buffer: its ring buffer
 * @trace_ctx: the context of the event
 *
 * Records the cookie of the answer. Any context, NMI included.
 *
 * Return: false if the instance does not record user stacks by id
 */
bool trace_user_stack_request(struct trace_array *tr,
			      struct trace_buffer *buffer,
			      unsigned int trace_ctx)
{
	struct user_stack_cookie_entry *entry;
	struct ring_buffer_event *event;
	struct trace_user_stacks *user;
	int bit, ret;
	u64 cookie;

	if (!(tr->trace_flags & TRACE_ITER(USERSTACKMAP)))
		return false;
	guard(preempt_notrace)();
	user = rcu_dereference_sched(tr->user_stacks);
	if (!user)
		return false;
	/* A request may be an event itself, by the work that it queues */
	bit = trace_test_and_set_recursion(_THIS_IP_, _RET_IP_,
					   TRACE_EVENT_START);
	if (bit < 0)
		return true;
	event = trace_buffer_lock_reserve(buffer, TRACE_USER_STACK_COOKIE,
					  sizeof(*entry), trace_ctx);
	if (!event)
		goto out;
	ret = unwind_deferred_request(&user->work, &cookie);
	if (ret < 0) {
		/* A kernel thread, or a task that exits */
		ring_buffer_discard_commit(buffer, event);
		goto out;
	}
	entry = ring_buffer_event_data(event);
	entry->cookie = cookie;
	trace_buffer_unlock_commit_nostack(buffer, event);
out:
	trace_clear_recursion(bit);
	return true;
}

static struct trace_user_stacks *user_stacks_of(struct trace_array *tr)
{
	return rcu_dereference_protected(tr->user_stacks,
					 lockdep_is_held(&trace_types_lock));
}

/**
 * trace_user_stacks_enable - Let an instance record user stacks by id
 * @tr: the instance
 *
 * Sleeps; the caller holds trace_types_lock.
 *
 * Return: 0, -ENOMEM, or -EBUSY if no bit for one more user of deferred
 * unwinding is left
 */
int trace_user_stacks_enable(struct trace_array *tr)
{
	struct trace_user_stacks *user;
	int ret;

	user = kzalloc_obj(*user);
	if (!user)
		return -ENOMEM;
	user->tr = tr;
	ret = unwind_deferred_init(&user->work, user_stack_callback);
	if (ret) {
		kfree(user);
		return ret;
	}
	rcu_assign_pointer(tr->user_stacks, user);
	return 0;
}

/* Undoes trace_user_stacks_enable(). Sleeps, under trace_types_lock. */
void trace_user_stacks_disable(struct trace_array *tr)
{
	struct trace_user_stacks *user = user_stacks_of(tr);

	if (!user)
		return;
	RCU_INIT_POINTER(tr->user_stacks, NULL);
	/* No event requests any more */
	synchronize_rcu();
	/* Waits for running callbacks */
	unwind_deferred_cancel(&user->work);
	kfree(user);
}
