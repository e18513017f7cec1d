#include "report/export.h"

#include <string.h>

const struct gp_exporter *const gp_exporters[] = {
	&gp_exporter_chrome,
	NULL,
};

const struct gp_exporter *gp_exporter_find(const char *name)
{
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}
