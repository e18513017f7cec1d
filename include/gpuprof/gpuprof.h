/*
 * gpuprof.h: the C API for programs that name their phases or control the recording.  C and C++;
 * there is nothing to link with.
 *
 *     #include <gpuprof/gpuprof.h>
 *
 *     gpuprof_range_push("epoch");
 *     ...
 *     gpuprof_range_pop();
 *
 * Without gpuprof, each function costs one load and one well-predicted branch.  Under gpuprof, a
 * range belongs to the default NVTX domain, and a program may mix these functions with NVTX's.  Any
 * thread may call any function at any time; all functions preserve errno.
 *
 * Other languages find the functions declared below by name in the loaded library (in Python:
 * ctypes.CDLL(None).gpuprof_v1_start()).
 */
#ifndef GPUPROF_GPUPROF_H
#define GPUPROF_GPUPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's functions.  They are weak, so that they are null if the library is not loaded. */
#pragma GCC visibility push(default)
void gpuprof_v1_start(void) __attribute__((weak));
void gpuprof_v1_stop(void) __attribute__((weak));
int gpuprof_v1_is_recording(void) __attribute__((weak));
const char *gpuprof_v1_trace_path(void) __attribute__((weak));
int gpuprof_v1_range_push(const char *message) __attribute__((weak));
int gpuprof_v1_range_push_values(const char *message, uint64_t layout, const void *values)
	__attribute__((weak));
uint64_t gpuprof_v1_layout(unsigned count, const char *const *names, const char *types)
	__attribute__((weak));
int gpuprof_v1_range_pop(void) __attribute__((weak));
uint64_t gpuprof_v1_range_start(const char *message) __attribute__((weak));
uint64_t gpuprof_v1_range_start_values(const char *message, uint64_t layout, const void *values)
	__attribute__((weak));
void gpuprof_v1_range_end(uint64_t range) __attribute__((weak));
void gpuprof_v1_mark(const char *message) __attribute__((weak));
#pragma GCC visibility pop

/*
 * The address of one of them.  In a non-PIE program the linker resolves an undefined weak function
 * to null at link time, and would never find a preloaded library.  A reference through the global
 * offset table is resolved by the loader instead.
 */
#if defined(__x86_64__) && !defined(__PIC__)
#define GPUPROF_FIND(name, address)                                                                \
	__asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(address))
#else
#define GPUPROF_FIND(name, address) ((address) = name)
#endif

/*
 * Start recording now, even if an option (--delay, --capture-range, ...) would start it later.
 * Recording lasts until gpuprof_stop() or until an option (--duration, --launches) ends it.  May be
 * called any number of times.
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

/* Whether this process is recorded now. */
static inline int gpuprof_is_recording(void)
{
	int (*is_recording)(void);

	GPUPROF_FIND(gpuprof_v1_is_recording, is_recording);
	return is_recording ? is_recording() : 0;
}

/*
 * The absolute path of this process's trace; "" before the first use of CUDA or of a range, and
 * without gpuprof.
 */
static inline const char *gpuprof_trace_path(void)
{
	const char *(*trace_path)(void);

	GPUPROF_FIND(gpuprof_v1_trace_path, trace_path);
	return trace_path ? trace_path() : "";
}

/*
 * Open a range on this thread, until gpuprof_range_pop().  Ranges nest.  Returns the level, from 0;
 * a negative number if nothing is recorded.
 */
static inline int gpuprof_range_push(const char *message)
{
	int (*push)(const char *);

	GPUPROF_FIND(gpuprof_v1_range_push, push);
	return push ? push(message) : -2;
}

/*
 * Values that ranges carry, as for a size or a shape: `count` names, at most GPUPROF_VALUES, and a
 * character of `types` for each: 'l' int64_t, 'd' double, 's' const char *.  Returns the layout for
 * gpuprof_range_push_values(), which is there for good: make one for each list of names, not for
 * each range.  0 if nothing is recorded or there are too many layouts.
 */
#define GPUPROF_VALUES 16
static inline uint64_t gpuprof_layout(unsigned count, const char *const *names, const char *types)
{
	uint64_t (*layout)(unsigned, const char *const *, const char *);

	GPUPROF_FIND(gpuprof_v1_layout, layout);
	return layout ? layout(count, names, types) : 0;
}

/* As gpuprof_range_push(), with the values of a layout, 8 bytes each; they are copied. */
static inline int gpuprof_range_push_values(const char *message, uint64_t layout,
					    const void *values)
{
	int (*push)(const char *, uint64_t, const void *);

	GPUPROF_FIND(gpuprof_v1_range_push_values, push);
	return push ? push(message, layout, values) : -2;
}

/* Close the range that this thread opened last.  Returns its level; -1 if there is none. */
static inline int gpuprof_range_pop(void)
{
	int (*pop)(void);

	GPUPROF_FIND(gpuprof_v1_range_pop, pop);
	return pop ? pop() : -2;
}

/*
 * Open a range that any thread may close, and that may overlap others.  Returns the id for
 * gpuprof_range_end().
 */
static inline uint64_t gpuprof_range_start(const char *message)
{
	uint64_t (*start)(const char *);

	GPUPROF_FIND(gpuprof_v1_range_start, start);
	return start ? start(message) : 0;
}

/* As gpuprof_range_start(), with the values of a layout. */
static inline uint64_t gpuprof_range_start_values(const char *message, uint64_t layout,
						  const void *values)
{
	uint64_t (*start)(const char *, uint64_t, const void *);

	GPUPROF_FIND(gpuprof_v1_range_start_values, start);
	return start ? start(message, layout, values) : 0;
}

static inline void gpuprof_range_end(uint64_t range)
{
	void (*end)(uint64_t);

	GPUPROF_FIND(gpuprof_v1_range_end, end);
	if (end)
		end(range);
}

/* Mark a moment. */
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
