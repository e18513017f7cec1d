/* How much of the GPU's time libraries took to try kernels out: `gpuprof summary --by tuning` has the rest. */
#include "report/summary_part.h"

#include "report/answers/tuning.h"
#include "report/format.h"

#define LEAST_PERCENT 1

static int add_up(const struct gp_summary *summary, uint64_t ns[GP_TUNERS], uint64_t *all_ns)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < summary->model_count; i++) {
		struct gp_tuning tuning;

		result = gp_tuning_of(&tuning, summary->models[i]);
		for (int t = 0; result == 0 && t < GP_TUNERS; t++) {
			ns[t] += tuning.ns[t];
			*all_ns += tuning.ns[t];
		}
		gp_tuning_free(&tuning);
	}
	return result;
}

void gp_summary_print_tuning(const struct gp_summary *summary)
{
	uint64_t ns[GP_TUNERS] = {0}, all_ns = 0;
	const char *separator = "  tuning    ";

	if (add_up(summary, ns, &all_ns) < 0 ||
	    (all_ns - ns[GP_TUNER_NONE]) * 100 < all_ns * LEAST_PERCENT)
		return;
	for (enum gp_tuner t = GP_TUNER_NONE + 1; t < GP_TUNERS; t++) {
		if (ns[t] == 0)
			continue;
		fprintf(summary->out, "%s%s %s %%", separator, gp_tuner_name(t),
			gp_format_percent((double)ns[t], (double)all_ns).text);
		separator = ", ";
	}
	if (all_ns > ns[GP_TUNER_NONE])
		fputs(" of the GPU time, which is no work of the program\n", summary->out);
}
