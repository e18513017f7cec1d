/* How much of the GPU's time libraries took to try kernels out: `gpuprof summary --by tuning` has the rest. */
#include "report/summary_part.h"

#include "report/answers/tuning.h"
#include "report/format.h"

#define LEAST_PERCENT 1

struct sums {
	uint64_t ns[GP_TUNERS], all_ns;
	bool lacks_stacks; /* what has no stack may be of tuning, too */
};

static int add_up(const struct gp_summary *summary, struct sums *sums)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < summary->model_count; i++) {
		struct gp_tuning tuning;

		result = gp_tuning_of(&tuning, summary->models[i]);
		for (int t = 0; result == 0 && t < GP_TUNERS; t++) {
			sums->ns[t] += tuning.ns[t];
			sums->all_ns += tuning.ns[t];
		}
		sums->lacks_stacks |= tuning.lacks_stacks;
		gp_tuning_free(&tuning);
	}
	return result;
}

int gp_summary_print_tuning(const struct gp_summary *summary)
{
	struct sums sums = {0};
	const char *separator = "  tuning    ";
	int result = add_up(summary, &sums);
	uint64_t tuning_ns = sums.all_ns - sums.ns[GP_TUNER_NONE];

	if (result < 0 || tuning_ns == 0 || tuning_ns * 100 < sums.all_ns * LEAST_PERCENT)
		return result;
	for (enum gp_tuner t = GP_TUNER_NONE + 1; t < GP_TUNERS; t++) {
		if (sums.ns[t] == 0)
			continue;
		fprintf(summary->out, "%s%s %s%s %%", separator, gp_tuner_name(t),
			sums.lacks_stacks ? "at least " : "",
			gp_format_percent((double)sums.ns[t], (double)sums.all_ns).text);
		separator = ", ";
	}
	fputs(" of the GPU time, which is no work of the program\n", summary->out);
	return 0;
}
