/*
 * gpuprof.h: for programs that want to name what they do, or say what is to be recorded.  C and C++; nothing to link with.
 *
 *	#include <gpuprof/gpuprof.h>
 *
 *	gpuprof_range_push("epoch");
 *	...
 *	gpuprof_range_pop();
 *
 * Without gpuprof every function here is one load and one test that always goes the same way.  Under gpuprof, a range is one
 * of NVTX's default domain, and NVTX's functions may be used beside these.  All functions may be called by any thread at any
 * time, and keep errno.
 *
 * Other languages find the functions of the declarations below by name, where the library is loaded (in Python:
 * ctypes.CDLL(None).gpuprof_v1_start()).
 */
#ifndef GPUPROF_GPUPROF_H
#define GPUPROF_GPUPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's own functions; weak, so that they are null where there is no library. */
#pragma GCC visibility push(default)
void gpuprof_v1_start(void) __attribute__((weak));
void gpuprof_v1_stop(void) __attribute__((weak));
int gpuprof_v1_range_push(const char *message) __attribute__((weak));
int gpuprof_v1_range_pop(void) __attribute__((weak));
uint64_t gpuprof_v1_range_start(const char *message) __attribute__((weak));
void gpuprof_v1_range_end(uint64_t range) __attribute__((weak));
void gpuprof_v1_mark(const char *message) __attribute__((weak));
#pragma GCC visibility pop

/*
 * The address of one of them.  In a program of fixed addresses the linker would take a weak function that it does not see
 * for null at once, and a library that is preloaded would never be found; what goes through the global offset table
 * is left to the loader.
 */
#if defined(__x86_64__) && !defined(__PIC__)
#define GPUPROF_FIND(name, address)                                                                \
	__asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(address))
#else
#define GPUPROF_FIND(name, address) ((address) = name)
#endif

/*
 * Record from here on, also where an option (--delay, --capture-range, ...) would not yet, until gpuprof_stop(), or until an option
 * (--duration, --launches) ends it.  Any number of times.
 */
static inline void gpuprof_start(void)
{
	void (*start)(void);

	GPUPROF_FIND(gpuprof_v1_start, start);
	if (start)
		start();
}

static inline void gpuprof_stop(void)
{
	void (*stop)(void);

	GPUPROF_FIND(gpuprof_v1_stop, stop);
	if (stop)
		stop();
}

/* Open a range on this thread, until gpuprof_range_pop().  Ranges nest; returns the level, from 0, or less where nothing is
 * recorded. */
static inline int gpuprof_range_push(const char *message)
{
	int (*push)(const char *);

	GPUPROF_FIND(gpuprof_v1_range_push, push);
	return push ? push(message) : -2;
}

/* Close the range that this thread opened last.  Returns its level; -1: there is none. */
static inline int gpuprof_range_pop(void)
{
	int (*pop)(void);

	GPUPROF_FIND(gpuprof_v1_range_pop, pop);
	return pop ? pop() : -2;
}

/* Open a range that any thread may close, also across others.  Returns what gpuprof_range_end() needs. */
static inline uint64_t gpuprof_range_start(const char *message)
{
	uint64_t (*start)(const char *);

	GPUPROF_FIND(gpuprof_v1_range_start, start);
	return start ? start(message) : 0;
}

static inline void gpuprof_range_end(uint64_t range)
{
	void (*end)(uint64_t);

	GPUPROF_FIND(gpuprof_v1_range_end, end);
	if (end)
		end(range);
}

/* A moment, not a span. */
static inline void gpuprof_mark(const char *message)
{
	void (*mark)(const char *);

	GPUPROF_FIND(gpuprof_v1_mark, mark);
	if (mark)
		mark(message);
}

#ifdef __cplusplus
}
#endif

#endif
