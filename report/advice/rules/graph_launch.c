/*
 * Graphs that a GPU waits for.  Speaks where idle times that end with the launch of a graph, at
 * least 16 of them, take 10 % of the recorded time and 5 ms, by what the host did for most of them,
 * if that is half: it launched the graph; or it made it, by capture or node by node, instantiated
 * it or updated it.  What is claimed is what the launches took of these times, or all of those in
 * which graphs are made, but for the microsecond that stays between operations.  Not where it waits
 * for less than a quarter of such calls, unless these are first launches: the system may have taken
 * the processor.
 */
#include "report/advice/rules/rules.h"

#include <string.h>

#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/idle_gap_calls.h"
#include "report/advice/rules/neighbors.h"

/* What stays between two operations. */
#define LEAST_GAP_NS 1000u

/*
 * Graphs of no more operations than this are launched hardly faster than each of these by itself.
 */
#define FEW_OPERATIONS 8u

/* So many of all such calls at least: a quarter. */
#define HABIT_PART 4u

/* A case's detail. */
enum { LAUNCHED, MADE };

struct own {
	struct gp_most_called most; /* of what made them */
	uint64_t launches_ns;       /* that the launches took, ... */
	uint64_t operations;        /* ... of so many operations; 0 = graphs are recorded whole */
	uint64_t pageable;          /* launches of graphs that copy from or to such memory */
	uint64_t graphs;            /* so many different ones, ... */
	uint64_t firsts_ns;         /* ... the first launches of which took so much of it */
};

static uint64_t ns_of(const struct gp_idle_gap *idle_gap, uint32_t kind)
{
	return gp_idle_gap_cause_ns(idle_gap, kind == LAUNCHED ? GP_IDLE_LAUNCH : GP_IDLE_SETUP);
}

/* What most of such a time went into. */
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

	if (kind ==
	    /*
	     * what the host does between such calls goes with them, and the launch is no first one
	     * any more
	     */
	    MADE)
		ns = gp_idle_gap_ns(at->idle_gap);
	gp_advisor_add(advisor, found, at->after->start_ns, gp_idle_gap_ns(at->idle_gap),
		       ns > LEAST_GAP_NS ? ns - LEAST_GAP_NS : 0, at->idle_gap);
	gp_advisor_show_idle_gap(found, at->idle_gap);
	if (kind == LAUNCHED)
		gp_advisor_vote(found, gp_advisor_site(advisor, at->call_after), ns);
}

/* Calls that are captured, or begin or end that, are made for a graph, too. */
static bool makes_graph(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap,
			const struct gp_call *call)
{
	uint8_t class = gp_advisor_class(advisor, call);

	(void)idle_gap;
	return call->captured || class == GP_API_CAPTURE_BEGIN || class == GP_API_CAPTURE_END ||
	       (class == GP_API_CONTROL &&
		strstr(gp_model_api(advisor->model, call->api).name, "Graph"));
}

/* ---- of what is worth a word ---- */

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

/* Most of the time is that of each graph's first launch. */
static bool is_of_firsts(const struct own *own)
{
	return own->firsts_ns * 2 >= own->launches_ns;
}

/*
 * Where the GPU waits for few of many such calls, the system had taken the processor; it may wait
 * for the first launch of each graph alone.
 */
static bool is_habit(const struct gp_advisor *advisor, const struct gp_case *found)
{
	const struct own *own = found->own;

	if (found->detail == MADE)
		return own->most.calls * HABIT_PART >= count_calls(advisor->model, own->most.api);
	return is_of_firsts(own) || found->count * HABIT_PART >= advisor->graph_launches;
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
	/* whatever was set up besides graphs is none of this rule's */
	if (!is_habit(advisor, found) || (found->detail == MADE && 2 * making_ns < found->time_ns))
		found->saves_ns = found->saves_in_loop_ns = 0;
	if (graphs.error < 0)
		advisor->error = graphs.error;
	gp_tally_free(&graphs);
	gp_idle_gap_calls_free(&making);
}

