/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hottest stacks, one by one, or as trees: the call tree, or the trees of one function, which
 * are its callees and its callers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/terminal.h"

/*
 * Prints a kernel or user path. A path without frames gets a line if the stack was lost, or if the
 * event has no other stack (`alone`): an event in user mode has no kernel stack, and this is not a
 * loss.
 */
static void print_kernel_or_user_path(const struct report *report, const struct profile_path *path,
				      const char *tag, bool alone)
{
	for (u32 i = 0; i < path->depth; i++) {
		printf("    %s ", tag);
		printable_put_cut(frame_names_label(report->profile->names, path->labels[i]),
				  columns_left_in_terminal_line(8), stdout);
		putchar('\n');
	}
	if (alone || stack_end_is_cut(path->end))
		printf("    %s %s %s\n", tag, path->end->marker, path->end->meaning);
}

void print_kernel_and_user_path(const struct report *report, const struct profile_row *row)
{
	bool alone = !row->kernel->depth && !row->user->depth;

	print_kernel_or_user_path(report, row->kernel, "[k]", alone);
	print_kernel_or_user_path(report, row->user, "[u]", alone);
}

static double row_percent(const struct report *report, const struct profile_row *row)
{
	return report_percent(report, row->kind,
			      profile_row_weight(row, report->weights.by[row->kind]));
}

static void print_stack_row(const struct report *report, const struct profile_row *row)
{
	const struct trace_source *source = &report->sources[row->kind];
	const char *comm = row->comm[0] ? row->comm : "[unknown]", *value = "", *error = "";
	u32 used;

	if (source->extras & TRACE_EXTRA_VALUE && strcmp(source->value_unit, TRACE_UNIT_ADDRESS))
		value = format_value_of_source(report, row->kind, row->value);
	if (value[0])
		error = format_sampling_error(report, row->kind, row->estimates);
	printf("\n%s", report->color ? "\033[1m" : "");
	used = (u32)printf("%6.2f%%  %llu  ", row_percent(report, row),
			   (unsigned long long)row->count);
	used += (u32)(printable_count(comm) + 2 +
		      (value[0] ? strlen(value) + strlen(error) + 2 : 0));
	printable_put(comm, stdout);
	printf("  ");
	printable_put_cut(source->name, columns_left_in_terminal_line(used), stdout);
	printf("%s%s%s%s\n", value[0] ? "  " : "", value, error, report->color ? "\033[0m" : "");
	print_kernel_and_user_path(report, row);
}

/* Returns the number of rows to show. The rows are sorted by share. */
static u32 count_shown_rows(const struct report *report)
{
	const struct profile *profile = report->profile;
	u32 count = 0;

	while (count < profile->row_count && count < report->limit &&
	       row_percent(report, profile->rows[count]) >= report->least)
		count++;
	return count;
}

int report_stacks_plain(const struct report *report)
{
	u32 shown = count_shown_rows(report);

	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		print_stack_row(report, report->profile->rows[i]);
	if (report->profile->row_count > shown && shown == report->limit)
		printf("\n# %u of %u stacks shown, --top 0 shows all\n", shown,
		       report->profile->row_count);
	return 0;
}

void write_folded_path(const struct report *report, const struct profile_path *path, FILE *to)
{
	const char *marker = profile_path_marker(path);

	for (u32 i = 0; i < path->depth; i++) {
		const char *name;

		fputs(i ? ";" : "", to);
		name = frame_names_label(report->profile->names, path->labels[i]);
		for (; *name; name++)
			fputc(*name == ';' ? ':' : *name, to);
	}
	if (marker)
		fprintf(to, "%s%s", path->depth ? ";" : "", marker);
}

int print_path_as_csv(const struct report *report, const struct profile_path *path)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	int err = -ENOMEM;

	if (!memory)
		return err;
	write_folded_path(report, path, memory);
	if (!fclose(memory)) {
		csv_put(",", text, stdout);
		err = 0;
	}
	free(text);
	return err;
}

int report_stacks_csv(const struct report *report)
{
	u32 shown = count_shown_rows(report);
	int err = 0;

	printf("self,count,value,event,comm,kernel,user\n");
	for (u32 i = 0; i < shown && !ferror(stdout) && !err; i++) {
		const struct profile_row *row = report->profile->rows[i];

		printf("%.4f,%llu,%llu", row_percent(report, row), (unsigned long long)row->count,
		       (unsigned long long)row->value);
		csv_put(",", report->sources[row->kind].name, stdout);
		csv_put(",", row->comm, stdout);
		err = print_path_as_csv(report, row->kernel)
			      ?: print_path_as_csv(report, row->user);
		putchar('\n');
	}
	return err;
}

int report_stacks_json(const struct report *report)
{
	return report_put_json(report, json_pack("{s:o}", "stacks",
						 json_stacks(report->reader, report->profile,
							     count_shown_rows(report))));
}

/* --- call trees --- */

#define TITLE_COLUMNS 64 /* width of a title without the name of the source */

struct tree {
	const struct report *report;
	const struct report_tree_request *request;
	u32 kind;
	bool hides; /* true: a branch was too small and was left out */
};

