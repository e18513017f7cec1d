#include "report/advice/advice.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/analysis.h"
#include "report/analysis/host/python_samples.h"
#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/before_first_call.h"
#include "report/advice/rules/host_samples.h"
#include "report/advice/rules/measured_kernels.h"
#include "report/advice/sentence.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/largest_line.h"
#include "report/advice/rules/rules.h"
#include "report/advice/rules/unexplained.h"

#define APIS (UINT16_MAX + 1u) /* numbers of functions */

/* Specific rules come before general ones: an idle gap belongs to the first that explains it. */
const struct gp_rule *const gp_rules[] = {
	&gp_rule_failed_calls,    &gp_rule_alloc_in_loop,   &gp_rule_pageable_async,
	&gp_rule_hidden_wait,     &gp_rule_sync_copy,       &gp_rule_sync_memset,
	&gp_rule_sync_in_loop,    &gp_rule_sync_calls,      &gp_rule_tiny_copies,
	&gp_rule_growing_copies,  &gp_rule_slow_steps,      &gp_rule_data_loading,
	&gp_rule_start_up,        &gp_rule_wind_down,       &gp_rule_jit_compile,
	&gp_rule_first_use,       &gp_rule_graph_launch,    &gp_rule_short_kernels,
	&gp_rule_gpu_gaps,        &gp_rule_low_utilization, &gp_rule_host_gaps,
	&gp_rule_idle_rest,       &gp_rule_repeated_copy,   &gp_rule_unified_faults,
	&gp_rule_default_stream,  &gp_rule_low_occupancy,   &gp_rule_few_blocks,
	&gp_rule_uncoalesced,     &gp_rule_bank_conflicts,  &gp_rule_local_memory,
	&gp_rule_old_tensor_path, &gp_rule_layout_changes,  &gp_rule_unfused_attention,
	&gp_rule_full_precision,  &gp_rule_repeated_sort,   &gp_rule_unfused_kernels,
	&gp_rule_late_rank,       &gp_rule_rank_imbalance,  &gp_rule_exposed_comm,
	&gp_rule_lowered_clocks,  &gp_rule_leaked_memory,   NULL,
};

const struct gp_rule *gp_rule_find(const char *id)
{
	for (size_t i = 0; gp_rules[i]; i++)
		if (strcmp(gp_rules[i]->id, id) == 0)
			return gp_rules[i];
	return NULL;
}

/* ---- gathering ---- */

/* The idle time of the process's busiest device, from its first call to its last. */
static void note_idle(struct gp_advisor *advisor)
{
	struct gp_model *const model = advisor->scope.models[advisor->process];
	struct gp_window window = gp_busy_window(&model, 1);
	uint64_t span_ns = window.end_unix_ns - window.start_unix_ns, busy_ns = 0;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
		uint64_t of_device_ns = gp_idle_gaps_busy_ns(
			&advisor->basis->idle_gaps, i, window.start_unix_ns, window.end_unix_ns);

		if (of_device_ns > busy_ns)
			busy_ns = of_device_ns;
	}
	if (span_ns > busy_ns && span_ns - busy_ns > advisor->idle_ns)
		advisor->idle_ns = span_ns - busy_ns;
}

/* A process with enough steps for what is told of a step. */
static void note_loop(struct gp_advisor *advisor, size_t process)
{
	const struct gp_steps *steps = &advisor->basis->steps[process];

	if (steps->count >= (gp_recorded_few_steps(advisor->scope.models[process])
				     ? GP_SAMPLE_ITERATIONS
				     : GP_LOOP_ITERATIONS))
		advisor->loops[process] = steps;
}

static void choose_loop(struct gp_advisor *advisor)
{
	size_t process = gp_analysis_main_process(advisor->basis);

	if (process == SIZE_MAX || !advisor->loops[process])
		return;
	advisor->loop_ns = gp_steps_recurring_ns(advisor->loops[process]);
	advisor->loop = advisor->loop_ns > 0 ? advisor->loops[process] : NULL;
}

