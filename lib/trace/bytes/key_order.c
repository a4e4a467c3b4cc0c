/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each key has a move-to-front list of its successors, short enough for a linear search. */
#include "trace/bytes/key_order.h"

#include <stdint.h>

#define NO_KEY UINT32_MAX

void key_order_start(struct key_order *order, struct key_successors *successors)
{
	order->successors = successors;
	order->keys = 0;
	order->previous = NO_KEY;
}

void key_order_seek(struct key_order *order, u32 key)
{
	order->previous = key;
}

static void add_new_key(struct key_order *order)
{
	for (u32 i = 0; i < KEY_SUCCESSORS; i++)
		order->successors[order->keys].key[i] = NO_KEY;
	order->keys++;
}

/* Moves the key from position `rank` to the front of the previous key's list, and makes it the
 * previous key. */
static void move_to_front(struct key_order *order, u32 key, u32 rank)
{
	if (order->previous != NO_KEY) {
		u32 *list = order->successors[order->previous].key;

		if (rank == KEY_SUCCESSORS)
			rank--;
		for (; rank; rank--)
			list[rank] = list[rank - 1];
		list[0] = key;
	}
	order->previous = key;
}

u32 key_order_encode(struct key_order *order, u32 key)
{
	u32 rank = KEY_SUCCESSORS;
	u32 symbol = key == order->keys ? KEY_SYMBOL_NEW : KEY_SYMBOL_ANY + key;

	if (order->previous != NO_KEY) {
		const u32 *list = order->successors[order->previous].key;

		for (rank = 0; rank < KEY_SUCCESSORS && list[rank] != key;)
			rank++;
	}
	if (rank < KEY_SUCCESSORS)
		symbol = rank;
	if (key == order->keys)
		add_new_key(order);
	move_to_front(order, key, rank);
	return symbol;
}

bool key_order_decode(struct key_order *order, u32 symbol, u32 keys, u32 *key)
{
	u32 rank = symbol < KEY_SUCCESSORS ? symbol : KEY_SUCCESSORS;

	if (symbol >= KEY_SYMBOL_ANY)
		*key = symbol - KEY_SYMBOL_ANY;
	else if (symbol == KEY_SYMBOL_NEW)
		*key = order->keys;
	else
		*key = order->previous == NO_KEY ? NO_KEY
						 : order->successors[order->previous].key[symbol];
	if (*key >= keys || *key > order->keys)
		return false;
	if (symbol == KEY_SYMBOL_NEW)
		add_new_key(order);
	if (*key >= order->keys)
		return false;
	move_to_front(order, *key, rank);
	return true;
}
