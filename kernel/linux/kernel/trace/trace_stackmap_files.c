// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of stack maps in tracefs. */

#include <linux/buildid.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <asm/sections.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

#include "stackmap/stack_map_bin.h"

/* An open file: one generation, whatever becomes of the instance. */
struct stackmap_file {
	struct trace_array *tr;
	struct trace_stackmap *map; /* NULL: the option is off */
	bool shows_addresses;
};

static struct table_view *element_at(struct stackmap_file *file, loff_t slot)
{
	return stack_map_at(file->map->table, &file->map->geometry, slot);
}

/* The first slot from *slot on with a stack. */
static void *element_from(struct stackmap_file *file, loff_t *slot)
{
	if (!file->map)
		return NULL;
	for (; *slot <= file->map->geometry.slot_mask; (*slot)++) {
		struct table_view *element = element_at(file, *slot);

		if (element)
			return element;
		cond_resched();
	}
	return NULL;
}

/* Position 0 is what stands before the stacks. */
static void *stackmap_seq_start(struct seq_file *seq, loff_t *position)
{
	loff_t slot = *position - 1;
	void *element;

	if (!*position)
		return SEQ_START_TOKEN;
	element = element_from(seq->private, &slot);
	*position = slot + 1;
	return element;
}

static void *stackmap_seq_next(struct seq_file *seq, void *element, loff_t *position)
{
	++*position;
	return stackmap_seq_start(seq, position);
}

static void stackmap_seq_stop(struct seq_file *seq, void *element)
{
}

static u32 element_id(struct stackmap_file *file, struct seq_file *seq)
{
	return stack_map_id(file->map->table, seq->index - 1);
}

static void kernel_frame_show(struct seq_file *seq, u64 frame, bool shows_addresses)
{
	char name[KSYM_SYMBOL_LEN];

	if (frame == FTRACE_TRAMPOLINE_MARKER) {
		seq_puts(seq, "[FTRACE TRAMPOLINE]");
		return;
	}
	sprint_backtrace(name, frame);
	if (!shows_addresses && name[0] == '0')
		strscpy(name, "[unknown]");
	seq_puts(seq, name);
}

static void frame_show(struct seq_file *seq, struct stackmap_file *file, u64 frame, u32 flags)
{
	if (flags & STACK_USER)
		trace_mappings_show_frame(seq, &file->map->mappings, frame);
	else
		kernel_frame_show(seq, frame, file->shows_addresses);
	seq_putc(seq, '\n');
}

static int stackmap_show_text(struct seq_file *seq, void *token)
{
	struct stackmap_file *file = seq->private;
	const struct table_view *element = token;
	u32 depth, flags;

	if (token == SEQ_START_TOKEN)
		return 0;
	depth = IDENTITY_DEPTH(element->identity);
	flags = IDENTITY_FLAGS(element->identity);
	seq_printf(seq, "stack_id %u [ref %llu, depth %u]\n", element_id(file, seq),
		   atomic_load_relaxed(&element->ref_count), depth);
	for (u32 i = 0; i < depth; i++) {
		seq_printf(seq, "  [%u] ", i);
		frame_show(seq, file, stack_frame(element->word, flags, i), flags);
	}
	seq_putc(seq, '\n');
	return 0;
}

static u64 table_inserts(struct trace_stackmap *map)
{
	struct table_stat stat;

	stack_table_stat(map->table, &map->geometry, &stat);
	return stat.inserts;
}

static void binary_header_show(struct seq_file *seq, struct trace_stackmap *map)
{
	struct stack_map_bin_header header = {
		.magic = STACK_MAP_BIN_MAGIC,
		.version = STACK_MAP_BIN_VERSION,
		.count = map ? table_inserts(map) : 0,
	};

	seq_write(seq, &header, sizeof(header));
}

