/*
 * A libcupti for GPUPROF_CUPTI, in front of the simulated one: what libgpuprof.so calls of CUPTI
 * fails, as tests/lib/fault_plan.h says, with FAULTS_ERROR of CUptiResult; all else it does.
 *
 *	FAULTS_SWITCHED		a file that gets a line "NAME ON DOMAIN CBID" for each switching of callbacks
 */
#include "tests/lib/fault_plan.h"

#include <dlfcn.h>

#include "inject/cupti_versions.h"

static bool fails(const char *name)
{
	read_plan(CUPTI_ERROR_UNKNOWN);
	return is_to_fail(name);
}

/* Of cuptiEnableDomain and cuptiEnableCallback; the second parameter is the subscriber. */
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

/* Whatever its parameters are: they are numbers and pointers, four at most. */
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
