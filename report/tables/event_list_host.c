/* Every Python stack sample of each thread (--host-samples). */
#include "report/tables/event_list.h"

#include "gpuprof/count.h"
#include "report/analysis/host/python_samples.h"
#include "report/tables/host_work.h"

static const struct gp_table_column columns[] = {
	{"Start", GP_UNIT_MOMENT}, {"Duration", GP_UNIT_NS}, {"Samples", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},   {"TID", GP_UNIT_NUMBER},  {"Thread", GP_UNIT_TEXT},
	{"Line", GP_UNIT_TEXT},    {"What", GP_UNIT_TEXT},
};

static uint32_t count(const struct gp_model *model)
{
	return model->sample_count;
}

static bool has(const struct gp_model *model, uint32_t index)
{
	return model->samples[index].stack != GP_NONE;
}

static uint64_t start(const struct gp_model *model, uint32_t index)
{
	return model->samples[index].start_ns;
}

static void write(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		  int64_t start_ns, struct gp_table_writer *writer)
{
	const struct gp_sample *sample = &model->samples[index];
	struct gp_sample_time time = gp_python_sample_time(model, index);
	struct gp_host_places *places = gp_host_places_in(scope);
	struct gp_host_place place =
		gp_host_places_at(places, gp_host_places_find(places, model, sample->stack));

	const struct gp_value values[COUNT(columns)] = {
		gp_value_moment(start_ns),
		gp_value_whole(time.end_ns - time.start_ns),
		gp_value_whole(sample->count),
		gp_scope_process(scope, model),
		gp_value_whole(sample->thread_id),
		gp_value_text_or_none(gp_model_thread_name(model, sample->thread_id)),
		gp_value_text_or_none(place.own),
		gp_value_text_or_none(*place.what ? place.what : place.function),
	};

	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_host = {
	.word = "host",
	.help = "Python code on the host, by stack samples",
	.things = "Python stack sample",
	.head = {"trace-host", "Python on the host", columns, COUNT(columns)},
	.count = count,
	.has = has,
	.start = start,
	.write = write,
};
