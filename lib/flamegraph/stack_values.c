/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flamegraph/stack_values.h"

#include <errno.h>

void stack_values_begin(struct stack_values *values)
{
	*values = (struct stack_values){.stacks = INTERN(struct values_of_stack),
					.digits = DISTRIBUTION_DIGITS_EXACT};
}

void stack_values_clear(struct stack_values *values)
{
	for (u32 i = 0; i < values->stacks.count; i++)
		distribution_clear(&stack_values_at(values, i)->values);
	intern_clear(&values->stacks);
}

static u64 count_all(const struct stack_values *values)
{
	u64 count = 0;

	for (u32 i = 0; i < values->stacks.count; i++)
		count += stack_values_at(values, i)->values.item_count;
	return count;
}

/* Rounds until `most` different values are left, or until each has one digit. */
static void bound(struct stack_values *values, u64 most)
{
	for (u32 i = 0; i < values->stacks.count; i++)
		distribution_sort(&stack_values_at(values, i)->values);
	while (count_all(values) > most && values->digits > 1) {
		values->digits = distribution_fewer_digits(values->digits);
		for (u32 i = 0; i < values->stacks.count; i++)
			distribution_round(&stack_values_at(values, i)->values, values->digits);
	}
	values->since_bound = 0;
}

int stack_values_add(struct stack_values *values, const void *task, const struct time_cell *cell)
{
	const struct intern_key key = {
		{intern_address(task), cell->user | (u64)cell->kernel << 32, cell->source}};
	struct values_of_stack *of = intern_entry(&values->stacks, &key);

	if (!of || distribution_add(&of->values, cell->value, 1))
		return -ENOMEM;
	if (of->values.count == 1)
		of->cell = *cell;
	if (++values->since_bound >= VALUES_KEPT_MAX)
		bound(values, VALUES_KEPT_MAX / 2);
	return 0;
}

void stack_values_finish(struct stack_values *values)
{
	bound(values, VALUES_MAX);
	if (count_all(values) <= VALUES_MAX)
		return;
	stack_values_clear(values);
	stack_values_begin(values);
	values->digits = 0;
}
