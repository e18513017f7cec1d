/* What to change first: `gpuprof advice` has the rest. */
#include "report/summary/part.h"

#include "report/advice/advice_print.h"

#define SHOWN           4
#define SHOWN_ON_SCREEN 3

/* One screen says also that there is none, and where to look then. */
static void print(const struct gp_summary *summary, struct gp_advice *advice)
{
	/* Of several processes this page has no line on the loop that advice would speak of. */
	if (summary->options->brief && summary->model_count != 1)
		advice->loop_ns = 0;
	if (advice->count > 0 || summary->options->brief)
		fputs("\n", summary->out);
	if (!summary->options->brief)
		gp_advice_print(summary->out, advice, SHOWN);
	else if (advice->count > 0)
		gp_advice_print_brief(summary->out, advice, SHOWN_ON_SCREEN);
	else
		gp_advice_print_none(summary->out, advice);
}

int gp_summary_print_advice(const struct gp_summary *summary)
{
	struct gp_advice advice;
	int result = gp_advice_from(summary->basis, summary->models, summary->model_count, &advice);

	if (result == 0)
		print(summary, &advice);
	gp_advice_free(&advice);
	return result;
}
