/*
 * A libcupti for GPUPROF_CUPTI that wraps the simulated one.  The calls of libgpuprof.so that
 * tests/lib/fault_plan.h selects fail, with FAULTS_ERROR as a CUptiResult.  All others are passed
 * on.
 *
 *	FAULTS_SWITCHED		a file that gets a line "NAME ON DOMAIN CBID" for each call that
 *				enables or disables callbacks
 */
#include "tests/lib/fault_plan.h"

#include <dlfcn.h>

#include "inject/cupti_versions.h"

static bool fails(const char *name)
{
	read_plan(CUPTI_ERROR_UNKNOWN);
	return is_to_fail(name);
}

/* For cuptiEnableDomain and cuptiEnableCallback, whose second parameter is the subscriber. */
static void note_switch(const char *name, long on, long domain, long cbid)
{
	if (!strcmp(name, "cuptiEnableDomain") || !strcmp(name, "cuptiEnableCallback"))
		note("FAULTS_SWITCHED", "%s %u %u %u\n", name, (unsigned)on, (unsigned)domain,
		     (unsigned)cbid);
}

static void *behind(const char *name)
{
	return dlsym(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD), name);
}

/* Fits any function: the parameters are at most four numbers and pointers. */
typedef long function(long, long, long, long);

#define X(name)                                                                                    \
	function failing_##name __asm__(#name);                                                    \
	long failing_##name(long a, long b, long c, long d)                                        \
	{                                                                                          \
		static function *real;                                                             \
		if (!real)                                                                         \
			real = (function *)behind(#name);                                          \
		note_switch(#name, a, c, d);                                                       \
		return fails(#name) ? plan.error : real(a, b, c, d);                               \
	}
GP_CUPTI_FUNCTIONS(X)
GP_CUPTI_EXTRA_FUNCTIONS(X)
