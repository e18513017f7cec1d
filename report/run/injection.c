#include "report/run/injection.h"

#include <stddef.h>
#include <string.h>

#include "report/run/library.h"

const char *gp_injection_other(const char *path)
{
	return path && *path && strcmp(basename(path), GP_LIBRARY_NAME) != 0 ? path : NULL;
}
