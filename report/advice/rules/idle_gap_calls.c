#include "report/advice/rules/idle_gap_calls.h"

enum { TIME };

static void add(struct gp_tally_row *row, uint64_t ns)
{
	row->count++;
	row->sums[TIME] += ns;
}

uint64_t gp_idle_gap_calls_add(struct gp_advisor *advisor, struct gp_idle_gap_calls *calls,
			       const struct gp_idle_gap *idle_gap, gp_idle_gap_calls_filter *counts)
{
	const struct gp_model *model = advisor->model;
	uint64_t base_ns = model->base_unix_ns, end_ns = idle_gap->end_ns - base_ns;
	uint64_t start_ns = idle_gap->start_ns > base_ns ? idle_gap->start_ns - base_ns : 0;
	uint32_t last = gp_op_of(advisor->scope.models, idle_gap->after)->call;
	uint64_t all_ns = 0;

	for (uint32_t i = last + 1; i-- > 0;) {
		const struct gp_call *call = &model->calls[i];
		uint64_t from_ns = call->start_ns > start_ns ? call->start_ns : start_ns;
		uint64_t to_ns = gp_call_end_ns(call) < end_ns ? gp_call_end_ns(call) : end_ns;

		if (call->thread_id != model->calls[last].thread_id || to_ns <= start_ns)
			break;
		if (to_ns <= from_ns || !counts(advisor, idle_gap, call))
			continue;
		all_ns += to_ns - from_ns;
		add(gp_tally_find(&calls->functions, (uint64_t[GP_TALLY_KEYS]){call->api}),
		    to_ns - from_ns);
		add(gp_tally_find(
			    &calls->places,
			    (uint64_t[GP_TALLY_KEYS]){call->api, gp_advisor_site(advisor, call)}),
		    to_ns - from_ns);
	}
	return all_ns;
}

void gp_idle_gap_calls_free(struct gp_idle_gap_calls *calls)
{
	gp_tally_free(&calls->functions);
	gp_tally_free(&calls->places);
}

static const struct gp_tally_row *with_most(const struct gp_tally *tally)
{
	const struct gp_tally_row *most = NULL;

	for (uint32_t i = 0; i < tally->count; i++)
		if (!most || tally->rows[i].sums[TIME] > most->sums[TIME])
			most = &tally->rows[i];
	return most;
}

static void put_places(const struct gp_idle_gap_calls *calls, uint64_t api,
		       struct gp_most_called *most)
{
	const struct gp_tally_row *place = NULL;

	for (uint32_t i = 0; i < calls->places.count; i++) {
		const struct gp_tally_row *row = &calls->places.rows[i];

		if (row->key[0] != api)
			continue;
		most->places++;
		if (!place || row->sums[TIME] > place->sums[TIME])
			place = row;
	}
	if (place && place->sums[TIME] * GP_CALLED_PART >= most->ns)
		most->site = (uint32_t)place->key[1];
}

struct gp_most_called gp_idle_gap_calls_most(struct gp_advisor *advisor,
					     const struct gp_idle_gap_calls *calls, uint64_t all_ns)
{
	const struct gp_tally_row *function = with_most(&calls->functions);
	struct gp_most_called most = {.site = GP_NO_SITE};

	if (!function || function->sums[TIME] * GP_CALLED_PART < all_ns)
		return most;
	most.function = gp_advisor_text(
		advisor, gp_model_api(advisor->model, (uint16_t)function->key[0]).name);
	most.api = (uint16_t)function->key[0];
	most.calls = function->count;
	most.ns = function->sums[TIME];
	put_places(calls, function->key[0], &most);
	return most;
}

void gp_most_called_add_values(const struct gp_advisor *advisor, const struct gp_most_called *most,
			       uint64_t all_ns, struct gp_document *values)
{
	if (most->ns == 0)
		return;
	gp_document_add(values, "function_percent", GP_UNIT_PERCENT,
			gp_value_percent((double)most->ns, (double)all_ns));
	gp_advisor_add_text(advisor, values, "function", most->function);
	gp_document_add_number(values, "call_count", GP_UNIT_COUNT, most->calls);
	if (most->places > 1)
		gp_document_add_number(values, "place_count", GP_UNIT_COUNT, most->places);
	gp_document_add_flag(values, "has_main_place", most->site != GP_NO_SITE);
}