static void print_tree_node(const struct tree *tree, const struct calltree_node *node, int indent,
			    const char *mark)
{
	printf("%6.2f%% %6.2f%%  %*s%s ", report_percent(tree->report, tree->kind, node->count),
	       report_percent(tree->report, tree->kind, node->self), indent, "", mark);
	printable_put_cut(node->name, columns_left_in_terminal_line(19 + (u32)indent), stdout);
	putchar('\n');
}

static bool is_node_too_small(const struct tree *tree, const struct calltree_node *node)
{
	return report_percent(tree->report, tree->kind, node->count) < tree->report->least;
}

static void print_children_of_tree_node(struct tree *tree, const struct calltree_node *node,
					int indent)
{
	const struct calltree_node *end;

	for (const struct calltree_node *branch = node->first_child; branch;
	     branch = branch->next) {
		tree->hides |= is_node_too_small(tree, branch);
		if (is_node_too_small(tree, branch))
			return;
		print_tree_node(tree, branch, indent, "-");
		/*
		 * The only child of a function without events of its own is printed in the same
		 * column as its parent, so that long chains do not move to the right.
		 */
		for (end = branch; end->first_child && end->first_child->count == end->count &&
				   !end->first_child->next;
		     end = end->first_child)
			print_tree_node(tree, end->first_child, indent, " ");
		print_children_of_tree_node(tree, end, indent + 2);
	}
}

/* Prints a tree. In the tree of a function, the function is the root and has a line of its own. */
static void print_tree(struct tree *tree, struct calltree_node *root)
{
	static const char *const titles[][2] = {
		[CALLTREE_WHOLE] = {"call tree", "function (outermost first)"},
		[CALLTREE_CALLEES] = {"callees", "function, what it calls"},
		[CALLTREE_CALLERS] = {"callers", "function, who calls it"},
	};
	const char *const *title = titles[tree->request->view];

	printf("\n# %s of ", title[0]);
	printable_put_cut(tree->report->sources[tree->kind].name,
			  columns_left_in_terminal_line(TITLE_COLUMNS), stdout);
	printf(": %s, %s\n",
	       tree->request->view == CALLTREE_CALLERS ? "through here, from here on"
						       : "with callees, itself",
	       title[1]);
	if (tree->request->view == CALLTREE_WHOLE) {
		print_children_of_tree_node(tree, root, 0);
		return;
	}
	root->name = tree->request->symbol;
	print_tree_node(tree, root, 0, "-");
	print_children_of_tree_node(tree, root, 2);
}

static int make_tree_of_source(const struct tree *tree, struct calltree_node **root)
{
	const struct calltree_options options = {
		.kind = tree->kind,
		.by = tree->report->weights.by[tree->kind],
		.view = tree->request->view,
		.functions = &tree->request->functions,
	};

	return calltree_create(tree->report->profile, &options, root);
}

int report_tree_plain(const struct report *report, const struct report_tree_request *request)
{
	struct tree tree = {.report = report, .request = request};
	struct calltree_node *root;

	for (; tree.kind < report->source_count; tree.kind++) {
		if (!report->weights.counts[tree.kind])
			continue;
		if (make_tree_of_source(&tree, &root))
			return -ENOMEM;
		if (root->count || request->view == CALLTREE_WHOLE)
			print_tree(&tree, root);
		calltree_free(&root);
	}
	if (tree.hides)
		printf("\n# branches below %g%% not shown (--min-percent 0)\n", report->least);
	return 0;
}

static json_t *make_json_of_tree_node(const struct tree *tree, const struct calltree_node *node)
{
	json_t *children = json_array();

	for (const struct calltree_node *child = node->first_child; child; child = child->next)
		if (!is_node_too_small(tree, child))
			json_array_append_new(children, make_json_of_tree_node(tree, child));
	return json_pack("{s:o, s:o, s:I, s:I, s:o}", "name", json_text(node->name), "object",
			 node->object ? json_text(node->object) : json_null(), "count",
			 (json_int_t)node->count, "self", (json_int_t)node->self, "children",
			 children);
}

static int append_tree_json(const struct tree *tree, json_t *trees)
{
	const char *event = tree->report->sources[tree->kind].name;
	struct calltree_node *root;
	int failed;

	if (make_tree_of_source(tree, &root))
		return -ENOMEM;
	if (tree->request->view != CALLTREE_WHOLE)
		root->name = tree->request->symbol;
	failed =
		json_array_append_new(trees, json_pack("{s:o, s:o}", "event", json_text(event),
						       "tree", make_json_of_tree_node(tree, root)));
	calltree_free(&root);
	return failed ? -ENOMEM : 0;
}

int report_tree_json(const struct report *report, const struct report_tree_request *request)
{
	struct tree tree = {.report = report, .request = request};
	json_t *trees = json_array();
	int err = 0;

	for (; tree.kind < report->source_count && !err; tree.kind++)
		if (report->weights.counts[tree.kind])
			err = append_tree_json(&tree, trees);
	if (err) {
		json_decref(trees);
		return err;
	}
	return report_put_json(report, json_pack("{s:o}", "trees", trees));
}