/* Devices without operations have no number. */
static void number_devices(struct gp_advisor *advisor)
{
	struct gp_device_list *list = &advisor->scope.devices;
	bool used[GP_DEVICE_LIMIT] = {false};

	for (uint32_t i = 0; i < advisor->model->op_count; i++)
		used[advisor->model->ops[i].device_id] = true;
	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++) {
		advisor->devices[i] =
			used[i] ? gp_device_list_find(list, advisor->model, (uint16_t)i) : SIZE_MAX;
	}
}

/* One walk over all calls for all rules. */
static void list_calls(struct gp_advisor *advisor)
{
	static const bool is_listed[GP_ADVISOR_CLASSES] = {[GP_API_COPY] = true,
							   [GP_API_MEMSET] = true,
							   [GP_API_SYNC] = true,
							   [GP_API_MODULE] = true};
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < GP_ADVISOR_CLASSES; i++)
		advisor->calls[i].count = 0;
	for (uint32_t i = 0; i < model->call_count; i++) {
		uint8_t class = gp_advisor_class(advisor, &model->calls[i]);
		struct gp_call_list *list;

		if (class >= GP_ADVISOR_CLASSES || !is_listed[class] ||
		    (class != GP_API_MODULE && gp_advisor_tunes(advisor, &model->calls[i])))
			continue;
		list = &advisor->calls[class];
		gp_array_grow_spill(&list->indices, &list->capacity, list->count,
				    sizeof(*list->indices));
		list->indices[list->count++] = i;
	}
}

/* A case below its threshold explains nothing. */
static void free_idle_gaps(struct gp_advisor *advisor)
{
	uint32_t judged = GP_NONE;
	bool is_worth = false;

	for (uint32_t i = 0; i < advisor->told_count; i++) {
		struct gp_idle_gap *idle_gap = advisor->told[i];

		if (idle_gap->told == GP_NONE)
			continue;
		if (idle_gap->told != judged)
			is_worth = gp_advisor_is_worth(advisor, &advisor->cases[idle_gap->told]);
		judged = idle_gap->told;
		if (!is_worth)
			idle_gap->told = GP_NONE;
	}
}

static void look_by(struct gp_advisor *advisor, uint32_t rule,
		    void (*look)(struct gp_advisor *advisor))
{
	if (!look)
		return;
	advisor->rule = rule;
	advisor->told_count = 0;
	look(advisor);
	free_idle_gaps(advisor);
}

/* API functions have other numbers in each process. */
static void forget_sites(struct gp_advisor *advisor)
{
	memset(advisor->sites_without_stack, 0xff, APIS * sizeof(*advisor->sites_without_stack));
}

static void turn_to_process(struct gp_advisor *advisor, size_t process)
{
	advisor->process = process;
	advisor->model = advisor->scope.models[process];
	advisor->tuning = &advisor->basis->tunings[process];
	forget_sites(advisor);
}

static void look_at_process(struct gp_advisor *advisor, size_t process)
{
	turn_to_process(advisor, process);
	note_idle(advisor);
	number_devices(advisor);
	list_calls(advisor);
	for (uint32_t i = 0; gp_rules[i]; i++)
		look_by(advisor, i, gp_rules[i]->look);
	if (advisor->has_memory)
		gp_memory_sites_free(&advisor->memory);
	advisor->has_memory = advisor->has_ends = false;
	gp_spill_free(advisor->is_claimed);
	advisor->is_claimed = NULL;
	gp_measured_kernels_free(advisor->measured);
	advisor->measured = NULL;
}

static void look(struct gp_advisor *advisor)
{
	for (size_t i = 0; i < advisor->scope.model_count; i++)
		note_loop(advisor, i);
	choose_loop(advisor);
	for (uint32_t i = 0; gp_rules[i]; i++)
		look_by(advisor, i, gp_rules[i]->look_at_all);
	for (size_t i = 0; i < advisor->scope.model_count; i++)
		look_at_process(advisor, i);
}

/* ---- findings ---- */

/* Savings of the loop are told per step: so is what its sentence counts, if (nearly) each step has it. */
static void add_step_values(const struct gp_case *found, const struct gp_finding *finding,
			    struct gp_document *values)
{
	uint64_t steps = finding->loop_steps, count;

