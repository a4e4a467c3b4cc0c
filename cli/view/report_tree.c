/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The call tree, and the trees of one function: its callees and its callers. */
#include <errno.h>
#include <stdio.h>

#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/terminal.h"

#define TITLE_COLUMNS 64 /* of a title, beside the name of the source */

struct tree {
	const struct report *report;
	const struct report_tree_request *request;
	u32 kind;
	bool hides; /* a branch was too small to be shown */
};

static void print_node(const struct tree *tree, const struct calltree_node *node, int indent,
		       const char *mark)
{
	printf("%6.2f%% %6.2f%%  %*s%s ", report_percent(tree->report, tree->kind, node->count),
	       report_percent(tree->report, tree->kind, node->self), indent, "", mark);
	printable_put_cut(node->name, terminal_left(19 + (u32)indent), stdout);
	putchar('\n');
}

static bool is_small(const struct tree *tree, const struct calltree_node *node)
{
	return report_percent(tree->report, tree->kind, node->count) < tree->report->least;
}

static void print_branches(struct tree *tree, const struct calltree_node *node, int indent)
{
	const struct calltree_node *end;

	for (const struct calltree_node *branch = node->first_child; branch;
	     branch = branch->next) {
		tree->hides |= is_small(tree, branch);
		if (is_small(tree, branch))
			return;
		print_node(tree, branch, indent, "-");
		/*
		 * The only child of a function without own events is printed in the same column, so
		 * chains do not drift to the right.
		 */
		for (end = branch; end->first_child && end->first_child->count == end->count &&
				   !end->first_child->next;
		     end = end->first_child)
			print_node(tree, end->first_child, indent, " ");
		print_branches(tree, end, indent + 2);
	}
}

static void print_title(const struct tree *tree)
{
	static const char *const titles[][2] = {
		[CALLTREE_WHOLE] = {"call tree", "function (outermost first)"},
		[CALLTREE_CALLEES] = {"callees", "function, what it calls"},
		[CALLTREE_CALLERS] = {"callers", "function, who calls it"},
	};
	const char *const *title = titles[tree->request->view];

	printf("\n# %s of ", title[0]);
	printable_put_cut(tree->report->sources[tree->kind].name, terminal_left(TITLE_COLUMNS),
			  stdout);
	printf(": %s, %s\n",
	       tree->request->view == CALLTREE_CALLERS ? "through here, from here on"
						       : "with callees, itself",
	       title[1]);
}

/* The functions asked for are the root, and have a line of their own. */
static void print_tree(struct tree *tree, struct calltree_node *root)
{
	print_title(tree);
	if (tree->request->view == CALLTREE_WHOLE) {
		print_branches(tree, root, 0);
		return;
	}
	root->name = tree->request->symbol;
	print_node(tree, root, 0, "-");
	print_branches(tree, root, 2);
}

static int make_tree(const struct tree *tree, struct calltree_node **root)
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
		if (make_tree(&tree, &root))
			return -ENOMEM;
		if (root->count || request->view == CALLTREE_WHOLE)
			print_tree(&tree, root);
		calltree_free(&root);
	}
	if (tree.hides)
		printf("\n# branches below %g%% not shown (--min-percent 0)\n", report->least);
	return 0;
}

static json_t *node_object(const struct tree *tree, const struct calltree_node *node)
{
	json_t *children = json_array();

	for (const struct calltree_node *child = node->first_child; child; child = child->next)
		if (!is_small(tree, child))
			json_array_append_new(children, node_object(tree, child));
	return json_pack("{s:o, s:o, s:I, s:I, s:o}", "name", json_text(node->name), "object",
			 node->object ? json_text(node->object) : json_null(), "count",
			 (json_int_t)node->count, "self", (json_int_t)node->self, "children",
			 children);
}

static int add_tree(const struct tree *tree, json_t *trees)
{
	const char *event = tree->report->sources[tree->kind].name;
	struct calltree_node *root;
	int failed;

	if (make_tree(tree, &root))
		return -ENOMEM;
	if (tree->request->view != CALLTREE_WHOLE)
		root->name = tree->request->symbol;
	failed = json_array_append_new(trees, json_pack("{s:o, s:o}", "event", json_text(event),
							"tree", node_object(tree, root)));
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
			err = add_tree(&tree, trees);
	if (err) {
		json_decref(trees);
		return err;
	}
	return report_put_json(report, json_pack("{s:o}", "trees", trees));
}