static int stackmap_show_binary(struct seq_file *seq, void *token)
{
	struct stackmap_file *file = seq->private;
	const struct table_view *element = token;
	struct stack_map_bin_record record = {};
	u32 flags;

	if (token == SEQ_START_TOKEN) {
		binary_header_show(seq, file->map);
		return 0;
	}
	flags = IDENTITY_FLAGS(element->identity);
	record.stack_id = element_id(file, seq);
	record.depth = IDENTITY_DEPTH(element->identity);
	record.flags = flags & STACK_TRUNCATED;
	record.ref_count = min_t(u64, atomic_load_relaxed(&element->ref_count), U32_MAX);
	seq_write(seq, &record, sizeof(record));
	for (u32 i = 0; i < record.depth; i++) {
		u64 frame = stack_frame(element->word, flags, i);

		if (FRAME_IS_KERNEL(frame) && !file->shows_addresses)
			frame = 0;
		seq_write(seq, &frame, sizeof(frame));
	}
	return 0;
}

static u64 percent(u64 part, u64 whole)
{
	return whole ? div64_u64(part * 100, whole) : 0;
}

static int stackmap_show_stat(struct seq_file *seq, void *unused)
{
	struct stackmap_file *file = seq->private;
	struct table_stat stat;
	u64 drops, hits;

	if (!file->map)
		return 0;
	stack_table_stat(file->map->table, &file->map->geometry, &stat);
	drops = table_stat_refused(&stat);
	hits = stat.refs - min(stat.refs, stat.entries);
	seq_printf(seq, "entries: %llu / %llu\n", stat.entries, stat.max_entries);
	seq_printf(seq, "pool: %llu / %llu\n", 8 * stat.pool_used, 8 * stat.pool_words);
	seq_printf(seq, "full: %u%%\n", table_stat_fill(&stat));
	seq_printf(seq, "table_size: %llu\n", file->map->geometry.slot_mask + 1ULL);
	seq_printf(seq, "successes: %llu\n", stat.refs);
	seq_printf(seq, "hits: %llu\n", hits);
	seq_printf(seq, "drops: %llu\n", drops);
	seq_printf(seq, "success_rate: %llu%%\n", percent(stat.refs, stat.refs + drops));
	seq_printf(seq, "hit_rate: %llu%%\n", percent(hits, stat.refs + drops));
	seq_printf(seq, "generation: %llu\n", stat.generation);
	seq_printf(seq, "deep: %ld\n", atomic_long_read(&file->map->deep));
	seq_printf(seq, "lost: %ld\n", atomic_long_read(&file->map->lost));
	seq_printf(seq, "mappings: %u / %u\n", READ_ONCE(file->map->mappings.count),
		   MAPPINGS_MAX - 1);
	seq_printf(seq, "mappings_refused: %u\n", READ_ONCE(file->map->mappings.refused));
	trace_user_stacks_show(seq, file->tr);
	return 0;
}

/* The line of the kernel's image. A position is a mapping number behind it. */
static void kernel_mapping_show(struct seq_file *seq, bool shows_addresses)
{
	unsigned long begin = shows_addresses ? (unsigned long)_stext : 0;
	unsigned long end = shows_addresses ? (unsigned long)_etext : 0;

	seq_printf(seq, "kernel vmlinux 0x%lx-0x%lx ", begin, end);
#if IS_ENABLED(CONFIG_STACKTRACE_BUILD_ID) || IS_ENABLED(CONFIG_VMCORE_INFO)
	seq_printf(seq, "%*phN\n", BUILD_ID_SIZE_MAX, vmlinux_build_id);
#else
	seq_puts(seq, "-\n");
#endif
}

static void *mappings_seq_start(struct seq_file *seq, loff_t *position)
{
	struct stackmap_file *file = seq->private;

	return file->map && *position <= READ_ONCE(file->map->mappings.count) ? position : NULL;
}

static void *mappings_seq_next(struct seq_file *seq, void *unused, loff_t *position)
{
	++*position;
	return mappings_seq_start(seq, position);
}

