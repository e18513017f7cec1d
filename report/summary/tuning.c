/* The GPU time that libraries spent on autotuning: `gpuprof summary --by tuning` has the details. */
#include "report/summary/part.h"

#include "report/analysis/analysis.h"
#include "report/base/text/format.h"

#define LEAST_PERCENT 1

struct sums {
	uint64_t ns[GP_TUNERS], all_ns;
	bool lacks_stacks; /* operations without a stack may be autotuning, too */
};

static void add_up(const struct gp_summary *summary, struct sums *sums)
{
	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_tuning *tuning = &summary->basis->tunings[i];

		for (int t = 0; t < GP_TUNERS; t++) {
			sums->ns[t] += tuning->ns[t];
			sums->all_ns += tuning->ns[t];
		}
		sums->lacks_stacks |= tuning->lacks_stacks;
	}
}

void gp_summary_print_tuning(const struct gp_summary *summary)
{
	struct sums sums = {0};
	const char *separator = "  tuning    ";
	uint64_t tuning_ns;

	add_up(summary, &sums);
	tuning_ns = sums.all_ns - sums.ns[GP_TUNER_NONE];
	if (tuning_ns == 0 || tuning_ns * 100 < sums.all_ns * LEAST_PERCENT)
		return;
	for (enum gp_tuner t = GP_TUNER_NONE + 1; t < GP_TUNERS; t++) {
		if (sums.ns[t] == 0)
			continue;
		fprintf(summary->out, "%s%s %s%s %%", separator, gp_tuner_name(t),
			sums.lacks_stacks ? "at least " : "",
			gp_format_percent((double)sums.ns[t], (double)sums.all_ns).text);
		separator = ", ";
	}
	fputs(" of the GPU time: autotuning, not work of the program\n", summary->out);
}
