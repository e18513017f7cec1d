/*
 * hash: a number that stands for a call stack, made from frame to frame, outermost first.
 *
 * 64 bits that depend on all frames and their order.  Among n different stacks that two have the same number has a probability of about n * n / 2^65: of a
 * million, one in 30 million.
 */
#ifndef STACKS_STACK_HASH_H
#define STACKS_STACK_HASH_H

#include <stdint.h>

/* Of a stack whose callers' number is `callers`, and whose innermost frame is `frame`. */
static inline uint64_t gp_stack_hash_add(uint64_t callers, uint64_t frame)
{
	uint64_t hash = (callers + frame) * 0x9e3779b97f4a7c15u;

	return hash ^ hash >> 32;
}

#endif
