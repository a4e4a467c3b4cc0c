/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-1-3 (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF"), of whole 64-bit
 * words: one round for each word, three at the end. Without the key a process cannot choose two
 * texts with the same hash, so a hash under a secret key can stand for bytes of another process.
 */
#ifndef CORE_KEYED_HASH_H
#define CORE_KEYED_HASH_H

#include "env.h"

struct keyed_hash {
	u64 lane[4];
};

CORE_PART u64 rotate_left(u64 word, u32 bits)
{
	return word << bits | word >> (64 - bits);
}

CORE_PART void keyed_hash_round(struct keyed_hash *hash)
{
	u64 a = hash->lane[0], b = hash->lane[1], c = hash->lane[2], d = hash->lane[3];

	a += b;
	c += d;
	b = rotate_left(b, 13) ^ a;
	d = rotate_left(d, 16) ^ c;
	a = rotate_left(a, 32) + d;
	c += b;
	d = rotate_left(d, 21) ^ a;
	b = rotate_left(b, 17) ^ c;
	c = rotate_left(c, 32);
	hash->lane[0] = a;
	hash->lane[1] = b;
	hash->lane[2] = c;
	hash->lane[3] = d;
}

CORE_PART void keyed_hash_begin(struct keyed_hash *hash, u64 key, u64 second_key)
{
	hash->lane[0] = key ^ 0x736f6d6570736575ULL;
	hash->lane[1] = second_key ^ 0x646f72616e646f6dULL;
	hash->lane[2] = key ^ 0x6c7967656e657261ULL;
	hash->lane[3] = second_key ^ 0x7465646279746573ULL;
}

CORE_PART void keyed_hash_add(struct keyed_hash *hash, u64 word)
{
	hash->lane[3] ^= word;
	keyed_hash_round(hash);
	hash->lane[0] ^= word;
}

/* Returns the hash of the `words` words that were added. */
CORE_PART u64 keyed_hash_end(struct keyed_hash *hash, u32 words)
{
	keyed_hash_add(hash,
		       (u64)words << 59); /* the upper byte: the length in bytes, modulo 256 */
	hash->lane[2] ^= 0xff;
	keyed_hash_round(hash);
	keyed_hash_round(hash);
	keyed_hash_round(hash);
	return hash->lane[0] ^ hash->lane[1] ^ hash->lane[2] ^ hash->lane[3];
}

#endif
