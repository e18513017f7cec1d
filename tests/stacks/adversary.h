/*
 * adversary: shared by tests/stacks/walk_test.c and the functions that tests/stacks/adversary.py
 * generates.
 */
#ifndef TESTS_STACKS_ADVERSARY_H
#define TESTS_STACKS_ADVERSARY_H

#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long adversary_function(int depth, long x);

/* A random function. */
adversary_function *adversary_pick(void);

/* 0 to limit - 1. */
unsigned adversary_random(unsigned limit);

/* Captures the stack at some of the calls, and compares it. */
void adversary_visit(int depth);

/* Prevents the compiler from removing the memory. */
void adversary_keep(void *memory);

/* Ten arguments, some of which are passed on the stack. */
long adversary_sum(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);

/* A jump target; NULL if there are too many.  Targets belong to their stack. */
jmp_buf *adversary_push_jump(void);
void adversary_pop_jump(void);
int adversary_jumps(void);
void adversary_set_jumps(int count);

/* Jumps to one of the targets, if there is one. */
void adversary_jump(void);

/* Continues on another stack for some time. */
void adversary_switch(int depth);

#ifdef __cplusplus
}

/* Captures the stack in its destructor, too: also during an exception. */
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
