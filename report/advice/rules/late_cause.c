/* What a late rank does for longer than its peers. */
#include "report/advice/rules/late_cause.h"

#include <stdlib.h>

#include "report/advice/rules/limits.h"
#include "report/model/recorded.h"
#include "report/tables/host_work.h"

#define LONGER_PERCENT 105 /* of the peers' mean: less is noise */
#define MOST_PART      10  /* all but a tenth of the time is "all" */
#define LEAST_KERNELS  3   /* fewer kernels do not show that all take longer */
#define ALONE_PART     4   /* of its time: peers that take less hardly do it */

void gp_peers_add(struct gp_peers *peers, size_t process)
{
	for (uint32_t i = 0; i < peers->count; i++)
		if (peers->processes[i] == process)
			return;
	if (peers->count < GP_PEERS)
		peers->processes[peers->count++] = process;
}

/* ---- kernels ---- */

enum { OWN_NS, OWN_COUNT, OTHERS_NS, OTHERS_COUNT };

/* first: OWN_NS or OTHERS_NS. */
static void add_kernels(struct gp_advisor *advisor, size_t process, struct gp_tally *tally,
			int first)
{
	const struct gp_model *model = advisor->scope.models[process];
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);
	uint64_t *names = gp_scope_names(model);

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		struct gp_tally_row *row;

		if (op->kind != GP_OP_KERNEL || op->untimed ||
		    gp_kinds_of_op(kinds, model, op) == GP_KIND_COMMUNICATION)
			continue;
		row = gp_tally_find(tally, (const uint64_t[GP_TALLY_KEYS]){gp_scope_name(
						   &advisor->scope, model, op, names)});
		row->sums[first] += op->end_ns - op->start_ns;
		row->sums[first + 1]++;
	}
	free(kinds);
	free(names);
}

static double mean_of(const struct gp_tally_row *row, int first)
{
	return row->sums[first + 1] > 0 ? (double)row->sums[first] / (double)row->sums[first + 1]
					: 0;
}

/* Its time beyond that of a peer. */
static double excess_of(const struct gp_tally_row *row, uint32_t peers)
{
	return (double)row->sums[OWN_NS] - (double)row->sums[OTHERS_NS] / peers;
}

static bool takes_longer(const struct gp_tally_row *row)
{
	double others = mean_of(row, OTHERS_NS);

	return others > 0 && mean_of(row, OWN_NS) * 100 > others * LONGER_PERCENT;
}

/* Whether nearly all of the time is in kernels that take longer. */
static bool all_take_longer(const struct gp_tally *tally)
{
	uint64_t all_ns = 0, longer_ns = 0;
	uint32_t longer = 0;

	for (uint32_t i = 0; i < tally->count; i++) {
		all_ns += tally->rows[i].sums[OWN_NS];
		longer_ns += takes_longer(&tally->rows[i]) ? tally->rows[i].sums[OWN_NS] : 0;
		longer += takes_longer(&tally->rows[i]);
	}
	return longer >= LEAST_KERNELS && (all_ns - longer_ns) * MOST_PART <= all_ns;
}

static void choose_kernel(const struct gp_tally *tally, uint32_t peers, struct gp_late_cause *cause)
{
	const struct gp_tally_row *most = NULL;

	for (uint32_t i = 0; i < tally->count; i++)
		if (excess_of(&tally->rows[i], peers) > 0 &&
		    (!most || excess_of(&tally->rows[i], peers) > excess_of(most, peers)))
			most = &tally->rows[i];
	if (!most)
		return;
	cause->kernel = most->key[0];
	cause->are_all = all_take_longer(tally);
	if (takes_longer(most)) {
		cause->kernel_ns = (uint64_t)mean_of(most, OWN_NS);
		cause->others_kernel_ns = (uint64_t)mean_of(most, OTHERS_NS);
	} else if (most->sums[OWN_COUNT] * peers * 100 >
		   most->sums[OTHERS_COUNT] * LONGER_PERCENT) {
		cause->kernel_count = most->sums[OWN_COUNT];
		cause->others_kernel_count = most->sums[OTHERS_COUNT] / peers;
	}
}