	if (!finding->recurs || steps == 0 || found->count == 0 ||
	    found->count_in_loop * 10 < steps * 9)
		return;
	count = (found->count_in_loop + steps / 2) / steps;
	gp_document_add_number(values, "step_count", GP_UNIT_COUNT, count);
	gp_document_add_number(values, "step_time_ns", GP_UNIT_NS, found->time_in_loop_ns / steps);
	gp_document_add_number(values, "step_bytes", GP_UNIT_BYTES,
			       found->bytes / found->count * count);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_finding *finding)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	struct gp_document *values = &finding->values;

	gp_document_add_number(values, "count", GP_UNIT_COUNT, found->count);
	gp_document_add_number(values, "time_ns", GP_UNIT_NS, found->time_ns);
	gp_document_add_number(values, "bytes", GP_UNIT_BYTES, found->bytes);
	gp_document_add_number(values, "mean_ns", GP_UNIT_NS,
			       found->count > 0 ? found->time_ns / found->count : 0);
	add_step_values(found, finding, values);
	gp_document_add_text(values, "language", gp_language_name(gp_language_of(model)));
	gp_document_add_flag(values, "is_imported", model->recorder != NULL);
	finding->common_values = values->facts.count;
	if (finding->rule->add_values)
		finding->rule->add_values(advisor, found, values);
}

/* If calls have no stacks, Python samples can show the line, or the function. */
static struct gp_seen place_of_samples(const struct gp_advisor *advisor,
				       const struct gp_case *found, struct gp_finding *finding)
{
	struct gp_seen seen = gp_advisor_seen(advisor, found);
	bool is_all = seen.count == seen.all;
	char *told = NULL;

	if (!finding->found || *seen.place == '\0')
		return seen;
	asprintf(&told, "%s; the %s is that of %s%s%s %ss", finding->found,
		 seen.is_line ? "line" : "function", is_all ? "" : gp_format_count(seen.count).text,
		 is_all ? "" : " of ", gp_format_count(seen.all).text,
		 gp_python_sample_name(advisor->scope.models[found->process]));
	free(finding->found);
	finding->found = told;
	return seen;
}

/* Whether the line is known. */
static bool put_site(const struct gp_advisor *advisor, const struct gp_case *found,
		     struct gp_finding *finding)
{
	struct gp_call_site site = {.place = "", .callers = ""};
	struct gp_seen seen = {.place = "", .is_line = true};

	if (gp_advisor_knows(advisor, found->site))
		site = gp_call_sites_at(advisor->sites, found->site);
	else if (found->site == GP_NO_SITE && finding->rule->is_placed_by_samples)
		site.place = gp_host_samples_place(advisor, found);
	else if (found->site != GP_NO_SITE && !finding->names_place)
		seen = place_of_samples(advisor, found, finding);
	if (*seen.place)
		site.place = seen.place;
	finding->place = strdup(site.place);
	finding->callers = strdup(site.callers);
	finding->naming = site.naming;
	finding->apart_bytes =
		*site.callers ? gp_call_sites_tell_apart(advisor->sites, found->site) : 0;
	return *site.place && seen.is_line;
}

/* Options of gpuprof do not help with traces of other recorders. */
static bool can_have_stacks(const struct gp_advisor *advisor)
{
	for (size_t i = 0; i < advisor->scope.model_count; i++)
		if (!advisor->scope.models[i]->recorder)
			return true;
	return false;
}

/* Without a loop nothing is known to be a one-time cost but what its rule says. */
static bool recurs(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_rule *rule = gp_rules[found->rule];

	if (rule->is_once || rule->is_moved)
		return false;
	return advisor->loop_ns == 0 || found->saves_in_loop_ns * 2 >= found->saves_ns ||
	       gp_advisor_recurs(advisor, found);
}

/* The loop of the case's process; if that has none, the longest one.  NULL: there is none. */
static const struct gp_steps *loop_of(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct gp_steps *loop = advisor->loops[found->process];

	return loop ? loop : advisor->loop;
}

