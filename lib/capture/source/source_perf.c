/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU samples, perf events and off-CPU time, under the names of perf. A hardware event is opened
 * for this thread in user mode, which needs no privilege, to see whether it exists: many virtual
 * machines have no hardware events.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"
#include "source_counter.h"
#include "source_ops.h"
#include "source_word.h"
#include "symbol/file/whole_file.h"
#include "thread_time.h"
#include "trace/block/source_name.h"

/* --- Time that tasks are blocked, and the tasks that wake them. --- */

#define TIME_SOURCE(id, name_, meaning)                                                            \
	{.type = SOURCE_TIME, .name = TRACE_STATE_PREFIX name_, .unit = "ns", .wait = TIME_##id},

/* The sources time:... are waits by the kernel's task states; time:running is no wait and is left
 * out. */
static const struct source off_cpu_events[] = {
	{.type = SOURCE_OFF_CPU, .name = "offcpu-time", .unit = "ns"},
	{.type = SOURCE_WAKER, .name = "offcpu-waker", .unit = "ns"},
	{.type = SOURCE_HOLDER, .name = "offcpu-holder", .unit = "ns"},
	{.type = SOURCE_ORIGIN, .name = TRACE_ORIGIN, .unit = ""},
	TIME_STATE_LIST(TIME_SOURCE)};

#define OFF_CPU_COUNT (sizeof(off_cpu_events) / sizeof(off_cpu_events[0]))

static int refuse_number_of_perf_event(void *arg, const char *name, struct source_number *out,
				       struct stackmap_error *error)
{
	const struct source_query *query = arg;

	(void)out;
	return error_set(
		error, EINVAL,
		"%s: it has no number %s; only tracepoints, system calls (CATEGORY:NAME) and "
		"functions have numbers, every event has comm, pid, tid, uid and cgroup",
		query->subject, name);
}

static int find_off_cpu_sources(struct source_query *query, source_visit visit, void *arg,
				struct stackmap_error *error)
{
	int err = 0;

	for (size_t i = 0; i < OFF_CPU_COUNT && !err; i++)
		if (query->modes || (off_cpu_events[i].type == SOURCE_TIME &&
				     off_cpu_events[i].wait == TIME_RUNNING))
			continue;
		else if (!name_match_compare_name(&query->match, off_cpu_events[i].name))
			continue;
		else if (query->asks.name || query->asks.counter || query->asks.count)
			err = error_set(error, EINVAL,
					"%s: its value is a time, and it takes no conditions",
					query->subject);
		else
			err = visit(arg, &off_cpu_events[i]);
	return err;
}

const struct source_ops source_off_cpu_ops = {
	.group = "off-CPU",
	.find = find_off_cpu_sources,
};

/* The period with which an event is opened to see whether the machine has it. */
#define PERIOD_TRIED 1000000000
#define RATE_LIMIT_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

struct perf_event_name {
	const char *name;
	const char *alias;
	u32 type;
	u64 config;
};

#define SOFTWARE(name, alias, id)                                                                  \
	{                                                                                          \
		name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id                                \
	}
#define HARDWARE(name, alias, id)                                                                  \
	{                                                                                          \
		name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id                                \
	}

static const struct perf_event_name events[] = {
	SOFTWARE("cpu-clock", NULL, CPU_CLOCK),
	SOFTWARE("task-clock", NULL, TASK_CLOCK),
	SOFTWARE("page-faults", "faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS),
	SOFTWARE("cgroup-switches", NULL, CGROUP_SWITCHES),
	SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS),
	HARDWARE("cycles", "cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", NULL, INSTRUCTIONS),
	HARDWARE("cache-references", NULL, CACHE_REFERENCES),
	HARDWARE("cache-misses", NULL, CACHE_MISSES),
	HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", NULL, BRANCH_MISSES),
	HARDWARE("bus-cycles", NULL, BUS_CYCLES),
	HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND),
};

#define EVENT_COUNT (sizeof(events) / sizeof(events[0]))

/* Opens the perf event for this thread, to see whether this machine has it; in user mode only,
 * unless it is a counter: a PMU that takes no samples counts user mode and the kernel together. */
static bool can_open_perf_event_of_source(const struct source *source, bool is_counter)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = source->perf_type,
		.config = source->perf_config[0],
		.config1 = source->perf_config[1],
		.config2 = source->perf_config[2],
		.sample_period = is_counter ? 0 : PERIOD_TRIED,
		.disabled = 1,
		.exclude_kernel = !is_counter,
		.exclude_hv = !is_counter,
	};
	int fd;

	if (source->perf_type == PERF_TYPE_SOFTWARE)
		return true;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return !(errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP ||
			 errno == EINVAL);
	close(fd);
	return true;
}

