#include "report/html/samples.h"

#include <stdbool.h>

#include "report/tables/host_work.h"
#include "report/html/pack.h"

struct writer {
	struct gp_html_columns columns;
	struct gp_host_places *places;
	uint64_t origin_unix_ns, last_ns;
	uint64_t step, number; /* every nth row is written; of the present row */
};

static bool is_at_work(struct writer *writer, const struct gp_model *model, uint32_t stack)
{
	struct gp_host_place place;

	if (stack == GP_NONE)
		return false;
	place = gp_host_places_at(writer->places,
				  gp_host_places_find(writer->places, model, stack));
	return !gp_host_place_waits(&place);
}

static void put_sample(struct writer *writer, const struct gp_model *model, uint64_t process,
		       const struct gp_sample *sample)
{
	uint64_t start_ns = model->base_unix_ns + sample->start_ns - writer->origin_unix_ns;

	if (gp_html_columns_at_block(&writer->columns))
		writer->last_ns = 0;
	gp_html_columns_add(&writer->columns,
			    (uint64_t[]){process, sample->thread_id,
					 gp_html_zigzag((int64_t)(start_ns - writer->last_ns)),
					 sample->end_ns - sample->start_ns, sample->count});
	writer->last_ns = start_ns;
}

static void put_samples(struct writer *writer, const struct gp_model *model, uint64_t process)
{
	for (uint32_t i = 0; i < model->sample_count; i++)
		if (is_at_work(writer, model, model->samples[i].stack) &&
		    writer->number++ % writer->step == 0)
			put_sample(writer, model, process, &model->samples[i]);
}

int gp_html_samples(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out)
{
	struct writer writer = {.places = gp_host_places_in(scope),
				.origin_unix_ns = origin_unix_ns};
	uint64_t count = 0;

	gp_html_columns_open(&writer.columns, out, "samples", 5);
	for (size_t m = 0; m < scope->model_count; m++)
		count += scope->models[m]->sample_count;
	writer.step = limit > 0 && count > limit ? count / limit + 1 : 1;
	for (size_t m = 0; m < scope->model_count; m++)
		put_samples(&writer, scope->models[m], m);
	gp_html_columns_close(&writer.columns);
	return 0;
}
