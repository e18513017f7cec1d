#include "report/analysis/device/stall_reasons.h"

#include <math.h>
#include <string.h>

#include "gpuprof/count.h"
#include "gpuprof/counter.h"

#define DEVIATIONS 1.96 /* of the normal distribution: 95 % lie within */

static const struct gp_stall_reason reasons[] = {
#define STALL_REASON(name, meaning, helps) {name, meaning, helps},
#include "report/analysis/device/stall_reason.def"
#undef STALL_REASON
};

const struct gp_stall_reason *gp_stall_reason_of(const char *name)
{
	static const struct gp_stall_reason unknown = {"", "", ""};

	for (size_t i = 0; i < COUNT(reasons); i++)
		if (strcmp(reasons[i].name, name) == 0)
			return &reasons[i];
	return &unknown;
}

bool gp_stall_reason_is_work(const char *name)
{
	return strcmp(name, "selected") == 0;
}

const char *gp_stall_text(const struct gp_model *model, uint32_t id)
{
	const struct gp_text *text = gp_model_text(model, GP_STRING_STALL, 0, id);

	return text ? text->bytes : "(unknown)";
}

bool gp_stalls_any(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->stall_count > 0 || models[i]->counters[GP_COUNTER_STALL_SAMPLES] > 0)
			return true;
	return false;
}

double gp_stall_error(double part, double whole)
{
	double share = whole > 0 ? part / whole : 0;

	return whole > 0 ? 100 * DEVIATIONS * sqrt(share * (1 - share) / whole) : 0;
}