u64 source_rate_max(void)
{
	/* The kernel's default limit, used if /proc is not mounted. */
	unsigned long long rate = 100000;

	whole_file_scan(RATE_LIMIT_FILE, "%llu", &rate);
	return rate;
}

u64 source_rate_default(void)
{
	u64 limit = source_rate_max();

	return limit < 999 ? limit : 999;
}

/* Checks a sampling frequency. 0; -ERANGE: the kernel does not allow this frequency. */
static int check_frequency(u64 frequency, struct stackmap_error *error)
{
	u64 limit = source_rate_max();

	if (frequency >= 1 && frequency <= limit)
		return 0;
	return error_set(error, ERANGE, "-F %llu: the range is 1 to %llu samples per second here%s",
			 (unsigned long long)frequency, (unsigned long long)limit,
			 frequency ? " (kernel.perf_event_max_sample_rate)" : "");
}

/* Completes a source, whose name and perf event are set, with type, modes, period or frequency and
 * question, and passes it to visit(). */
static int visit_completed_source(struct source *source, struct source_query *query,
				  source_visit visit, void *arg, struct stackmap_error *error)
{
	const char *modes = query->modes ?: "";
	int err = 0;

	/* Hardware events and the two clocks may happen at any instruction (SOURCE_SAMPLE); other
	 * events happen only in the kernel code that counts them (SOURCE_PERF). */
	source->type = source->perf_type != PERF_TYPE_SOFTWARE ||
				       source->perf_config[0] == PERF_COUNT_SW_CPU_CLOCK ||
				       source->perf_config[0] == PERF_COUNT_SW_TASK_CLOCK
			       ? SOURCE_SAMPLE
			       : SOURCE_PERF;
	source->no_kernel = strchr(modes, 'u') && !strchr(modes, 'k');
	source->no_user = strchr(modes, 'k') && !strchr(modes, 'u');
	for (; *modes; modes++)
		source->precise += *modes == 'p';
	if (query->period)
		source->period = query->period;
	else if (!source->period && !source->frequency && query->period_default &&
		 !query->frequency)
		source->period = query->period_default;
	else if (!source->period && source->type == SOURCE_SAMPLE)
		source->frequency = source->frequency ?: query->frequency ?: source_rate_default();
	else if (!source->period && !source->frequency)
		source->period = 1;
	if (source->frequency)
		err = check_frequency(source->frequency, error);
	err = err
		      ?: question_resolve(&query->asks, query->subject, refuse_number_of_perf_event,
					  query, source, error);
	return err ? err : visit(arg, source);
}

static int visit_perf_event(const struct perf_event_name *event, struct source_query *query,
			    source_visit visit, void *arg, struct stackmap_error *error)
{
	struct source source = {
		.name = (char *)event->name,
		.perf_type = event->type,
		.perf_config = {event->config},
	};
	char name[64];

	if (!can_open_perf_event_of_source(&source, query->is_counter))
		return query->match.is_glob
			       ? 0
			       : error_set(error, ENOENT,
					   "%s: no hardware counter (PMU) for it here; did you "
					   "mean %scpu-clock%s%s?",
					   query->subject, query->is_counter ? "+" : "",
					   query->modes ? ":" : "", query->modes ?: "");
	if (query->modes) {
		snprintf(name, sizeof(name), "%s:%s", event->name, query->modes);
		source.name = name;
	}
	return visit_completed_source(&source, query, visit, arg, error);
}

static int find_perf_events(struct source_query *query, source_visit visit, void *arg,
			    struct stackmap_error *error)
{
	int err = 0;

	for (size_t i = 0; i < EVENT_COUNT && !err; i++) {
		const struct perf_event_name *event = &events[i];

		if (name_match_compare_name(&query->match, event->name) ||
		    (event->alias && name_match_compare_name(&query->match, event->alias)))
			err = visit_perf_event(event, query, visit, arg, error);
	}
	return err;
}

int source_list_add_sample(struct source_list *list, u64 frequency, struct stackmap_error *error)
{
	static const struct source cycles = {
		.perf_type = PERF_TYPE_HARDWARE,
		.perf_config = {PERF_COUNT_HW_CPU_CYCLES},
	};
	int err = list->period ? 0 : check_frequency(frequency, error);

	if (err)
		return err;
	return source_list_add(
		list, can_open_perf_event_of_source(&cycles, false) ? "cycles" : "cpu-clock",
		frequency, error);
}

const struct source_ops source_perf_ops = {
	.group = "perf event",
	.find = find_perf_events,
};

/* --- Events of PMUs by their terms. --- */

