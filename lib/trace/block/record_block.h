/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of plain records: all records except stacks and events. A record consists of varints in
 * one column and strings in another column. The format of a record is the order in which its put
 * function writes the fields and its get function reads them.
 *
 * A put function appends a record. A get function reads the next record and copies its strings to
 * the arena. It returns 0, -EBADMSG or -ENOMEM (also at the arena's limit).
 */
#ifndef LIB_TRACE_RECORD_BLOCK_H
#define LIB_TRACE_RECORD_BLOCK_H

#include "arena.h"
#include "trace/block/block.h"
#include "trace/event.h"

void record_builder_init(struct block_builder *builder, enum trace_block_type type);

void record_put_info(struct block_builder *builder, const struct trace_info *info);
void record_put_source(struct block_builder *builder, const struct trace_source *source);
void record_put_module(struct block_builder *builder, const struct trace_module *module);
void record_put_mapping(struct block_builder *builder, const struct trace_mapping *mapping);
void record_put_cgroup(struct block_builder *builder, const struct trace_cgroup *cgroup);
/* `version`: version of the file. */
void record_put_context(struct block_builder *builder, u32 version,
			const struct trace_context *context);
void record_put_attributes(struct block_builder *builder,
			   const struct trace_attributes *attributes);
void record_put_process(struct block_builder *builder, u32 version,
			const struct trace_process *process);
void record_put_task(struct block_builder *builder, const struct trace_task *task);
/* Addresses are written as differences to `before`, the previous symbol of the block (all zero for
 * the first symbol). */
void record_put_symbol(struct block_builder *builder, const struct trace_symbol *before,
		       const struct trace_symbol *symbol);
void record_put_thread_account(struct block_builder *builder, const struct thread_account *account);
void record_put_ledger(struct block_builder *builder, u32 version,
		       const struct trace_ledger *ledger);
void record_put_cpu_ledger(struct block_builder *builder, u32 version,
			   const struct trace_cpu_ledger *cpu);
void record_put_source_ledger(struct block_builder *builder,
			      const struct trace_source_ledger *source);
void record_put_end(struct block_builder *builder, u64 events);

int record_get_info(struct block_view *view, struct arena *arena, struct trace_info *info);
int record_get_source(struct block_view *view, struct arena *arena, struct trace_source *source);
int record_get_module(struct block_view *view, struct arena *arena, struct trace_module *module);
int record_get_mapping(struct block_view *view, struct arena *arena, struct trace_mapping *mapping);
int record_get_cgroup(struct block_view *view, struct arena *arena, struct trace_cgroup *cgroup);
int record_get_context(struct block_view *view, u32 version, struct trace_context *context);
int record_get_attributes(struct block_view *view, struct arena *arena,
			  struct trace_attributes *attributes);
int record_get_process(struct block_view *view, u32 version, struct arena *arena,
		       struct trace_process *process);
/* Reads the next task. `version`: version of the file. */
int record_get_task(struct block_view *view, u32 version, struct trace_task *task);
/* Reads the next symbol. `version`: version of the file. */
int record_get_symbol(struct block_view *view, u32 version, struct arena *arena,
		      const struct trace_symbol *before, struct trace_symbol *symbol);
int record_get_thread_account(struct block_view *view, struct thread_account *account);
int record_get_ledger(struct block_view *view, u32 version, struct trace_ledger *ledger);
int record_get_cpu_ledger(struct block_view *view, u32 version, struct trace_cpu_ledger *cpu);
int record_get_source_ledger(struct block_view *view, struct trace_source_ledger *source);
int record_get_end(struct block_view *view, u64 *events);

/* True if the cursor has read all bytes of the block's columns. */
bool is_record_block_read_to_end(const struct block_view *view);

#endif
