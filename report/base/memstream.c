#include "report/base/memstream.h"

#include <errno.h>
#include <stdbool.h>

int gp_memstream_close(FILE *stream, char *const *text)
{
	bool failed = ferror(stream) != 0;

	return fclose(stream) != 0 || failed || !*text ? -ENOMEM : 0;
}
