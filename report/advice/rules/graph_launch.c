#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/idle_gap_calls.h"
#include "report/advice/rules/other_programs.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(FEW_OPERATIONS, 8, COUNT, "a graph with no more saves hardly any launch time")       \
	LIMIT(HABIT_PART, 4, COUNT, "of such calls: if fewer delay the GPU, it is preemption")
GP_LIMITS(LIMITS);

/* A case's detail. */
enum { LAUNCHED, MADE };

struct own {
	struct gp_most_called most; /* the function that creates graphs */
	uint64_t launches_ns;       /* of the launches ... */
	uint64_t operations;        /* ... and their operations; 0 = graphs are recorded whole */
	uint64_t pageable;          /* launches of graphs that copy pageable memory */
	uint64_t graphs;            /* different graphs ... */
	uint64_t firsts_ns;         /* ... and the time of their first launches */
};

static uint64_t ns_of(const struct gp_idle_gap *idle_gap, uint32_t kind)
{
	return gp_idle_gap_cause_ns(idle_gap, kind == LAUNCHED ? GP_IDLE_LAUNCH : GP_IDLE_SETUP);
}

static uint32_t kind_of(const struct gp_idle_gap *idle_gap)
{
	return ns_of(idle_gap, LAUNCHED) >= ns_of(idle_gap, MADE) ? LAUNCHED : MADE;
}

static bool waits_for_graph(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return gp_advisor_class(advisor, at->call_after) == GP_API_GRAPH_LAUNCH &&
	       2 * (ns_of(at->idle_gap, LAUNCHED) + ns_of(at->idle_gap, MADE)) >=
		       gp_idle_gap_ns(at->idle_gap);
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint32_t kind = kind_of(at->idle_gap);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, kind, 0);
	uint64_t ns = ns_of(at->idle_gap, kind);

	if (kind == MADE) /* without the creation, the rest of the gap is not needed, either */
		ns = gp_idle_gap_ns(at->idle_gap);
	gp_advisor_add(advisor, found, at->after->start_ns, gp_idle_gap_ns(at->idle_gap),
		       ns > GP_OPERATION_GAP_NS ? ns - GP_OPERATION_GAP_NS : 0, at->idle_gap);
	gp_advisor_show_idle_gap(advisor, found, at->idle_gap);
	if (kind == LAUNCHED)
		gp_advisor_vote(found, gp_advisor_site(advisor, at->call_after), ns);
}

/* Including calls that are captured, and that begin or end a capture. */
static bool makes_graph(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap,
			const struct gp_call *call)
{
	uint8_t class = gp_advisor_class(advisor, call);

	(void)idle_gap;
	return call->captured || class == GP_API_CAPTURE_BEGIN || class == GP_API_CAPTURE_END ||
	       (class == GP_API_CONTROL &&
		strstr(gp_model_api(advisor->model, call->api).name, "Graph"));
}

static void note_launch(const struct gp_advisor *advisor, struct own *own, struct gp_tally *graphs,
			uint32_t number)
{
	const struct gp_model *model = advisor->model;
	const struct gp_call *call = &model->calls[number];
	const struct gp_op *first = &model->ops[call->first_op];
	bool is_pageable = false;

	own->launches_ns += call->duration_ns;
	if (gp_tally_find(graphs, (uint64_t[GP_TALLY_KEYS]){first->graph_id})->count++ == 0)
		own->firsts_ns += call->duration_ns;
	if (first->kind == GP_OP_GRAPH)
		return;
	for (uint32_t i = call->first_op; i != GP_NONE; i = model->ops[i].next_op) {
		own->operations++;
		is_pageable |=
			model->ops[i].kind == GP_OP_COPY && gp_copy_is_pageable(&model->ops[i]);
	}
	own->pageable += is_pageable;
}

static uint64_t count_calls(const struct gp_model *model, uint16_t api)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		count += model->calls[i].api == api;
	return count;
}

/* Whether first launches have half of the time. */
static bool is_of_firsts(const struct own *own)
{
	return own->firsts_ns * 2 >= own->launches_ns;
}

/* If the GPU waits for few of many such calls, they were preempted, unless they are first launches. */
static bool is_habit(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct own *own = found->own;

	if (found->detail == MADE)
		return own->most.calls * HABIT_PART >= count_calls(advisor->model, own->most.api);
	return is_of_firsts(own) || found->count * HABIT_PART >= *(const uint64_t *)advisor->state;
}