void gp_late_cause_find_kernel(struct gp_advisor *advisor, size_t process,
			       const struct gp_peers *peers, struct gp_late_cause *cause)
{
	struct gp_tally tally = {0};
	uint32_t whole = 0;

	if (!gp_recorded_is_whole(advisor->scope.models[process]))
		return;
	add_kernels(advisor, process, &tally, OWN_NS);
	for (uint32_t i = 0; i < peers->count; i++) {
		if (!gp_recorded_is_whole(advisor->scope.models[peers->processes[i]]))
			continue;
		add_kernels(advisor, peers->processes[i], &tally, OTHERS_NS);
		whole++;
	}
	if (whole > 0)
		choose_kernel(&tally, whole, cause);
	gp_tally_free(&tally);
}

/* ---- the host ---- */

enum { OWN, OTHERS };

/* The time of each function, by its number. */
static uint64_t *times_of(const struct gp_tally *tally, uint64_t sum,
			  const struct gp_host_places *places)
{
	uint64_t *times = calloc((size_t)gp_host_places_functions(places) + 1, sizeof(*times));
	uint32_t count;
	struct gp_host_function *functions = gp_host_work_functions(tally, sum, places, &count);

	for (uint32_t i = 0; i < count; i++)
		times[gp_host_places_at(places, functions[i].place).function_number] =
			functions[i].total_ns;
	free(functions);
	return times;
}

static void choose_function(const struct gp_tally *tally, uint32_t peers,
			    const struct gp_host_places *places, struct gp_late_cause *cause)
{
	uint64_t *others_ns = times_of(tally, OTHERS, places), most_ns = 0;
	uint32_t count;
	struct gp_host_function *functions = gp_host_work_functions(tally, OWN, places, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct gp_host_place place = gp_host_places_at(places, functions[i].place);
		uint64_t own = functions[i].total_ns;
		uint64_t others = others_ns[place.function_number] / peers;

		if (own <= others || own - others <= most_ns || gp_host_place_waits(&place))
			continue;
		most_ns = own - others;
		cause->place = functions[i].place;
		cause->function_ns = own;
		cause->others_function_ns = others;
		cause->is_alone = others * ALONE_PART < own;
	}
	free(functions);
	free(others_ns);
}

/* What another rank lacks is not work that it does not do. */
static bool has_all_samples(const struct gp_model *model)
{
	return model->sample_count > 0 && gp_recorded_is_whole(model);
}

void gp_late_cause_find_function(struct gp_advisor *advisor, size_t process,
				 const struct gp_peers *peers, struct gp_late_cause *cause)
{
	struct gp_host_places *places = gp_host_places_in(&advisor->scope);
	struct gp_tally tally = {0};
	uint32_t sampled = 0;

	if (!places || !has_all_samples(advisor->scope.models[process]))
		return;
	gp_host_work_add_all(&tally, OWN, places, advisor->scope.models[process]);
	for (uint32_t i = 0; i < peers->count; i++) {
		struct gp_model *peer = advisor->scope.models[peers->processes[i]];

		if (!has_all_samples(peer))
			continue;
		gp_host_work_add_all(&tally, OTHERS, places, peer);
		sampled++;
	}
	if (sampled > 0)
		choose_function(&tally, sampled, places, cause);
	gp_tally_free(&tally);
}

/* ---- values ---- */

void gp_late_cause_add_values(const struct gp_advisor *advisor, const struct gp_late_cause *cause,
			      struct gp_document *values)
{
	if (cause->kernel_ns > 0 || cause->kernel_count > 0)
		gp_document_add_text(values, "kernel",
				     gp_scope_kernel_of(&advisor->scope, cause->kernel));
	if (cause->kernel_ns > 0) {
		gp_document_add_number(values, "kernel_ns", GP_UNIT_NS, cause->kernel_ns);
		gp_document_add_number(values, "others_kernel_ns", GP_UNIT_NS,
				       cause->others_kernel_ns);
		gp_document_add_flag(values, "are_all", cause->are_all);
	}
	if (cause->kernel_count > 0) {
		gp_document_add_number(values, "kernel_count", GP_UNIT_COUNT, cause->kernel_count);
		gp_document_add_number(values, "others_kernel_count", GP_UNIT_COUNT,
				       cause->others_kernel_count);
	}
	if (cause->function_ns == 0)
		return;
	gp_document_add_text(values, "function",
			     gp_host_places_at(advisor->scope.host_places, cause->place).function);
	gp_document_add_number(values, "function_ns", GP_UNIT_NS, cause->function_ns);
	gp_document_add_number(values, "others_function_ns", GP_UNIT_NS, cause->others_function_ns);
	gp_document_add_flag(values, "is_alone", cause->is_alone);
}
