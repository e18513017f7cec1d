/*
 * stack_hash: a 64-bit hash of a call stack, computed frame by frame, outermost first.
 *
 * It depends on all frames and their order.  The probability of a collision among n different
 * stacks is about n * n / 2^65: for a million stacks, 1 in 30 million.
 */
#ifndef STACKS_STACK_HASH_H
#define STACKS_STACK_HASH_H

#include <stdint.h>

/* The hash of a stack with this innermost frame, whose callers have the hash `callers`. */
static inline uint64_t gp_stack_hash_add(uint64_t callers, uint64_t frame)
{
	uint64_t hash = (callers + frame) * 0x9e3779b97f4a7c15u;

	return hash ^ hash >> 32;
}

#endif
