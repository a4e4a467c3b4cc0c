/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Codes a sequence of keys by recent successors: each key has a list of the last KEY_SUCCESSORS
 * distinct keys that followed it, latest first. Encoder and decoder keep equal lists. A symbol is
 *
 *   0 .. KEY_SUCCESSORS - 1   position in the successors of the previous key
 *   KEY_SYMBOL_NEW            the next key of the dictionary, which is in the order of first use
 *   KEY_SYMBOL_ANY + key      any other key
 */
#ifndef LIB_TRACE_KEY_ORDER_H
#define LIB_TRACE_KEY_ORDER_H

#include <stdbool.h>

#include "trace_file.h"

struct key_successors {
	u32 key[KEY_SUCCESSORS];
};

struct key_order {
	struct key_successors *successors; /* list of successors of each key; index: key */
	u32 keys;			   /* number of keys in the dictionary so far */
	u32 previous;
};

/* `successors` has room for all keys that will be used. The owner may move the array to larger
 * memory. */
void key_order_start(struct key_order *order, struct key_successors *successors);
/* Makes `key`, which was used before, the previous key. */
void key_order_seek(struct key_order *order, u32 key);
/* Codes `key`, which is at most order->keys; order->keys stands for a new key. */
u32 key_order_encode(struct key_order *order, u32 key);
/* Decodes a symbol. False: the symbol is invalid. `keys` is the size of the dictionary. */
bool key_order_decode(struct key_order *order, u32 symbol, u32 keys, u32 *key);

#endif
