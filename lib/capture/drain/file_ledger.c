/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters in scratch slots, rings and global variables of the programs only grow, so a file
 * reports the difference to what earlier files have reported. Runs of programs that the kernel
 * skipped are not counted by CPU; their reported number is kept in the ring header of CPU 0. */
#include "capture/drain/file_ledger.h"

#include <string.h>

#include "capture/drain/counted_events.h"
#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"
#include "capture/load/attach.h"
#include "capture/load/skeleton.h"

_Static_assert(LOST_COUNT <= RING_REPORTED_MAX, "a ring header has no room for all losses");

static struct trace_cpu_ledger read_event_totals_of_cpu(const struct loaded *loaded, u32 cpu)
{
	const struct scratch *scratch_slots = loaded_scratch(loaded, cpu);
	struct ring_view ring = loaded_ring(loaded, cpu);
	struct trace_cpu_ledger totals = {.cpu = cpu};

	for (u32 i = 0; i < SCRATCH_SLOTS; i++) {
		const struct scratch *scratch = &scratch_slots[i];

		totals.lost[LOST_NESTED] += scratch->refused;
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			totals.lost[cause] += scratch->counters.lost[cause];
		totals.produced += scratch->counters.produced +
				   scratch->counters.lost[LOST_PAUSED] + scratch->refused;
	}
	totals.lost[LOST_RESET] += ring.header->reset;
	totals.counted = count_counted_events_of_cpu(loaded, cpu);
	return totals;
}

static u64 count_skipped_program_runs(const struct loaded *loaded)
{
	u64 misses = 0;

	for (u32 kind = 0; kind < loaded->sources->count; kind++)
		misses += attach_count_skipped_perf_events(&loaded->attachment, kind);
	for (u32 i = 0; i < loaded->attachment.set_count; i++)
		misses += program_set_recursion_misses(&loaded->attachment.sets[i]);
	for (u32 i = 0; i < loaded->program_count; i++)
		misses += program_recursion_misses(loaded->programs[i]);
	return attach_count_all_skipped_events(&loaded->attachment, misses);
}

static u64 sum_losses_over_causes(const u64 *lost)
{
	u64 sum = 0;

	for (u32 cause = 0; cause < LOST_COUNT; cause++)
		sum += lost[cause];
	return sum;
}

static u64 *reported_losses_of_cpu(const struct loaded *loaded, u32 cpu)
{
	return loaded_ring(loaded, cpu).header->reported;
}

void file_ledger_store_earlier_counts(struct recording *recording)
{
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].consumed_before = ring.header->consumed;
		recording->cpus[cpu].counted_before =
			count_written_counted_events(recording->loaded, cpu);
	}
}

void file_ledger_count_user_stack(struct recording *recording, const struct stack_ref *ref,
				  u64 events)
{
	if (ref->index == TRACE_NO_STACK)
		recording->written.user_reasons[ref->reason] += events;
	else if (ref->stop != STOP_COUNT)
		recording->written.user_stops[ref->stop] += events;
}

static struct trace_cpu_ledger cpu_ledger_since_last_file(const struct recording *recording,
							  u32 cpu)
{
	const struct cpu_reader *reader = &recording->cpus[cpu];
	struct trace_cpu_ledger ledger = read_event_totals_of_cpu(recording->loaded, cpu);

	ledger.counted =
		count_written_counted_events(recording->loaded, cpu) - reader->counted_before;
	ledger.produced -= reader->consumed_before + reader->counted_before;
	for (u32 cause = 0; cause < LOST_COUNT; cause++) {
		u64 reported = cause == LOST_RECURSION
				       ? 0
				       : reported_losses_of_cpu(recording->loaded, cpu)[cause];

		ledger.lost[cause] -= reported;
		ledger.produced -= reported;
	}
	ledger.lost[LOST_OVERWRITTEN] += reader->passed_over;
	ledger.recorded = reader->events - reader->ended;
	ledger.produced -= reader->ended;
	if (recording->mode == READ_DRAIN && recording->loaded->running)
		ledger.produced =
			ledger.recorded + ledger.counted + sum_losses_over_causes(ledger.lost);
	return ledger;
}

