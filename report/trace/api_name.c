#include "report/trace/api_name.h"

#include <string.h>

#define LEAST_VERSION_DIGITS 4

static size_t without_version(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && name[length - 1 - digits] >= '0' &&
	       name[length - 1 - digits] <= '9')
		digits++;
	if (digits < LEAST_VERSION_DIGITS || length <= digits + 2)
		return length;
	return memcmp(name + length - digits - 2, "_v", 2) == 0 ? length - digits - 2 : length;
}

static size_t without_ending(const char *name, size_t length, const char *ending)
{
	size_t cut = strlen(ending);

	if (length > cut && memcmp(name + length - cut, ending, cut) == 0)
		return length - cut;
	return length;
}

size_t gp_api_name_length(const char *name, size_t length)
{
	length = without_version(name, length);
	length = without_ending(name, length, "_ptsz");
	return without_ending(name, length, "_ptds");
}
