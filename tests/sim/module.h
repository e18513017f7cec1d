/* Modules, libraries and kernels of the simulated driver. */
#ifndef GPUPROF_TESTS_SIM_MODULE_H
#define GPUPROF_TESTS_SIM_MODULE_H

#include "tests/sim/device.h"

/*
 * A module's function or a library's kernel.  They have one layout, because launches accept either.
 */
struct CUfunc_st {
	const char *name;
	uint64_t spin_arguments; /* the first argument gives the duration */
	bool touches;            /* adds one to each byte of its argument; see device.h */
	_Atomic bool loaded;
	CUmodule module;
	struct CUfunc_st *next;
};

struct CUkern_st {
	struct CUfunc_st function;
};

/* A module or a library: functions, found by name. */
struct CUmod_st {
	bool any_name; /* binary code, whose names are not read: it has every requested function */
	char *text;    /* PTX */
	struct CUfunc_st *functions;
	pthread_mutex_t lock;
	uint32_t id;
};

struct CUlib_st {
	struct CUmod_st module;
};

#endif
