/* trace_list: the words of --trace, as a bit mask.  Any thread, once the options are read. */
#ifndef INJECT_TRACE_LIST_H
#define INJECT_TRACE_LIST_H

#include <stdint.h>

enum gp_trace {
	GP_TRACE_GPU = 1,    /* launches, copies, memsets, and their GPU activity */
	GP_TRACE_MEMORY = 2, /* allocations and pools */
	GP_TRACE_SYNC = 4,   /* objects that calls waited for */
	GP_TRACE_EVENT = 8,
	GP_TRACE_MODULE = 16, /* loading and compilation of code */
	GP_TRACE_NVTX = 32,
	GP_TRACE_OVERHEAD = 64,
	GP_TRACE_UNIFIED = 128, /* migrations and faults of managed memory */
	GP_TRACE_API_ALL = 256, /* every call of both APIs */
	GP_TRACE_WAITS = 512,   /* calls that wait */
};

/*
 * The cheap parts: without unified memory, which slows down page faults; without synchronization
 * objects and events, which slow down every API call (docs/design/cupti-notes.md, 9); and without
 * calls of little interest.
 */
#define GP_TRACE_DEFAULT                                                                           \
	(GP_TRACE_GPU | GP_TRACE_MEMORY | GP_TRACE_WAITS | GP_TRACE_MODULE | GP_TRACE_NVTX |       \
	 GP_TRACE_OVERHEAD)

/* The bits (enum gp_trace) of a list of words. */
uint32_t gp_trace_list_bits(const char *list);

/* The bits of this process's --trace. */
uint32_t gp_trace_list(void);

#endif