static int stackmap_show_mapping(struct seq_file *seq, void *position)
{
	struct stackmap_file *file = seq->private;
	u32 number = *(loff_t *)position;

	if (number)
		trace_mappings_show(seq, &file->map->mappings, number);
	else
		kernel_mapping_show(seq, file->shows_addresses);
	return 0;
}

static const struct seq_operations stackmap_text_operations = {
	.start = stackmap_seq_start,
	.next = stackmap_seq_next,
	.stop = stackmap_seq_stop,
	.show = stackmap_show_text,
};

static const struct seq_operations stackmap_binary_operations = {
	.start = stackmap_seq_start,
	.next = stackmap_seq_next,
	.stop = stackmap_seq_stop,
	.show = stackmap_show_binary,
};

static const struct seq_operations stackmap_mappings_operations = {
	.start = mappings_seq_start,
	.next = mappings_seq_next,
	.stop = stackmap_seq_stop,
	.show = stackmap_show_mapping,
};

static int stackmap_open(struct inode *inode, struct file *filp,
			 const struct seq_operations *operations)
{
	struct trace_array *tr = inode->i_private;
	struct stackmap_file *file;
	int error = tracing_check_open_get_tr(tr);

	if (error)
		return error;
	file = __seq_open_private(filp, operations, sizeof(*file));
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;
	file->map = trace_stackmap_get(tr);
	file->shows_addresses = kallsyms_show_value(filp->f_cred);
	return 0;
}

static int stackmap_release(struct inode *inode, struct file *filp)
{
	struct stackmap_file *file = ((struct seq_file *)filp->private_data)->private;

	trace_stackmap_put(file->map);
	trace_array_put(file->tr);
	return seq_release_private(inode, filp);
}

/* A sequence of the token alone. */
static void *stat_seq_next(struct seq_file *seq, void *token, loff_t *position)
{
	++*position;
	return NULL;
}

static void *stat_seq_start(struct seq_file *seq, loff_t *position)
{
	return *position ? NULL : SEQ_START_TOKEN;
}

static const struct seq_operations stackmap_stat_operations = {
	.start = stat_seq_start,
	.next = stat_seq_next,
	.stop = stackmap_seq_stop,
	.show = stackmap_show_stat,
};

static ssize_t stackmap_write_reset(struct file *filp, const char __user *text, size_t bytes,
				    loff_t *position)
{
	int error = trace_stackmap_reset(file_inode(filp)->i_private);

	if (error)
		return error;
	*position += bytes;
	return bytes;
}

/* The file that shows the sequence of that name. */
#define STACKMAP_FILE(name)                                                                  \
	static int stackmap_open_##name(struct inode *inode, struct file *filp)              \
	{                                                                                    \
		return stackmap_open(inode, filp, &stackmap_##name##_operations);            \
	}                                                                                    \
	static const struct file_operations stackmap_##name##_fops = {                       \
		.open = stackmap_open_##name,                                                \
		.read = seq_read,                                                            \
		.llseek = seq_lseek,                                                         \
		.release = stackmap_release,                                                 \
	}

STACKMAP_FILE(text);
STACKMAP_FILE(binary);
STACKMAP_FILE(mappings);
STACKMAP_FILE(stat);

static const struct file_operations stackmap_reset_fops = {
	.open = tracing_open_generic_tr,
	.write = stackmap_write_reset,
	.release = tracing_release_generic_tr,
};

void trace_stackmap_create_files(struct trace_array *tr, struct dentry *folder)
{
	trace_create_file("stack_map", TRACE_MODE_READ, folder, tr, &stackmap_text_fops);
	trace_create_file("stack_map_bin", TRACE_MODE_READ, folder, tr, &stackmap_binary_fops);
	trace_create_file("stack_map_stat", TRACE_MODE_READ, folder, tr, &stackmap_stat_fops);
	trace_create_file("mappings", TRACE_MODE_READ, folder, tr, &stackmap_mappings_fops);
	trace_create_file("stack_map_reset", TRACE_MODE_WRITE, folder, tr, &stackmap_reset_fops);
}
