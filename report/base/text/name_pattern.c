#include "report/base/text/name_pattern.h"

#include <ctype.h>
#include <stdbool.h>

void gp_name_pattern(char *pattern, size_t bytes, const char *text)
{
	size_t used = 0;
	bool in_number = false;

	for (; *text && used + 1 < bytes; text++) {
		bool digit = isdigit((unsigned char)*text);

		if (!digit || !in_number)
			pattern[used++] = digit ? '*' : *text;
		in_number = digit;
	}
	pattern[used] = '\0';
}
