#include "report/base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

static bool is_inside(const char *at)
{
	return ((uint8_t)*at & 0xc0) == 0x80;
}

size_t gp_utf8_cut(const char *text, size_t most)
{
	size_t back = 0;

	if (strnlen(text, most + 1) <= most)
		return strlen(text);
	while (back < most && back < 4 && is_inside(text + most - back))
		back++;
	/* four continuation bytes are no sequence */
	return is_inside(text + most - back) ? most : most - back;
}

char *gp_utf8_repair(const char *text)
{
	size_t length = strlen(text), used = 0, replaced = strlen(REPLACEMENT);
	char *copy = malloc(replaced * length + 1);
	uint32_t code;

	for (size_t i = 0; copy && i < length;) {
		size_t count = gp_utf8_decode(text + i, length - i, &code);

		memcpy(copy + used, count > 0 ? text + i : REPLACEMENT,
		       count > 0 ? count : replaced);
		used += count > 0 ? count : replaced;
		i += count > 0 ? count : 1;
	}
	if (copy)
		copy[used] = '\0';
	return copy;
}