static void look(struct gp_advisor *advisor)
{
	uint32_t known = advisor->case_count;

	if (advisor->graph_launches == 0)
		return;
	gp_advisor_idle_gaps(advisor, 0, waits_for_graph, take_idle_gap);
	for (uint32_t i = known; i < advisor->case_count && advisor->error == 0; i++)
		if (gp_advisor_is_worth(advisor, &advisor->cases[i]))
			look_at_case(advisor, i);
}

/* ---- in words ---- */

/* ", of 100 operations on average, " */
static void tell_operations(const struct own *own, uint64_t launches, FILE *out)
{
	if (own->operations > 0)
		fprintf(out, ", of %s operation%s on average,",
			gp_format_count((own->operations + launches / 2) / launches).text,
			own->operations == launches ? "" : "s");
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (found->detail == MADE) {
		fprintf(out, "%s times the GPU waits for a graph to be made, for %s on average",
			gp_format_count(found->count).text,
			gp_format_ns(found->time_ns / found->count).text);
		gp_most_called_tell(advisor, &own->most, found->time_ns, out);
		return;
	}
	fprintf(out, "the GPU waits for the launches of %s graphs",
		gp_format_count(found->count).text);
	tell_operations(own, found->count, out);
	fprintf(out, "%s which take %s each", own->operations > 0 ? "" : ",",
		gp_format_ns(own->launches_ns / found->count).text);
	if (own->operations > found->count)
		fprintf(out, ", %s an operation",
			gp_format_ns(own->launches_ns / own->operations).text);
	if (is_of_firsts(own))
		fprintf(out, "; %s %% of that are the first launches of %s of them",
			gp_format_percent((double)own->firsts_ns, (double)own->launches_ns).text,
			gp_format_count(own->graphs).text);
	if (own->operations > 0 && !advisor->scope.models[found->process]->recorder)
		fputs("; that is with a record of each operation (--graphs=graph: without)", out);
}

static void advise_on_launches(const struct own *own, uint64_t launches, FILE *out)
{
	if (2 * own->pageable >= launches)
		fputs("copy from and to page-locked memory in it (cudaMallocHost): with pageable memory each launch lasts until the copies are done; ",
		      out);
	if (is_of_firsts(own))
		fputs("upload them before (cudaGraphUpload), and launch each again and again", out);
	else if (own->operations > 0 && own->operations <= FEW_OPERATIONS * launches)
		fputs("put more into a graph, for example several iterations, and launch the next one before the host waits for this one",
		      out);
	else
		fputs("launch the next one before the host waits for this one, and put fewer and larger operations into it: fuse kernels",
		      out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	uint64_t bytes;

	if (found->detail == MADE) {
		fputs("make each graph once, before the loop, and launch it again and again; what changes in it can be set (cudaGraphExecKernelNodeSetParams), or be read from memory by its kernels",
		      out);
		return;
	}
	advise_on_launches(own, found->count, out);
	bytes = own->pageable > 0 ? gp_neighbors_bytes(advisor, found) : 0;
	if (bytes > 0)
		fprintf(out,
			"; other programs, which held up to %s of the GPU's memory, take turns with this one, and a launch that waits for its copies waits for theirs",
			gp_format_bytes(bytes).text);
}

const struct gp_rule gp_rule_graph_launch = {
	.id = "graph-launch",
	.title = "the GPU waits for graphs to be launched or created",
	.meaning =
		"A launch of a CUDA graph takes some microseconds on the host. It takes longer for many nodes, and longest the first time, when the graph is uploaded. Capture, creation, instantiation (cudaGraphInstantiate) and updates (cudaGraphExecUpdate) take much longer: in a loop they can cost more than the graph saves. The GPU was idle before each of these launches while the host was in these calls. Launches take longer under gpuprof if each node has its own record: record with --graphs=graph to measure them. A graph that copies from or to pageable memory blocks its launch until these copies are done.",
	.change =
		"Create each graph once and launch it often. Update parameters (cudaGraphExecKernelNodeSetParams), or keep one graph for each shape. Upload the graph before its first launch (cudaGraphUpload). Launch it again before the host waits. Put several iterations into a small graph, and fuse the kernels of a large one.",
	.ignore = "Launches are short in a recording with --graphs=graph.",
	.threshold = {.saves_percent = 10, .saves_ns = 5000000, .count = 16},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
