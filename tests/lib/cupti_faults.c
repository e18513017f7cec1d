/*
 * A libcupti for GPUPROF_CUPTI, in front of the simulated one: what libgpuprof.so calls of CUPTI fails, as
 * tests/lib/fault_plan.h says, with FAULTS_ERROR of CUptiResult; all else it does.
 */
#include "tests/lib/fault_plan.h"

#include <dlfcn.h>

#include "inject/cupti_versions.h"

static bool fails(const char *name)
{
	read_plan(CUPTI_ERROR_UNKNOWN);
	return is_to_fail(name);
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
		return fails(#name) ? plan.error : real(a, b, c, d);                               \
	}
GP_CUPTI_FUNCTIONS(X)
GP_CUPTI_EXTRA_FUNCTIONS(X)