static void look_at_case(struct gp_advisor *advisor, uint32_t number)
{
	struct gp_case *found = &advisor->cases[number];
	struct gp_idle_gap_calls making = {0};
	struct gp_tally graphs = {0};
	struct own *own = found->own;
	uint64_t making_ns = 0;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
		const struct gp_device_idle_gaps *device = &advisor->basis->idle_gaps.devices[i];

		for (uint32_t k = 0; k < device->count; k++) {
			const struct gp_idle_gap *idle_gap = &device->idle_gaps[k];

			if (idle_gap->told != number)
				continue;
			note_launch(advisor, own, &graphs,
				    gp_op_of(advisor->scope.models, idle_gap->after)->call);
			if (found->detail == MADE)
				making_ns += gp_idle_gap_calls_add(advisor, &making, idle_gap,
								   makes_graph);
		}
	}
	own->graphs = graphs.count;
	if (found->detail == MADE) {
		own->most = gp_idle_gap_calls_most(advisor, &making, making_ns);
		found->site = own->most.site;
	}
	/* other initialization is not for this rule */
	if (!is_habit(advisor, found) || (found->detail == MADE && 2 * making_ns < found->time_ns))
		found->saves_ns = found->saves_in_loop_ns = 0;
	gp_tally_free(&graphs);
	gp_idle_gap_calls_free(&making);
}

static void look(struct gp_advisor *advisor)
{
	uint32_t known = advisor->case_count;
	uint64_t graph_launches = 0;

	for (uint32_t i = 0; i < advisor->model->call_count; i++)
		graph_launches +=
			gp_advisor_class(advisor, &advisor->model->calls[i]) == GP_API_GRAPH_LAUNCH;
	if (graph_launches == 0)
		return;
	advisor->state = &graph_launches;
	gp_advisor_idle_gaps(advisor, 0, waits_for_graph, take_idle_gap);
	for (uint32_t i = known; i < advisor->case_count; i++)
		if (gp_advisor_is_worth(advisor, &advisor->cases[i]))
			look_at_case(advisor, i);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add_flag(values, "is_creation", found->detail == MADE);
	if (found->detail == MADE) {
		gp_most_called_add_values(advisor, &own->most, found->time_ns, values);
		return;
	}
	gp_document_add_number(values, "launch_ns", GP_UNIT_NS, own->launches_ns / found->count);
	gp_document_add_flag(values, "is_pageable", 2 * own->pageable >= found->count);
	gp_document_add_flag(values, "is_small", own->operations <= FEW_OPERATIONS * found->count);
	if (own->operations > 0)
		gp_document_add_number(values, "mean_operations", GP_UNIT_COUNT,
				       (own->operations + found->count / 2) / found->count);
	if (own->operations > found->count)
		gp_document_add_number(values, "operation_ns", GP_UNIT_NS,
				       own->launches_ns / own->operations);
	if (is_of_firsts(own)) {
		gp_document_add_number(values, "graph_count", GP_UNIT_COUNT, own->graphs);
		gp_document_add(values, "firsts_percent", GP_UNIT_PERCENT,
				gp_value_percent((double)own->firsts_ns, (double)own->launches_ns));
	}
	if (own->pageable > 0)
		gp_document_add_number(values, "others_bytes", GP_UNIT_BYTES,
				       gp_other_programs_bytes(advisor, found));
}

const struct gp_rule gp_rule_graph_launch = {
	.id = "graph-launch",
	.title = "the GPU waits for graphs to be launched or created",
	.found =
		"[{?is_creation}the GPU waits {count} times for a graph to be created, for {mean_ns} on average" GP_MOST_CALLED_FOUND
		"|the GPU waits for the launches of {count} graphs[ of {mean_operations} operation[{!mean_operations=1}s] on average], which take {launch_ns} each[, {operation_ns} an operation][; {firsts_percent} % of that are the first launches of {graph_count} of them][{?mean_operations}{!is_imported}; that includes the recording of each operation (--graphs=graph avoids it)]]",
	.change =
		"[{?is_creation}create each graph once, before the loop, and launch it often; apply changes to it (cudaGraphExecKernelNodeSetParams), or let its kernels read them from memory"
		"|[{?is_pageable}copy from and to page-locked memory in the graph (cudaMallocHost): with pageable memory each launch lasts until the copies are done; ][{?firsts_percent}upload the graphs first (cudaGraphUpload), and launch each often|{?mean_operations}{?is_small}put more into a graph, for example several iterations, and launch the next one before the host waits for this one|launch the next one before the host waits for this one, and put fewer and larger operations into it: fuse kernels][; other programs, which held up to {others_bytes} of the GPU's memory, alternate with this one on the GPU: a launch that waits for its copies waits for theirs, too]]",
	.meaning =
		"A launch of a CUDA graph takes some microseconds on the host. It takes longer for many nodes, and longest the first time, when the graph is uploaded. Capture, creation, instantiation (cudaGraphInstantiate) and updates (cudaGraphExecUpdate) take much longer: in a loop they can cost more than the graph saves. The GPU was idle before each of these launches while the host was in these calls. Launches take longer under gpuprof if each node has its own record: record with --graphs=graph to measure them. A graph that copies from or to pageable memory blocks its launch until these copies are done.",
	.remedy =
		"Create each graph once and launch it often. Update parameters (cudaGraphExecKernelNodeSetParams), or keep one graph for each shape. Upload the graph before its first launch (cudaGraphUpload). Launch it again before the host waits. Put several iterations into a small graph, and fuse the kernels of a large one.",
	.ignore = "Launches are short in a recording with --graphs=graph.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 5000000,
		      .count = 16,
		      .reason = "Fewer gaps are setup"},
	.limits = limits,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