/* Adds what the BPF programs have counted since the start. */
static void sum_notes_of_programs(const struct loaded *loaded, u64 *notes)
{
	const struct capture_bpf__bss *memory = loaded_programs(loaded)->bss;

	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		const struct scratch *scratch_slots = loaded_scratch(loaded, cpu);

		for (u32 i = 0; i < SCRATCH_SLOTS; i++) {
			const struct scratch_counters *counters = &scratch_slots[i].counters;

			notes[NOTE_UNKNOWN_FRAMES] += counters->unknown_frames;
			notes[NOTE_UNJOINED_SCRIPTS] += counters->script_unjoined;
			notes[NOTE_UNNAMED_SCRIPTS] += counters->script_unknown;
			notes[NOTE_DEEP_SCRIPTS] += counters->script_missed;
			notes[NOTE_UNREAD_CONTEXTS] += counters->context_unread;
			notes[NOTE_UNPLACED_CONTEXTS] += counters->context_unknown;
		}
	}
	notes[NOTE_UNNAMED_TASKS] += memory->tasks_lost;
	notes[NOTE_UNFOLLOWED_TASKS] += memory->follow_lost;
	notes[NOTE_UNFINISHED_WAITS] += memory->unfinished_waits;
	notes[NOTE_WAITS_BEFORE] += memory->waits_before;
	/* Accounts of times and waits count the same switches. */
	notes[NOTE_UNSEEN_SWITCHES] += memory->time_rest.unseen > memory->unseen_waits
					       ? memory->time_rest.unseen
					       : memory->unseen_waits;
	notes[NOTE_UNTIMED_THREADS] += memory->time_rest.untimed;
	notes[NOTE_UNBEGUN_SPANS] += memory->spans_unbegun;
	notes[NOTE_UNKEPT_SPANS] += memory->spans_unkept;
	notes[NOTE_UNREAD_NUMBERS] += memory->numbers_unread;
	notes[NOTE_FIRST_COUNTS] += memory->counts_first;
	notes[NOTE_UNREAD_COUNTS] += memory->counts_unread;
	notes[NOTE_UNKEPT_COUNTS] += memory->counts_unkept;
	notes[NOTE_COMPAT_CALLS] += memory->compat_calls;
	notes[NOTE_UNMET_CONDITIONS] += memory->conditions_unmet;
}

/* Adds what this process has counted and has not yet marked as reported. */
static void add_notes_of_attachment(const struct attachment *attachment, u64 *notes)
{
	notes[NOTE_MISSED_WAITS] += attachment->missed_waits;
	notes[NOTE_UNFINISHED_SPANS] += attachment->unfinished_spans;
	notes[NOTE_LATE_CPUS] += attachment->hotplug.came;
	notes[NOTE_UNSAMPLED_CPUS] += attachment->hotplug.unsampled;
}

void file_ledger_sum(const struct recording *recording, struct trace_ledger *ledger,
		     struct trace_cpu_ledger *cpus)
{
	u64 counted[NOTE_COUNT] = {}, reported[NOTE_COUNT];

	/* Another reader may mark notes as reported meanwhile: the counters, which only grow, are
	 * read later. */
	memcpy(reported, loaded_programs(recording->loaded)->bss->notes_reported, sizeof(reported));
	*ledger = recording->written;
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		cpus[cpu] = cpu_ledger_since_last_file(recording, cpu);
		ledger->produced += cpus[cpu].produced;
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			ledger->lost[cause] += cpus[cpu].lost[cause];
	}
	sum_notes_of_programs(recording->loaded, counted);
	for (u32 note = 0; note < NOTE_COUNT; note++)
		ledger->notes[note] += counted[note] - reported[note];
	add_notes_of_attachment(&recording->loaded->attachment, ledger->notes);
	ledger->recorded = trace_writer_recorded(recording->writer);
	ledger->counted = trace_writer_counted(recording->writer);
	ledger->lost[LOST_WRITE_ERROR] += trace_writer_lost(recording->writer);
	ledger->lost[LOST_RECURSION] = count_skipped_program_runs(recording->loaded) -
				       reported_losses_of_cpu(recording->loaded, 0)[LOST_RECURSION];
	ledger->produced += ledger->lost[LOST_RECURSION];
}