static void add_finding(const struct gp_advisor *advisor, const struct gp_case *found,
			uint32_t processes, struct gp_advice *advice)
{
	const struct gp_rule *rule = gp_rules[found->rule];
	uint64_t zero_ns = advisor->scope.start_unix_ns;
	const struct gp_steps *loop = loop_of(advisor, found);
	struct gp_shown shown = found->longest;
	struct gp_finding *finding;
	bool has_line;

	gp_array_grow(&advice->findings, &advice->capacity, advice->count,
		      sizeof(*advice->findings));
	finding = &advice->findings[advice->count++];
	*finding = (struct gp_finding){
		.rule = rule,
		.count = found->count,
		.time_ns = found->time_ns,
		.saves_ns = rule->is_moved ? 0 : found->saves_ns,
		.processes = processes,
		.pid = advisor->scope.models[found->process]->pid,
		.process = gp_process_name(advisor->scope.models[found->process]),
		.saves_in_loop_ns = rule->is_moved ? 0 : found->saves_in_loop_ns,
		.step_ns = loop ? gp_steps_mean_ns(loop) : 0,
		.loop_steps = loop ? gp_steps_recurring(loop) : 0,
		.bytes = found->bytes,
		.names_place = rule->names_place && rule->names_place(found),
		.is_doubtful = found->is_doubtful,
		.recurs = recurs(advisor, found),
	};
	if (finding->recurs && found->sample.count > 0)
		shown = gp_shown_usual(&found->sample);
	finding->show_at_ns = shown.unix_ns > zero_ns ? shown.unix_ns - zero_ns : 0;
	finding->show_ns = shown.ns;
	add_values(advisor, found, finding);
	finding->found = gp_sentence_text(rule->found, &finding->values.facts);
	finding->change = gp_sentence_text(rule->change, &finding->values.facts);
	has_line = put_site(advisor, found, finding);
	if (found->site != GP_NO_SITE && !has_line && !finding->names_place && finding->recurs)
		advice->lacks_stacks |= can_have_stacks(advisor);
}

/* Possibly wrong results come first, doubtful findings after others, one-time costs last. */
static unsigned rank_of(const struct gp_finding *finding, uint64_t loop_ns)
{
	if (finding->rule->is_of_results)
		return 0;
	if (loop_ns > 0 && !finding->recurs)
		return 3;
	return finding->is_doubtful ? 2 : 1;
}

static uint64_t saving_of(const struct gp_finding *finding, uint64_t loop_ns)
{
	return loop_ns > 0 && finding->recurs ? finding->saves_in_loop_ns : finding->saves_ns;
}

/* By kind; then by saving, bytes, and order of rules. */
static int compare_findings(const void *a, const void *b, const void *context)
{
	const struct gp_finding *left = a, *right = b;
	uint64_t loop_ns = *(const uint64_t *)context;
	unsigned ranks[] = {rank_of(left, loop_ns), rank_of(right, loop_ns)};
	uint64_t savings_ns[] = {saving_of(left, loop_ns), saving_of(right, loop_ns)};

	if (ranks[0] != ranks[1])
		return ranks[0] < ranks[1] ? -1 : 1;
	if (savings_ns[0] != savings_ns[1])
		return savings_ns[0] > savings_ns[1] ? -1 : 1;
	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return 0;
}

static void limit_savings(const struct gp_advisor *advisor, struct gp_case *found)
{
	uint64_t most_ns = gp_rules[found->rule]->is_of_gpu ? advisor->span_ns : advisor->idle_ns;
	const struct gp_steps *loop = loop_of(advisor, found);
	uint64_t loop_ns = loop ? gp_steps_recurring_ns(loop) : 0;

	if (found->saves_ns > most_ns)
		found->saves_ns = most_ns;
	if (found->saves_in_loop_ns > found->saves_ns)
		found->saves_in_loop_ns = found->saves_ns;
	if (found->saves_in_loop_ns > loop_ns)
		found->saves_in_loop_ns = loop_ns;
}

static bool says_more(const struct gp_case *found, const struct gp_case *other)
{
	if (found->saves_ns != other->saves_ns)
		return found->saves_ns > other->saves_ns;
	return found->bytes != other->bytes ? found->bytes > other->bytes
					    : found->count > other->count;
}

/*
 * Joins the cases of several processes at one place: the row's count is their number, its first sum
 * the index of the one with the largest saving.
 */
