/*
 * adversary: shared by the functions that tests/stacks/adversary.py writes and
 * tests/stacks/walk_test.c.
 */
#ifndef TESTS_STACKS_ADVERSARY_H
#define TESTS_STACKS_ADVERSARY_H

#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long adversary_function(int depth, long x);

/* Any of all functions. */
adversary_function *adversary_pick(void);

/* 0 to limit - 1. */
unsigned adversary_random(unsigned limit);

/* Now and then the stack is taken here, and compared. */
void adversary_visit(int depth);

/* Prevents the compiler from removing it. */
void adversary_keep(void *memory);

/* Ten arguments, some of which are passed on the stack. */
long adversary_sum(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);

/* A jump target; NULL if there are too many.  Targets belong to their stack. */
jmp_buf *adversary_push_jump(void);
void adversary_pop_jump(void);
int adversary_jumps(void);
void adversary_set_jumps(int count);

/* Jump to one of the places, if there is any. */
void adversary_jump(void);

/* Go on on another stack for a while. */
void adversary_switch(int depth);

#ifdef __cplusplus
}

/* Takes the stack in its destructor, too: also while an exception passes. */
struct adversary_visitor {
	int depth;
	explicit adversary_visitor(int at) : depth(at)
	{
		adversary_visit(depth);
	}
	~adversary_visitor()
	{
		adversary_visit(depth);
	}
};
#endif

#endif
