/* The main loop by phase: data loading, forward, backward, ..., or the user's functions. */
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/where.h"
#include "report/analysis/analysis.h"
#include "report/base/text/format.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/where.h"
#include "report/model/process_name.h"

static const struct gp_table_column columns[] = {
	{"Host %", GP_UNIT_PERCENT}, {"Host", GP_UNIT_NS},           {"Split", GP_UNIT_NS},
	{"GPU", GP_UNIT_NS},         {"Idle", GP_UNIT_NS},           {"Steps", GP_UNIT_COUNT},
	{"Host a step", GP_UNIT_NS}, {"GPU a step", GP_UNIT_NS},     {"Idle a step", GP_UNIT_NS},
	{"Ops", GP_UNIT_COUNT},      {"Most idle by", GP_UNIT_TEXT}, {"PID", GP_UNIT_NUMBER},
	{"Phase", GP_UNIT_TEXT},     {"Mostly in", GP_UNIT_TEXT},
};

static void put_phase(struct gp_scope *scope, struct gp_table *table, size_t process,
		      const struct gp_phases *phases, uint32_t number)
{
	const struct gp_phase *phase = &phases->rows[number];
	uint64_t idle_ns;
	enum gp_idle_cause cause = gp_phase_idle_cause(phase, &idle_ns);
	const uint64_t numbers[] = {phase->host_ns,
				    phase->split_ns,
				    phase->gpu_ns,
				    idle_ns,
				    phase->steps,
				    gp_phases_step_ns(phases, GP_PHASE_HOST, number),
				    gp_phases_step_ns(phases, GP_PHASE_GPU, number),
				    gp_phases_step_ns(phases, GP_PHASE_IDLE, number),
				    phase->op_count};

	gp_table_cell(table, gp_value_percent((double)phase->host_ns, (double)phases->host_ns));
	for (size_t i = 0; i < COUNT(numbers); i++)
		gp_table_put_whole(table, numbers[i]);
	gp_table_put_text(table, idle_ns > 0 ? gp_idle_cause_name(cause) : "");
	gp_scope_put_process(scope, table, scope->models[process]);
	gp_table_put_text(table, phase->name);
	gp_table_put_text(table, phase->place);
}

/* A warning: without stacks, phases are told less finely. */
static void warn_without_stacks(const struct gp_scope *scope, const struct gp_model *model,
				const struct gp_phases *phases)
{
	uint32_t without = phases->launches - phases->with_stack;

	if (scope->messages && phases->time_count > 0 && without > phases->with_stack)
		fprintf(scope->messages,
			"gpuprof: %s: %s of %s launches of the loop have no call stack: the phases rest on copies, threads and samples alone (--stacks=all records all stacks)\n",
			gp_process_name(model).text, gp_format_count(without).text,
			gp_format_count(phases->launches).text);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_analysis *basis = gp_scope_analysis(scope);

	for (size_t i = 0; basis && i < scope->model_count; i++) {
		const struct gp_phases *phases = &basis->phases[i];

		warn_without_stacks(scope, scope->models[i], phases);
		for (uint32_t k = 0; k < GP_PHASE_KINDS; k++)
			if (phases->rows[k].name)
				put_phase(scope, table, i, phases, k);
	}
	return 0;
}

const struct gp_breakdown gp_breakdown_phase = {
	.help = "phases of the main loop's steps: data loading, forward, backward, ..., or the user's functions",
	.nothing =
		"no phases are known: there is no main loop (--by iteration), or neither call stacks of its launches (--stacks=all), Python stack samples (--host-samples=5) nor ranges tell what the host did",
	.head = {"phase", "Phases of the main loop", columns, COUNT(columns)},
	.sort_column = 1,
	.fold_before = 10,
	.fill = fill,
};