static void join_processes(struct gp_advisor *advisor, struct gp_tally *places)
{
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		uint64_t key[GP_TALLY_KEYS];
		struct gp_tally_row *row;

		limit_savings(advisor, &advisor->cases[i]);
		if (!gp_advisor_is_worth(advisor, &advisor->cases[i]))
			continue;
		memcpy(key, advisor->index.rows[i].key, sizeof(key));
		key[GP_CASE_PROCESS] &= 1;
		row = gp_tally_find(places, key);
		if (row->count++ == 0 ||
		    says_more(&advisor->cases[i], &advisor->cases[row->sums[0]]))
			row->sums[0] = i;
	}
}

static void judge(struct gp_advisor *advisor, struct gp_advice *advice)
{
	struct gp_tally places = {0};

	join_processes(advisor, &places);
	for (uint32_t i = 0; i < places.count; i++)
		add_finding(advisor, &advisor->cases[places.rows[i].sums[0]],
			    (uint32_t)places.rows[i].count, advice);
	gp_tally_free(&places);
	for (uint32_t i = 0; i < advice->count; i++)
		advice->once_count += rank_of(&advice->findings[i], advisor->loop_ns) == 3;
	gp_array_sort(advice->findings, advice->count, sizeof(*advice->findings), compare_findings,
		      &advisor->loop_ns);
}

/* ---- idle time, and no findings ---- */

/* Of steps without a finding, at least where their time goes. */
static void put_largest(struct gp_advisor *advisor, struct gp_advice *advice)
{
	if (!advisor->loop || advice->once_count < advice->count)
		return;
	turn_to_process(advisor, gp_analysis_main_process(advisor->basis));
	gp_largest_line_find(advisor, advice);
}

static void put_no_end(const struct gp_model *model, struct gp_advice *advice)
{
	if (!advice->why_no_end && !model->losses.live && !gp_recorded_is_whole(model))
		advice->why_no_end = gp_recorded_why_no_end(model);
}

static void put_idle_ends(const struct gp_device_idle_gaps *device, struct gp_advice *advice)
{
	advice->idle_before_ns = advice->idle_after_ns = 0;
	for (uint32_t i = 0; i < device->count; i++) {
		const struct gp_idle_gap *idle_gap = &device->idle_gaps[i];

		if (gp_idle_gap_is_at_start(device, idle_gap))
			advice->idle_before_ns += gp_idle_gap_ns(idle_gap);
		else if (gp_idle_gap_is_at_end(device, idle_gap))
			advice->idle_after_ns += gp_idle_gap_ns(idle_gap);
	}
}

static void put_idle(const struct gp_advisor *advisor, struct gp_advice *advice)
{
	const struct gp_analysis *basis = advisor->basis;
	const struct gp_wheres *wheres = &basis->wheres;
	size_t busiest = SIZE_MAX;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < wheres->count; i++) {
		const uint64_t *state_ns = wheres->devices[i].state_ns;
		uint64_t busy_ns = gp_state_busy_ns(state_ns);

		advice->gpus += busy_ns > 0;
		if (busy_ns <= most_ns)
			continue;
		most_ns = busy_ns;
		busiest = i;
		advice->wall_ns = gp_state_wall_ns(state_ns);
		advice->idle_ns = gp_state_idle_ns(state_ns);
		advice->idle_cause = gp_state_top_cause(state_ns);
		put_idle_ends(&basis->idle_gaps.devices[i], advice);
	}
	if (busiest != SIZE_MAX)
		gp_unexplained_find(advisor, busiest, advice);
}

/* ---- all together ---- */

/* As large as the own memory of any rule. */
static void *spare_own(void)
{
	size_t most = 0;

	for (size_t i = 0; gp_rules[i]; i++)
		most = gp_rules[i]->own_bytes > most ? gp_rules[i]->own_bytes : most;
	return calloc(1, most + 1);
}

static void open_advisor(struct gp_advisor *advisor, struct gp_model *const *models, size_t count)
{
	char message[256];

	advisor->spare.own = spare_own();
	advisor->sites = gp_call_sites_new();
	advisor->kinds = gp_kinds_new(NULL, message, sizeof(message));
	advisor->loops = calloc(count + 1, sizeof(*advisor->loops));
	advisor->sites_without_stack = malloc(APIS * sizeof(*advisor->sites_without_stack));
	gp_scope_open(&advisor->scope, models, count, false);
	gp_busy_recorded_ns(&advisor->span_ns, models, count);
	forget_sites(advisor);
}

