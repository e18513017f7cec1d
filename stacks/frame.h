/* frame: one native frame of a walk, and the starting point of a walk. */
#ifndef STACKS_FRAME_H
#define STACKS_FRAME_H

#include <stdint.h>

struct gp_frame {
	/* return address; for the innermost frame the pc itself; below a signal handler, pc + 1 */
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	uint64_t rule;
};

#if defined(__aarch64__)

#define GP_KEPT_REGISTERS 10u /* x19 to x28 */

/* The starting point of a walk. */
struct gp_place {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp; /* x29 */
};

/* The frame of the calling function, which must not return before the walk has ended. */
#define GP_PLACE_HERE(place)                                                                       \
	__asm__ volatile("adr %0, 1f\n\tmov %1, sp\n\tmov %2, x29\n1:"                             \
			 : "=&r"((place).pc), "=&r"((place).sp), "=&r"((place).bp)                 \
			 :                                                                         \
			 : "memory")

/*
 * Hides a value from the compiler.  Otherwise it makes a copy of GP_PLACE_HERE for each case that
 * the value distinguishes, and equal stacks would begin at different addresses.
 */
#define GP_PLACE_ONCE(value) __asm__("" : "+r"(value))

/* A return address without its signature (pointer authentication). */
static inline uint64_t gp_return_address(uint64_t word)
{
	register uint64_t x30 __asm__("x30") = word;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri; a nop on CPUs without signatures */
	return x30;
}

#else

/* Callee-saved registers; the others are unknown in a frame's caller. */
enum gp_kept { GP_KEPT_BX, GP_KEPT_R12, GP_KEPT_R13, GP_KEPT_R14, GP_KEPT_R15, GP_KEPT_REGISTERS };

/* The starting point of a walk. */
struct gp_place {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	uint64_t kept[GP_KEPT_REGISTERS]; /* besides sp and bp */
};

/* The frame of the calling function, which must not return before the walk has ended. */
#define GP_PLACE_HERE(place)                                                                       \
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n\t"               \
			 "movq %%rbx, 0(%3)\n\tmovq %%r12, 8(%3)\n\tmovq %%r13, 16(%3)\n\t"        \
			 "movq %%r14, 24(%3)\n\tmovq %%r15, 32(%3)"                                \
			 : "=&r"((place).pc), "=&r"((place).sp), "=&r"((place).bp)                 \
			 : "r"((place).kept)                                                       \
			 : "memory")

/* Compilers make one copy here (stack_test.c sees it). */
#define GP_PLACE_ONCE(value) ((void)0)

static inline uint64_t gp_return_address(uint64_t word)
{
	return word;
}

#endif

#endif
