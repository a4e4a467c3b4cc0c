/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event sources: from the words that the user writes (-e, -F) to the sources that are attached.
 *
 *   cpu-clock, page-faults...      perf events (perf's names); NAME/PERIOD or -F sets how often;
 *   cycles:u  cycles/1000:kp       ... :u in user mode only, :k in the kernel only, :p precisely
 *   cpu/event=0xc2,umask=1/u r01c2 events of a PMU by their terms (pmu_event.h)
 *   sched:sched_switch, 'kmem:*'   tracepoints, globs
 *   syscalls:sys_enter_read        system calls, by one sys_enter and one sys_exit program; globs
 *   kmem:kmalloc/value=bytes_alloc/ tracepoints and system calls by a field of their record
 *   span:BEGIN..END/by=KEY/        the time from one event to another (source_span.h)
 *   alive:BEGIN..END/by=KEY/       what has begun and not ended when recording ends, likewise
 *   NAME/value=+EVENT/             any source with a counter: what the thread has counted since its
 *                                  last event that read the counter (bpf/event/thread_count.h)
 *   NAME/if=CONDITIONS/            only the events that meet the conditions (source_question.h)
 *   u:PATH:FUNC   ur:PATH:FUNC     entry of, return from a user function; globs in FUNC;
 *   u:PATH:FUNC+OFFSET             ... an instruction in it
 *   u:PATH:0xOFFSET                ... or anywhere in the file
 *   usdt:PATH:PROVIDER:NAME        a probe that the program's authors have placed; globs
 *   k:FUNC        kr:FUNC          entry of, return from a kernel function; globs
 *   offcpu-time   offcpu-waker     a blocked task runs again, or is woken; value: the blocked time
 *   offcpu-holder                  at the end: a thread holds a lock that another thread waits for
 *   time:runnable time:stopped...  a thread runs again after a wait in this state; value: the
 *                                  duration of the wait
 *
 * One word may have several sources, separated by commas.
 */
#ifndef LIB_CAPTURE_SOURCE_H
#define LIB_CAPTURE_SOURCE_H

#include <stdbool.h>

#include "kept_records.h"
#include "pmu_event.h"
#include "question.h"
#include "scalar.h"
#include "stackmap/error.h"

/* A perf counter whose count is the value of a source's events: /value=+NAME/. */
struct source_counter {
	bool is_given;
	bool no_user, no_kernel;
	u32 perf_type;
	u64 perf_config[PMU_WORDS];
};

struct source {
	enum source_type type;
	char *name;	/* name of the source as it is printed: "sched:sched_switch",
			   "u:/usr/lib/libc.so.6:malloc" */
	bool on_return; /* SOURCE_SYSCALL, SOURCE_USER, SOURCE_KERNEL: the events are at the return
			 */
	bool at_entry;	/* SOURCE_USER: the probe is at the first instruction of a function */
	u32 perf_type;	/* SOURCE_SAMPLE, SOURCE_PERF: perf_event_attr.type */
	u64 perf_config[PMU_WORDS]; /* SOURCE_SAMPLE, SOURCE_PERF: perf_event_attr.config, config1,
				       config2 */
	u64 period; /* SOURCE_SAMPLE, SOURCE_PERF: number of events for each sample; 0 = `frequency`
		       is used */
	u64 frequency; /* SOURCE_SAMPLE, SOURCE_PERF: samples per second; 0 = `period` is used */
	bool no_user, no_kernel; /* SOURCE_SAMPLE, SOURCE_PERF: events in user mode, or in the
				    kernel, are left out */
	u8 precise;		 /* SOURCE_SAMPLE, SOURCE_PERF: perf_event_attr.precise_ip */
	char *target;  /* SOURCE_TRACEPOINT: name of the raw tracepoint; SOURCE_USER: path of the
			  file; SOURCE_KERNEL: name of the function */
	u64 offset;    /* SOURCE_USER: file offset of the probe */
	u64 semaphore; /* SOURCE_USER: file offset of the counter (USDT semaphore) that turns the
			  probe on; 0: none */
	u32 syscall;   /* SOURCE_SYSCALL: number of the system call */
	u32 wait;      /* SOURCE_TIME: enum time_state of the wait */
	char *unit;    /* unit of the events' values, for example "bytes"; NULL = the events have no
			  values */
	char *further_unit; /* unit of the events' second values; NULL = no second values */
	char *value_name, *further_name; /* names of the two values; NULL: the value is a product,
					    or there is only one value */
	u32 tracepoint; /* SOURCE_TRACEPOINT: id of the tracepoint in perf, if the question reads
			   the tracepoint's record */
	u32 argument_words; /* SOURCE_KERNEL: number of words of all arguments, if the question
			       needs BTF */
	struct question question; /* conditions and values (abi/question.h); numbers of functions
				     and system calls are read from pt_regs */
	struct source_counter counter;
	char *patterns[QUESTION_CONDITIONS_MAX]; /* globs of the conditions on the task's name, by
						    the index of the condition in `question` */
	u8 triggers; /* actions that an event of the source triggers, as bits (session/trigger.h) */
};

struct source_list {
	struct source *sources; /* the sources; the index of a source is its event kind */
	u32 count, room;
	const char *option; /* name of the option that has the words, for errors; NULL: -e */
	u8 triggers;	    /* member `triggers` of sources that are added from now on */
	u64 period; /* period of perf events that are added from now on without a period; 0 = no
		       default */
};

/* Appends the sources that `text` names, or none of them. -EINVAL; -ENOENT: a glob or name does not
 * match, and the error names the nearest valid choice; -E2BIG: more than KIND_SOURCES; -ERANGE. */
int source_list_add(struct source_list *list, const char *text, u64 frequency,
		    struct stackmap_error *error);

/* Returns the highest rate of samples that the kernel allows now, in Hz
 * (kernel.perf_event_max_sample_rate). */
u64 source_rate_max(void);

/* Returns the rate of samples if the user asks for none, in Hz: 999, which is not a multiple of a
 * timer tick's frequency, or the kernel's limit if that is lower. */
u64 source_rate_default(void);

/* Appends CPU samples at `frequency` Hz, or by the list's period. -ERANGE: the frequency is 0, or
 * above kernel.perf_event_max_sample_rate. */
int source_list_add_sample(struct source_list *list, u64 frequency, struct stackmap_error *error);

void source_list_clear(struct source_list *list);

/* Calls each() for the sources of this machine, by group ("perf event", "tracepoint", "system
 * call"...). `pattern`: a name, a glob, or NULL for all sources except functions, which need a
 * pattern with their prefix. -ENOENT: no source matches. */
int source_catalogue_each(const char *pattern,
			  int (*each)(void *arg, const char *group, const char *name), void *arg,
			  struct stackmap_error *error);

#endif
