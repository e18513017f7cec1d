/* The most important findings: `gpuprof advice` has all. */
#include "report/summary/part.h"

#include <pthread.h>
#include <stdlib.h>

#include "report/advice/advice_print.h"

#define SHOWN 4

struct gp_summary_advice {
	pthread_mutex_t mutex; /* sections are printed in parallel */
	bool is_made;
	struct gp_advice advice;
};

struct gp_summary_advice *gp_summary_new_advice(void)
{
	struct gp_summary_advice *made = calloc(1, sizeof(*made));

	pthread_mutex_init(&made->mutex, NULL);
	return made;
}

const struct gp_advice *gp_summary_advice(const struct gp_summary *summary)
{
	struct gp_summary_advice *made = summary->advice;

	pthread_mutex_lock(&made->mutex);
	if (!made->is_made)
		gp_advice_from(summary->basis, summary->models, summary->model_count,
			       &made->advice);
	made->is_made = true;
	pthread_mutex_unlock(&made->mutex);
	return &made->advice;
}

void gp_summary_free_advice(struct gp_summary_advice *made)
{
	if (!made)
		return;
	gp_advice_free(&made->advice);
	pthread_mutex_destroy(&made->mutex);
	free(made);
}

/* One screen also says if there are none, and where to look then. */
int gp_summary_print_advice(const struct gp_summary *summary)
{
	const struct gp_advice *made = gp_summary_advice(summary);
	bool brief = summary->options->brief;

	if (made->count > 0 || brief)
		fputs("\n", summary->out);
	if (!brief)
		gp_advice_print(summary->out, made, SHOWN);
	else if (made->count > 0)
		gp_advice_print_brief(summary->out, made, summary->rows.findings,
				      summary->rows.once);
	else
		gp_advice_print_none(summary->out, made);
	return 0;
}