/* True if the program of a source serves no other source, and all its skipped runs are events. */
static bool is_program_of_one_source(const struct attachment *attachment, u32 kind)
{
	const struct placement *own = &attachment->placements[kind];
	u32 users = 0;

	for (u32 other = 0; other < attachment->sources->count; other++)
		users += attachment->placements[other].set == own->set &&
			 attachment->placements[other].program == own->program;
	return users == 1 && own->program && own->program != PROGRAM_FIELD_VALUE;
}

static u64 count_skipped_runs_of_source(const struct attachment *attachment, u32 kind)
{
	const struct placement *own = attachment->placements ? &attachment->placements[kind] : NULL;
	u64 skipped = attach_count_skipped_perf_events(attachment, kind);

	if (own && is_program_of_one_source(attachment, kind))
		skipped += program_recursion_misses(
			program_set_find_event_fd(&attachment->sets[own->set], own->program));
	return skipped;
}

void file_ledger_add_losses_by_source(const struct recording *recording, u64 *lost)
{
	const struct loaded *loaded = recording->loaded;
	u32 cpus = loaded->plan.config.cpus;

	if (!loaded->plan.config.losses)
		return;
	for (u32 kind = 0; kind < loaded->plan.config.losses; kind++) {
		lost[kind] += count_skipped_runs_of_source(&loaded->attachment, kind);
		for (u32 cpu = 0; cpu < cpus; cpu++)
			lost[kind] += __atomic_load_n(loaded_source_losses(loaded, cpu, kind),
						      __ATOMIC_RELAXED);
		lost[kind] -= *loaded_source_losses(loaded, cpus, kind);
	}
}

void file_ledger_mark_as_reported(struct recording *recording, const struct trace_ledger *ledger,
				  const struct trace_cpu_ledger *cpus, const u64 *lost)
{
	struct loaded *loaded = recording->loaded;
	u64 *reported = loaded_programs(loaded)->bss->notes_reported;
	u64 of_process[NOTE_COUNT] = {};

	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++)
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			reported_losses_of_cpu(loaded, cpu)[cause] += cpus[cpu].lost[cause];
	reported_losses_of_cpu(loaded, 0)[LOST_RECURSION] += ledger->lost[LOST_RECURSION];
	for (u32 kind = 0; kind < loaded->plan.config.losses; kind++)
		*loaded_source_losses(loaded, loaded->plan.config.cpus, kind) += lost[kind];
	add_notes_of_attachment(&loaded->attachment, of_process);
	for (u32 note = 0; note < NOTE_COUNT; note++)
		reported[note] +=
			ledger->notes[note] - recording->written.notes[note] - of_process[note];
	/* CPUs that could not be sampled stay so: each later file says it, too. */
	loaded->attachment.missed_waits = 0;
	loaded->attachment.unfinished_spans = 0;
	loaded->attachment.hotplug.came = 0;
}

void sum_ledger_of_instance(const struct loaded *loaded, struct trace_ledger *totals)
{
	*totals = (struct trace_ledger){};
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct trace_cpu_ledger each = read_event_totals_of_cpu(loaded, cpu);

		totals->produced += each.produced;
		totals->counted += each.counted;
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			totals->lost[cause] += each.lost[cause];
	}
	sum_notes_of_programs(loaded, totals->notes);
	add_notes_of_attachment(&loaded->attachment, totals->notes);
	totals->lost[LOST_RECURSION] = count_skipped_program_runs(loaded);
	totals->produced += totals->lost[LOST_RECURSION];
	totals->recorded =
		totals->produced - totals->counted - sum_losses_over_causes(totals->lost);
}
