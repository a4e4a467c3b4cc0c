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

static u32 rank_of(const struct key_successors *list, u32 key)
{
	u32 rank = 0;

	while (rank < KEY_SUCCESSORS && list->key[rank] != key)
		rank++;
	return rank;
}

static void move_to_front(struct key_successors *list, u32 key, u32 rank)
{
	if (rank == KEY_SUCCESSORS)
		rank--;
	for (; rank; rank--)
		list->key[rank] = list->key[rank - 1];
	list->key[0] = key;
}

static void add_key(struct key_order *order)
{
	for (u32 i = 0; i < KEY_SUCCESSORS; i++)
		order->successors[order->keys].key[i] = NO_KEY;
	order->keys++;
}

static void follow(struct key_order *order, u32 key, u32 rank)
{
	if (order->previous != NO_KEY)
		move_to_front(&order->successors[order->previous], key, rank);
	order->previous = key;
}

u32 key_order_encode(struct key_order *order, u32 key)
{
	u32 rank = KEY_SUCCESSORS;
	u32 symbol;

	if (order->previous != NO_KEY)
		rank = rank_of(&order->successors[order->previous], key);
	if (rank < KEY_SUCCESSORS)
		symbol = rank;
	else
		symbol = key == order->keys ? KEY_SYMBOL_NEW : KEY_SYMBOL_ANY + key;
	if (key == order->keys)
		add_key(order);
	follow(order, key, rank);
	return symbol;
}

static u32 key_of(const struct key_order *order, u32 symbol)
{
	if (symbol >= KEY_SYMBOL_ANY)
		return symbol - KEY_SYMBOL_ANY;
	if (symbol == KEY_SYMBOL_NEW)
		return order->keys;
	return order->previous == NO_KEY ? NO_KEY : order->successors[order->previous].key[symbol];
}

bool key_order_decode(struct key_order *order, u32 symbol, u32 keys, u32 *key)
{
	u32 rank = symbol < KEY_SUCCESSORS ? symbol : KEY_SUCCESSORS;

	*key = key_of(order, symbol);
	if (*key >= keys || *key > order->keys)
		return false;
	if (symbol == KEY_SYMBOL_NEW)
		add_key(order);
	if (*key >= order->keys)
		return false;
	follow(order, *key, rank);
	return true;
}
