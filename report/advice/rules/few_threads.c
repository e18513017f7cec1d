#include "report/advice/rules/few_threads.h"

#include <string.h>

bool gp_kind_needs_few_threads(const struct gp_advisor *advisor, uint32_t kind)
{
	static const char *const kinds[] = {"GEMM", "GEMV", "convolution", "attention",
					    "communication"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(gp_kinds_name(advisor->kinds, kind), kinds[i]) == 0)
			return true;
	return false;
}
