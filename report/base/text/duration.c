#include "report/base/text/duration.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 if there is no such unit. */
static double unit_of(const char *name)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(name, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

bool gp_duration_read(const char *text, double *ns)
{
	size_t digits = strspn(text, "0123456789."); /* strtod() accepts more than digits */
	double unit_ns = unit_of(text + digits);
	char *end;
	double value = strtod(text, &end);
	bool is_nothing = text[digits] == '\0' && value <= 0;

	if (digits == 0 || end != text + digits || (unit_ns <= 0 && !is_nothing))
		return false;
	*ns = value * unit_ns;
	return true;
}
