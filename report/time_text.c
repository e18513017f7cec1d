#include "report/time_text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static double unit_of(const char *name, double bare_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

	if (*name == '\0')
		return bare_ns;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(name, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

bool gp_time_text_read(const char *text, double bare_ns, double *ns)
{
	size_t digits = strspn(text, "0123456789."); /* strtod() takes much else */
	double unit_ns = unit_of(text + digits, bare_ns);
	char *end;
	double value = strtod(text, &end);

	if (digits == 0 || end != text + digits || unit_ns <= 0)
		return false;
	*ns = value * unit_ns;
	return true;
}
