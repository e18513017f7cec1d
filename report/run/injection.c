#include "report/run/injection.h"

#include <stddef.h>
#include <string.h>

#include "report/run/library.h"

const char *gp_injection_other(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	return path && *path && strcmp(name ? name + 1 : path, GP_LIBRARY_NAME) != 0 ? path : NULL;
}