static void close_advisor(struct gp_advisor *advisor)
{
	gp_kinds_free(advisor->kinds);
	gp_tally_free(&advisor->index);
	gp_tally_free(&advisor->host_work);
	gp_spill_free(advisor->stretches);
	gp_spill_free(advisor->told);
	for (uint32_t i = 0; i < advisor->case_count; i++)
		free(advisor->cases[i].own);
	free(advisor->cases);
	free(advisor->spare.own);
	free(advisor->loops);
	free(advisor->sites_without_stack);
	for (uint32_t i = 0; i < GP_ADVISOR_CLASSES; i++)
		gp_spill_free(advisor->calls[i].indices);
	gp_call_sites_free(advisor->sites);
	gp_scope_close(&advisor->scope);
}

/* Whether gpuprof could have recorded migrations of managed memory. */
static bool lacks_unified(const struct gp_model *model)
{
	uint64_t bytes = 0;

	if (model->recorder || model->op_count == 0 || gp_recorded_kind(model, "unified"))
		return false;
	for (uint32_t i = 0; i < model->memory_count; i++)
		if (model->memory[i].op == GP_MEMORY_ALLOC &&
		    model->memory[i].memory_kind == GP_MEMORY_MANAGED)
			bytes += model->memory[i].bytes;
	return bytes >= GP_MANAGED_BYTES;
}

static void find_doubt(struct gp_model *const *models, size_t model_count, struct gp_advice *advice)
{
	for (size_t i = 0; i < model_count; i++) {
		const char *why = gp_recorded_why_not_all(models[i]);

		if (why && !advice->doubt) {
			advice->doubt = why;
			advice->doubtful = gp_process_name(models[i]);
		}
		advice->doubtful_count += why != NULL;
	}
}

void gp_advice_from(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		    struct gp_advice *advice)
{
	struct gp_advisor advisor = {.basis = basis};

	open_advisor(&advisor, models, model_count);
	for (size_t i = 0; i < model_count; i++)
		gp_call_sites_use_stacks(advisor.sites, models[i], basis->backward[i].stacks);
	*advice = (struct gp_advice){.span_ns = advisor.span_ns, .process_count = model_count};
	look(&advisor);
	advice->loop_ns = advisor.loop_ns;
	advice->loop_steps = advisor.loop ? gp_steps_recurring(advisor.loop) : 0;
	advice->idle_most_ns = advisor.idle_ns;
	find_doubt(models, model_count, advice);
	for (size_t i = 0; i < model_count; i++) {
		advice->has_samples |= models[i]->sample_count > 0;
		advice->is_damaged |= gp_recorded_is_damaged(models[i]);
		advice->lacks_unified |= lacks_unified(models[i]);
	}
	judge(&advisor, advice);
	put_largest(&advisor, advice);
	gp_before_first_call_find(&advisor, advice);
	put_idle(&advisor, advice);
	for (size_t i = 0; i < model_count && advice->count == 0; i++)
		put_no_end(models[i], advice);
	advice->failures = gp_failed_calls_count(&advisor);
	close_advisor(&advisor);
}

int gp_advice_of(struct gp_model *const *models, size_t model_count, struct gp_advice *advice)
{
	char message[64];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));
	struct gp_device_list devices = {0};
	struct gp_analysis basis = {0};

	gp_device_list_all(&devices, models, model_count);
	*advice = (struct gp_advice){0};
	gp_analysis_of(&basis, models, model_count, &devices, kinds, 0);
	gp_advice_from(&basis, models, model_count, advice);
	gp_analysis_free(&basis);
	gp_device_list_free(&devices);
	gp_kinds_free(kinds);
	return 0;
}

void gp_advice_free(struct gp_advice *advice)
{
	for (uint32_t i = 0; i < advice->count; i++) {
		gp_document_free(&advice->findings[i].values);
		free(advice->findings[i].found);
		free(advice->findings[i].change);
		free(advice->findings[i].place);
		free(advice->findings[i].callers);
	}
	free(advice->findings);
	for (uint32_t i = 0; i < advice->unexplained_count; i++)
		free(advice->unexplained[i].place);
	free(advice->largest.place);
	*advice = (struct gp_advice){0};
}
