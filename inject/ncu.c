#include "inject/ncu.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/injection.h"

static void take_out(const char *variable, const char *library)
{
	const char *named = getenv(variable);

	if (named != NULL && strcmp(named, library) == 0)
		unsetenv(variable);
}

bool gp_ncu_yield(const char *library)
{
	if (getenv(GP_INJECTION_BY_NCU) == NULL)
		return false;
	take_out(GP_INJECTION_CUDA, library);
	take_out(GP_INJECTION_NVTX, library);
	return true;
}
