/* What to change first: `gpuprof advice` has the rest. */
#include "report/summary_part.h"

#include "report/advice_print.h"

#define SHOWN 4

int gp_summary_print_advice(const struct gp_summary *summary)
{
	struct gp_advice advice;
	int result = gp_advice_of(summary->models, summary->model_count, &advice);

	if (result == 0 && advice.count > 0) {
		fputs("\n", summary->out);
		gp_advice_print(summary->out, &advice, SHOWN);
	}
	gp_advice_free(&advice);
	return result;
}
