/*
 * hash_bytes: a 64-bit hash of a byte string, for tables within one process.
 *
 * Eight bytes at a time, multiply and fold, because names are long and come with every kernel or
 * range.  Any thread.
 */
#ifndef COLLECTOR_HASH_BYTES_H
#define COLLECTOR_HASH_BYTES_H

#include <stdint.h>
#include <string.h>

#define GP_HASH_SEED 0x9e3779b97f4a7c15u

static inline uint64_t gp_hash_fold(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdu;
	return hash ^ hash >> 32;
}

static inline uint64_t gp_hash_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The remainder after whole words is read as the last eight bytes, if there are that many. */
static inline uint64_t gp_hash_bytes(uint64_t seed, const char *bytes, uint32_t length)
{
	const char *last = bytes + (length & ~7u);
	uint32_t rest = length & 7;
	uint64_t hash = seed ^ GP_HASH_SEED ^ length, word = 0;

	for (; bytes != last; bytes += 8)
		hash = gp_hash_fold(hash, gp_hash_word(bytes));
	if (rest == 0)
		return hash;
	if (length > 8)
		word = gp_hash_word(last + rest - 8) >> (64 - 8 * rest);
	else
		memcpy(&word, last, rest);
	return gp_hash_fold(hash, word);
}

#endif