static int visit_pmu_event(const char *word, struct source_query *query, source_visit visit,
			   void *arg, struct stackmap_error *error)
{
	struct source source = {.name = (char *)word};
	struct pmu_event event;
	int err = pmu_event_parse(PMU_FOLDERS, word, query->subject, &event, error);

	if (err)
		return err;
	source.perf_type = event.type;
	memcpy(source.perf_config, event.config, sizeof(event.config));
	source.period = event.period;
	source.frequency = event.frequency;
	if (!can_open_perf_event_of_source(&source, query->is_counter)) {
		if (source.perf_type == PERF_TYPE_RAW)
			return error_set(error, ENOENT,
					 "%s: no hardware counter (PMU) for it here; did you mean "
					 "%scpu-clock?",
					 query->subject, query->is_counter ? "+" : "");
		return error_set(error, ENOENT, "%s: the kernel %s this event here", query->subject,
				 query->is_counter ? "does not count" : "takes no samples of");
	}
	return visit_completed_source(&source, query, visit, arg, error);
}

struct pmu_search {
	struct source_query *query;
	source_visit visit;
	void *arg;
};

/* A named event that this machine does not have is left out of lists. */
static int visit_matching_pmu_event(void *arg, const char *word)
{
	struct pmu_search *search = arg;
	struct stackmap_error unused;
	int err;

	if (!name_match_compare_name(&search->query->match, word))
		return 0;
	err = visit_pmu_event(word, search->query, search->visit, search->arg, &unused);
	return err < 0 ? 0 : err;
}

static int find_pmu_events(struct source_query *query, source_visit visit, void *arg,
			   struct stackmap_error *error)
{
	struct pmu_search search = {query, visit, arg};

	if (!query->pmu_event)
		return pmu_event_each(PMU_FOLDERS, visit_matching_pmu_event, &search);
	query->match.found++;
	return visit_pmu_event(query->pmu_event, query, visit, arg, error);
}

const struct source_ops source_pmu_ops = {
	.group = "PMU event",
	.find = find_pmu_events,
};

/* --- Counters that other events read. --- */

struct counter_search {
	struct source_counter *out;
	const char *unit;
};

static int set_counter_from_source(void *arg, const struct source *source)
{
	struct counter_search *search = arg;
	bool is_clock = source->type == SOURCE_SAMPLE && source->perf_type == PERF_TYPE_SOFTWARE;

	search->out->perf_type = source->perf_type;
	memcpy(search->out->perf_config, source->perf_config, sizeof(source->perf_config));
	search->unit = is_clock ? "ns" : strchr(source->name, '/') ? "counts" : source->name;
	return 0;
}

static int set_counter_error(const char *subject, const char *why, struct stackmap_error *error)
{
	return error_set(error, EINVAL, "%s: %s", subject, why);
}

static int find_counter(struct source_word *word, struct counter_search *search,
			struct stackmap_error *error)
{
	struct source_query *query = &word->query;
	const char *modes = query->modes ?: "";
	int err;

	if (query->match.is_glob)
		return set_counter_error(query->subject, "a counter has one name, no glob", error);
	if (query->period || query->frequency || (word->ops && word->ops != &source_pmu_ops))
		return set_counter_error(
			query->subject,
			"a counter is a perf event without a period, as +page-faults", error);
	if (strchr(modes, 'p'))
		return set_counter_error(query->subject,
					 "a counter takes no samples, so its modes are u and k",
					 error);
	query->modes = NULL;
	query->is_counter = true;
	err = (word->ops ?: &source_perf_ops)->find(query, set_counter_from_source, search, error);
	if (!err && !query->match.found)
		return error_set(error, ENOENT, "%s: no such perf event%s%s%s", query->subject,
				 query->match.nearest[0] ? "; did you mean +" : "",
				 query->match.nearest, query->match.nearest[0] ? "?" : "");
	search->out->no_kernel = strchr(modes, 'u') && !strchr(modes, 'k');
	search->out->no_user = strchr(modes, 'k') && !strchr(modes, 'u');
	search->out->is_given = true;
	return err;
}

int source_counter_find(const char *text, const char *subject, struct source_counter *out,
			const char **unit, struct stackmap_error *error)
{
	struct counter_search search = {.out = out};
	struct source_word word;
	char *named;
	int err;

	*out = (struct source_counter){};
	if (asprintf(&named, "%s: +%s", subject, text) < 0)
		return error_set(error, ENOMEM, "%s: out of memory", subject);
	err = source_word_parse(text, named, &word, error);
	if (!err) {
		err = find_counter(&word, &search, error);
		source_word_clear(&word);
	}
	free(named);
	*unit = search.unit;
	return err;
}
