// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The files of stack maps in tracefs.
 *
 * A file shows the generation that was current when it was opened, whatever
 * happens to the instance until it is closed.
 */
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

struct stackmap_file {
	struct trace_array *tr;
	struct trace_stackmap *map;	/* NULL: the option is off */
	bool show_addresses;
};

/* Find the first element in slot *slot or behind it. */
static void *element_from(struct stackmap_file *file, loff_t *slot)
{
	struct trace_stackmap *map = file->map;

	if (!map)
		return NULL;
	for (; *slot <= map->geometry.slot_mask; (*slot)++) {
		struct stackid_element *element;

		element = stackid_map_at(map->table, &map->geometry, *slot);
		if (element)
			return element;
		cond_resched();
	}
	return NULL;
}

/* Position 0 is the header, position n the slot n - 1. */
static void *stackmap_seq_start(struct seq_file *m, loff_t *pos)
{
	loff_t slot = *pos - 1;
	void *element;

	if (!*pos)
		return SEQ_START_TOKEN;
	element = element_from(m->private, &slot);
	*pos = slot + 1;
	return element;
}

static void *stackmap_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return stackmap_seq_start(m, pos);
}

static void stackmap_seq_stop(struct seq_file *m, void *v)
{
}

static u32 element_id(struct stackmap_file *file, struct seq_file *m)
{
	return stackid_map_id(file->map->table, m->index - 1);
}

static void kernel_frame_show(struct seq_file *m, u64 frame, bool show_addresses)
{
	char name[KSYM_SYMBOL_LEN];

	if (frame == FTRACE_TRAMPOLINE_MARKER) {
		seq_puts(m, "[FTRACE TRAMPOLINE]");
		return;
	}
	sprint_backtrace(name, frame);
	/* An address without a symbol */
	if (!show_addresses && name[0] == '0')
		strscpy(name, "[unknown]");
	seq_puts(m, name);
}

static int stackmap_text_show(struct seq_file *m, void *v)
{
	struct stackmap_file *file = m->private;
	const struct stackid_element *element = v;
	u32 depth, flags;

	if (v == SEQ_START_TOKEN)
		return 0;
	depth = STACKID_IDENTITY_DEPTH(element->identity);
	flags = STACKID_IDENTITY_FLAGS(element->identity);
	seq_printf(m, "stack_id %u [ref %llu, depth %u]\n", element_id(file, m),
		   (u64)atomic64_read(&element->ref_count), depth);
	for (u32 i = 0; i < depth; i++) {
		u64 frame = stackid_frame(element->word, flags, i);

		seq_printf(m, "  [%u] ", i);
		kernel_frame_show(m, frame, file->show_addresses);
		seq_putc(m, '\n');
	}
	seq_putc(m, '\n');
	return 0;
}

static int stackmap_stat_show(struct seq_file *m, void *v)
{
	struct stackmap_file *file = m->private;
	struct trace_stackmap *map = file->map;
	struct stackid_stat stat;

	if (!map)
		return 0;
	stackid_table_stat(map->table, &map->geometry, &stat);
	seq_printf(m, "entries: %llu / %llu\n", stat.entries, stat.max_entries);
	seq_printf(m, "pool: %llu / %llu\n", 8 * stat.pool_used,
		   8 * stat.pool_words);
	seq_printf(m, "pool_wasted: %llu\n", 8 * stat.wasted);
	seq_printf(m, "successes: %llu\n", stat.refs);
	seq_printf(m, "drops: %llu\n", stackid_stat_refused(&stat));
	seq_printf(m, "drops_pool_full: %llu\n",
		   stat.drops[STACKID_DROP_POOL_FULL]);
	seq_printf(m, "drops_table_full: %llu\n",
		   stat.drops[STACKID_DROP_TABLE_FULL]);
	seq_printf(m, "drops_probe_limit: %llu\n",
		   stat.drops[STACKID_DROP_PROBE_LIMIT]);
	seq_printf(m, "lost_races: %llu\n", stat.lost_races);
	seq_printf(m, "generation: %llu\n", stat.generation);
	seq_printf(m, "deep: %ld\n", atomic_long_read(&map->deep));
	seq_printf(m, "lost: %ld\n", atomic_long_read(&map->lost));
	return 0;
}

static const struct seq_operations stackmap_text_seq_ops = {
	.start	= stackmap_seq_start,
	.next	= stackmap_seq_next,
	.stop	= stackmap_seq_stop,
	.show	= stackmap_text_show,
};

/* The sequence has one element. */
static void *stat_seq_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : SEQ_START_TOKEN;
}

static void *stat_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static const struct seq_operations stackmap_stat_seq_ops = {
	.start	= stat_seq_start,
	.next	= stat_seq_next,
	.stop	= stackmap_seq_stop,
	.show	= stackmap_stat_show,
};

static int stackmap_open(struct inode *inode, struct file *filp,
			 const struct seq_operations *ops)
{
	struct trace_array *tr = inode->i_private;
	struct stackmap_file *file;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	file = __seq_open_private(filp, ops, sizeof(*file));
	if (!file) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	file->tr = tr;
	file->map = trace_stackmap_get(tr);
	file->show_addresses = kallsyms_show_value(filp->f_cred);
	return 0;
}

static int stackmap_release(struct inode *inode, struct file *filp)
{
	struct seq_file *m = filp->private_data;
	struct stackmap_file *file = m->private;

	trace_stackmap_put(file->map);
	trace_array_put(file->tr);
	return seq_release_private(inode, filp);
}

static int stackmap_text_open(struct inode *inode, struct file *filp)
{
	return stackmap_open(inode, filp, &stackmap_text_seq_ops);
}

static const struct file_operations stackmap_text_fops = {
	.open		= stackmap_text_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= stackmap_release,
};

static int stackmap_stat_open(struct inode *inode, struct file *filp)
{
	return stackmap_open(inode, filp, &stackmap_stat_seq_ops);
}

static const struct file_operations stackmap_stat_fops = {
	.open		= stackmap_stat_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= stackmap_release,
};

static ssize_t stackmap_reset_write(struct file *filp, const char __user *ubuf,
				    size_t cnt, loff_t *ppos)
{
	int ret = trace_stackmap_reset(file_inode(filp)->i_private);

	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static const struct file_operations stackmap_reset_fops = {
	.open		= tracing_open_generic_tr,
	.write		= stackmap_reset_write,
	.release	= tracing_release_generic_tr,
};

/**
 * trace_stackmap_create_files - Create the files of a map in tracefs
 * @tr: the instance
 * @d_tracer: the directory of the instance
 */
void trace_stackmap_create_files(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("stack_map", TRACE_MODE_READ, d_tracer, tr,
			  &stackmap_text_fops);
	trace_create_file("stack_map_stat", TRACE_MODE_READ, d_tracer, tr,
			  &stackmap_stat_fops);
	trace_create_file("stack_map_reset", 0200, d_tracer, tr,
			  &stackmap_reset_fops);
}
