#include "report/analysis/device/stall_reasons.h"
#include "report/analysis/host/stack_profile.h"

#include <stdlib.h>
#include <string.h>

#include "report/trace/cuda_names.h"
#include "report/base/array.h"
#include "report/base/tally.h"
#include "report/analysis/host/python_samples.h"
#include "report/model/memory_ledger.h"
#include "report/model/recorded.h"
#include "report/model/stack_estimate.h"

/* ---- adding up ---- */

static void reserve(struct gp_stack_profile *profile)
{
	uint32_t wanted = profile->tree.node_count, capacity = profile->capacity;
	uint64_t(*values)[GP_STACK_METRICS];

	if (wanted <= capacity)
		return;
	capacity = wanted + wanted / 2;
	values = realloc(profile->values, (size_t)capacity * sizeof(*values));
	memset(values + profile->capacity, 0,
	       (size_t)(capacity - profile->capacity) * sizeof(*values));
	profile->values = values;
	profile->capacity = capacity;
}

static void add(struct gp_stack_profile *profile, uint32_t node, enum gp_stack_metric measure,
		uint64_t value, uint32_t stack)
{
	reserve(profile);
	profile->values[node][measure] += value;
	profile->totals[measure] += value;
	profile->without_stack[measure] += stack == GP_NONE ? value : 0;
}

static bool is_leaf(const struct gp_call_tree *tree, uint32_t node, uint32_t parent,
		    const char *name, uint16_t kind)
{
	const struct gp_place *site =
		node < tree->node_count ? gp_call_tree_site(tree, node) : NULL;

	return site && tree->nodes[node].parent == parent && site->kind == kind &&
	       strcmp(site->function, name) == 0;
}

/* Equal names mostly have one address; where two have one slot in turn, the tree is searched. */
static uint32_t find_leaf(struct gp_stack_profile *profile, uint32_t parent, const char *name,
			  uint16_t kind)
{
	const struct gp_place place = {.function = name, .file = "", .module = "", .kind = kind};
	uint64_t hash = ((uintptr_t)name + parent) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *leaf = &profile->leaves[(hash >> 32) % GP_RECENT_LEAVES];

	if (!is_leaf(&profile->tree, *leaf, parent, name, kind))
		*leaf = gp_call_tree_add(&profile->tree, parent, &place);
	return *leaf;
}

/* The node of an API function that was called by that stack. */
static uint32_t find_call(struct gp_stack_profile *profile, const struct gp_model *model,
			  const struct gp_call *call, uint32_t stack)
{
	uint32_t node = gp_call_tree_find(&profile->tree, stack);

	return call ? find_leaf(profile, node, gp_model_api(model, call->api).name, GP_SITE_CALL)
		    : node;
}

uint32_t gp_stack_profile_call(struct gp_stack_profile *profile, const struct gp_model *model,
			       const struct gp_call *call)
{
	return find_call(profile, model, call, call ? call->stack : GP_NONE);
}

/* ---- operations ---- */

#define NAME_BYTES 96

/* Nodes of kernels that have samples of warps, by the kernel's name. */
enum site_key { SITE_NAME, SITE_NODE };
enum site_sum { SITE_NS };

static const char *name_kernel(const struct gp_stack_profile *profile, const char *mangled)
{
	return profile->full_names ? gp_names_full(profile->names, mangled)
				   : gp_names_short(profile->names, mangled);
}

static const char *name_op(const struct gp_stack_profile *profile, const struct gp_model *model,
			   const struct gp_op *op, char buffer[NAME_BYTES])
{
	const char *kernel = gp_model_kernel_name(model, op);

	if (op->kind == GP_OP_KERNEL)
		return name_kernel(profile, kernel);
	if (op->kind == GP_OP_GRAPH)
		return "(whole graph)";
	if (op->kind == GP_OP_COPY)
		snprintf(buffer, NAME_BYTES, "Memcpy %s", gp_copy_kind_name(op->copy_kind));
	else
		snprintf(buffer, NAME_BYTES, "Memset (%s)", gp_memory_name(op->destination_kind));
	return buffer;
}

/* sites: of kernels by name and node; NULL: not asked for. */
static void add_op(struct gp_stack_profile *profile, const struct gp_model *model,
		   const struct gp_op *op, struct gp_tally *sites)
{
	uint32_t stack = gp_model_op_stack(model, op), node;
	char buffer[NAME_BYTES];

	node = find_call(profile, model, gp_model_op_cause(model, op), stack);
	node = find_leaf(profile, node, name_op(profile, model, op, buffer), GP_SITE_OPERATION);
	add(profile, node, GP_STACK_METRIC_OPERATIONS, 1, stack);
	if (op->untimed || gp_op_is_on_host(op))
		return;
	add(profile, node, GP_STACK_METRIC_GPU_TIME, op->end_ns - op->start_ns, stack);
	if (sites && op->kind == GP_OP_KERNEL)
		gp_tally_find(sites, (uint64_t[GP_TALLY_KEYS]){op->name, node})->sums[SITE_NS] +=
			op->end_ns - op->start_ns;
}

static void add_call(struct gp_stack_profile *profile, const struct gp_model *model,
		     const struct gp_call *call)
{
	uint32_t node = gp_stack_profile_call(profile, model, call);

	add(profile, node, GP_STACK_METRIC_CALLS, 1, call->stack);
	add(profile, node, GP_STACK_METRIC_API_TIME, call->duration_ns, call->stack);
}

/* ---- memory ---- */

static size_t device_of(const struct gp_memory_event *event)
{
	return gp_memory_is_of_host(event->memory_kind) ? GP_MEMORY_OF_HOST : event->device_id;
}

/* The times of the ledger are indices of events. */
static void find_peaks(const struct gp_model *model, struct gp_memory_ledger *ledger)
{
	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->address == 0)
			continue;
		if (event->op == GP_MEMORY_ALLOC)
			gp_memory_ledger_allocate(ledger, device_of(event), event->memory_kind,
						  event->bytes, i);
		else
			gp_memory_ledger_release(ledger, device_of(event), event->memory_kind,
						 event->bytes, true);
	}
}

static void add_allocation(struct gp_stack_profile *profile, const struct gp_model *model,
			   const struct gp_memory_ledger *ledger, uint32_t index)
{
	const struct gp_memory_event *event = &model->memory[index];
	const struct gp_call *call = event->call != GP_NONE ? &model->calls[event->call] : NULL;
	uint32_t stack = call ? call->stack : GP_NONE;
	uint32_t node = gp_stack_profile_call(profile, model, call);
	uint64_t peak = gp_memory_ledger_row(ledger, device_of(event),
					     gp_memory_account(event->memory_kind))
				->peak_time;

	add(profile, node, GP_STACK_METRIC_ALLOCATIONS, 1, stack);
	add(profile, node, GP_STACK_METRIC_ALLOCATED, event->bytes, stack);
	if (event->other == GP_NONE)
		add(profile, node, GP_STACK_METRIC_LEAKED, event->bytes, stack);
	if (index <= peak && (event->other == GP_NONE || event->other > peak))
		add(profile, node, GP_STACK_METRIC_PEAK, event->bytes, stack);
}

static void add_memory(struct gp_stack_profile *profile, const struct gp_model *model)
{
	struct gp_slice_filter filter = gp_slice_filter_of(&profile->choice, model);
	struct gp_memory_ledger ledger = {0};

	find_peaks(model, &ledger);
	for (uint32_t i = 0; i < model->memory_count; i++)
		if (model->memory[i].op == GP_MEMORY_ALLOC && model->memory[i].address != 0 &&
		    gp_slice_filter_has_moment(&filter, model->memory[i].time_ns))
			add_allocation(profile, model, &ledger, i);
	gp_memory_ledger_clear(&ledger);
}

/* ---- samples of Python's stacks ---- */

static uint32_t calls_of(const struct gp_model *model, uint32_t thread_id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		count += model->calls[i].thread_id == thread_id;
	return count;
}

/*
 * Of the threads with samples the one with the most calls; the process's first thread counts
 * tenfold, as it directs the others.
 */
static uint32_t find_leader(const struct gp_model *model)
{
	uint64_t most = 0;
	uint32_t leader = model->pid;

	for (uint32_t i = 0; i < model->sample_count; i = gp_python_samples_end(model, i)) {
		uint32_t thread_id = model->samples[i].thread_id;
		uint64_t weight =
			(uint64_t)calls_of(model, thread_id) * (thread_id == model->pid ? 10 : 1);

		if (weight > most) {
			most = weight;
			leader = thread_id;
		}
	}
	return leader;
}

static bool only_waits(struct gp_stack_profile *profile, const struct gp_model *model,
		       uint32_t stack)
{
	struct gp_host_place place;

	if (!profile->places)
		profile->places = gp_host_places_new();
	place = gp_host_places_at(profile->places,
				  gp_host_places_find(profile->places, model, stack));
	return gp_host_place_waits(&place);
}

static void add_sample(struct gp_stack_profile *profile, const struct gp_model *model,
		       const struct gp_slice_filter *filter, uint32_t index, uint32_t leader)
{
	const struct gp_sample *sample = &model->samples[index];
	struct gp_sample_time time = gp_python_sample_time(model, index);
	uint64_t ns = time.end_ns - time.start_ns;
	uint32_t node;

	if (sample->stack == GP_NONE || !gp_slice_filter_has(filter, time.start_ns, time.end_ns))
		return;
	node = gp_call_tree_find(&profile->tree, sample->stack);
	add(profile, node, GP_STACK_METRIC_HOST_TIME, ns, sample->stack);
	if (sample->thread_id == leader || !only_waits(profile, model, sample->stack))
		add(profile, node, GP_STACK_METRIC_HOST_RUNNING, ns, sample->stack);
}

static void add_samples(struct gp_stack_profile *profile, const struct gp_model *model,
			const struct gp_slice_filter *filter)
{
	uint32_t leader = find_leader(model);

	for (uint32_t i = 0; i < model->sample_count; i++)
		add_sample(profile, model, filter, i, leader);
	/* they refer to the model, which may be freed */
	gp_host_places_free(profile->places);
	profile->places = NULL;
}

/* ---- samples of warps ---- */

enum stall_key { STALL_KERNEL, STALL_FILE, STALL_LINE, STALL_REASON };
enum stall_sum { STALL_SAMPLES };

/* The sites of one kernel. */
struct kernel_sites {
	const struct gp_tally *all;
	uint32_t *chosen; /* rows of these */
	uint32_t count;
	double ns; /* of these */
};

static const char *name_line(const struct gp_model *model, const struct gp_tally_row *row,
			     char buffer[NAME_BYTES])
{
	const char *file, *name;

	if (row->key[STALL_LINE] == 0)
		return "(no line information)";
	file = gp_stall_text(model, (uint32_t)row->key[STALL_FILE]);
	name = strrchr(file, '/');
	snprintf(buffer, NAME_BYTES, "%.64s:%u", name ? name + 1 : file,
		 (uint32_t)row->key[STALL_LINE]);
	return buffer;
}

static void add_stall(struct gp_stack_profile *profile, const struct gp_model *model,
		      uint32_t kernel, const struct gp_tally_row *row, uint64_t samples)
{
	char buffer[NAME_BYTES];
	uint32_t node =
		find_leaf(profile, kernel, name_line(model, row, buffer), GP_SITE_OPERATION);

	node = find_leaf(profile, node, gp_stall_text(model, (uint32_t)row->key[STALL_REASON]),
			 GP_SITE_OPERATION);
	add(profile, node, GP_STACK_METRIC_STALLS, samples, 0);
}

static void choose_sites(struct kernel_sites *sites, const struct gp_model *model,
			 const char *kernel)
{
	sites->count = 0;
	sites->ns = 0;
	for (uint32_t i = 0; i < sites->all->count; i++) {
		const struct gp_tally_row *site = &sites->all->rows[i];

		if (site->key[SITE_NAME] >= model->name_count ||
		    strcmp(model->names[site->key[SITE_NAME]], kernel) != 0)
			continue;
		sites->chosen[sites->count++] = i;
		sites->ns += (double)site->sums[SITE_NS];
	}
}

/*
 * Samples are of all launches of a kernel.  So they are divided among the stacks that launched it
 * by their GPU time.
 */
static void divide_stall(struct gp_stack_profile *profile, const struct gp_model *model,
			 const struct kernel_sites *sites, const struct gp_tally_row *row)
{
	double ns = 0, samples = (double)row->sums[STALL_SAMPLES];
	uint64_t divided = 0;

	for (uint32_t i = 0; i < sites->count; i++) {
		const struct gp_tally_row *site = &sites->all->rows[sites->chosen[i]];
		uint64_t until;

		ns += (double)site->sums[SITE_NS];
		until = (uint64_t)(samples * ns / sites->ns + 0.5);
		if (until > divided)
			add_stall(profile, model, (uint32_t)site->key[SITE_NODE], row,
				  until - divided);
		divided = until;
	}
}

static void add_stalls_of_kernel(struct gp_stack_profile *profile, const struct gp_model *model,
				 struct kernel_sites *sites, const struct gp_tally_row *rows,
				 uint32_t count)
{
	const char *kernel = gp_stall_text(model, (uint32_t)rows->key[STALL_KERNEL]);

	choose_sites(sites, model, kernel);
	for (uint32_t i = 0; i < count; i++)
		if (sites->ns > 0)
			divide_stall(profile, model, sites, &rows[i]);
		else /* its launches have no records */
			add_stall(profile, model,
				  find_leaf(profile, GP_NONE, name_kernel(profile, kernel),
					    GP_SITE_OPERATION),
				  &rows[i], rows[i].sums[STALL_SAMPLES]);
}

static int compare_kernels(const void *a, const void *b, const void *context)
{
	const struct gp_tally_row *left = a, *right = b;

	(void)context;
	return (left->key[STALL_KERNEL] > right->key[STALL_KERNEL]) -
	       (left->key[STALL_KERNEL] < right->key[STALL_KERNEL]);
}

static void gather_stalls(const struct gp_model *model, const struct gp_slice_filter *filter,
			  struct gp_tally *stalls)
{
	for (uint32_t i = 0; i < model->stall_count; i++) {
		const struct gp_record_stall *stall = &model->stalls[i];
		uint64_t key[GP_TALLY_KEYS] = {[STALL_KERNEL] = stall->kernel_id,
					       [STALL_FILE] = stall->file_id,
					       [STALL_LINE] = stall->line,
					       [STALL_REASON] = stall->reason_id};

		if (gp_slice_filter_has(filter, stall->start_ns, stall->end_ns))
			gp_tally_find(stalls, key)->sums[STALL_SAMPLES] += stall->samples;
	}
	gp_array_sort(stalls->rows, stalls->count, sizeof(*stalls->rows), compare_kernels, NULL);
}

static void add_stalls(struct gp_stack_profile *profile, const struct gp_model *model,
		       const struct gp_slice_filter *filter, const struct gp_tally *launch_sites)
{
	struct kernel_sites sites = {launch_sites,
				     calloc(launch_sites->count + 1, sizeof(*sites.chosen)), 0, 0};
	struct gp_tally stalls = {0};
	uint32_t next;

	gather_stalls(model, filter, &stalls);
	for (uint32_t i = 0; i < stalls.count; i = next) {
		for (next = i + 1; next < stalls.count && stalls.rows[next].key[STALL_KERNEL] ==
								  stalls.rows[i].key[STALL_KERNEL];)
			next++;
		add_stalls_of_kernel(profile, model, &sites, &stalls.rows[i], next - i);
	}
	gp_tally_free(&stalls);
	free(sites.chosen);
}

/* ---- the whole ---- */

int gp_stack_profile_open(struct gp_stack_profile *profile, bool with_lines, bool full_names)
{
	*profile = (struct gp_stack_profile){.names = gp_names_new(), .full_names = full_names};
	gp_call_tree_open(&profile->tree, with_lines);
	reserve(profile);
	return 0;
}

void gp_stack_profile_close(struct gp_stack_profile *profile)
{
	gp_call_tree_close(&profile->tree);
	free(profile->values);
	gp_names_free(profile->names);
	*profile = (struct gp_stack_profile){0};
}

static void take_times(struct gp_stack_profile *profile, const struct gp_model *model)
{
	uint64_t start_ns = model->base_unix_ns + model->first_ns;
	uint64_t end_ns = model->base_unix_ns + model->last_ns;

	if (profile->start_unix_ns == 0 || start_ns < profile->start_unix_ns)
		profile->start_unix_ns = start_ns;
	if (end_ns > profile->end_unix_ns)
		profile->end_unix_ns = end_ns;
}

int gp_stack_profile_add(struct gp_stack_profile *profile, const struct gp_model *model)
{
	struct gp_slice_filter filter = gp_slice_filter_of(&profile->choice, model);
	struct gp_tally sites = {0};

	gp_call_tree_use(&profile->tree, model);
	take_times(profile, model);
	if (model->recorder)
		profile->recorder = model->recorder;
	gp_stack_estimate_add(&profile->estimate, &model->stack_estimate);
	profile->is_of_parts |= model->part.is_one && gp_recorded_samples_launches(model);
	for (uint32_t i = 0; i < model->op_count; i++)
		if (gp_slice_filter_has(&filter, model->ops[i].start_ns, model->ops[i].end_ns))
			add_op(profile, model, &model->ops[i],
			       model->stall_count > 0 ? &sites : NULL);
	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_slice_filter_has(&filter, model->calls[i].start_ns,
					model->calls[i].start_ns + model->calls[i].duration_ns))
			add_call(profile, model, &model->calls[i]);
	if (model->stall_count > 0)
		add_stalls(profile, model, &filter, &sites);
	gp_tally_free(&sites);
	add_samples(profile, model, &filter);
	add_memory(profile, model);
	gp_call_tree_use(&profile->tree, NULL);
	return 0;
}

/* The node of the outermost caller, in the tree that is upside down. */
static uint32_t turn_round(const struct gp_call_tree *tree, uint32_t node,
			   struct gp_call_tree *inverted)
{
	uint32_t turned = GP_NONE;

	for (uint32_t at = node; at != GP_NONE; at = tree->nodes[at].parent)
		turned = gp_call_tree_add(inverted, turned, gp_call_tree_site(tree, at));
	return turned;
}

int gp_stack_profile_invert(const struct gp_stack_profile *profile, enum gp_stack_metric value,
			    struct gp_stack_profile *inverted)
{
	gp_stack_profile_open(inverted, profile->tree.has_lines, profile->full_names);
	memcpy(inverted->totals, profile->totals, sizeof(inverted->totals));
	memcpy(inverted->without_stack, profile->without_stack, sizeof(inverted->without_stack));
	for (uint32_t i = 0; i < profile->tree.node_count; i++) {
		uint32_t node;

		if (gp_stack_profile_value(profile, i, value) == 0)
			continue;
		node = turn_round(&profile->tree, i, &inverted->tree);
		reserve(inverted);
		for (int m = 0; m < GP_STACK_METRICS; m++)
			inverted->values[node][m] += profile->values[i][m];
	}
	return 0;
}

/* Of measures of launches. */
static void explain_estimates(const struct gp_stack_profile *profile, enum gp_stack_metric measure,
			      FILE *out)
{
	char text[GP_STACK_ESTIMATE_BYTES];

	if (strcmp(gp_stack_metrics[measure].record, "--stacks=all") != 0)
		return;
	if (gp_stack_estimate_text(&profile->estimate, text))
		fprintf(out, "gpuprof: %s; --stacks=all records each stack\n", text);
	else if (profile->is_of_parts && profile->without_stack[measure] > 0)
		fprintf(out,
			"gpuprof: launches without a call stack: --stacks=sample captured some, and the others are not estimated if a large trace is exported in parts; export it whole (--at-once), or record with --stacks=all\n");
}

void gp_stack_profile_explain(const struct gp_stack_profile *profile, enum gp_stack_metric measure,
			      FILE *out)
{
	const struct gp_stack_metric_about *about = &gp_stack_metrics[measure];

	if (profile->totals[measure] == 0 && measure == GP_STACK_METRIC_STALLS)
		fprintf(out,
			"gpuprof: nothing to show: the trace has no samples of warps; record them with gpuprof-run %s PROGRAM\n",
			about->record);
	else if (profile->totals[measure] == 0 && measure >= GP_STACK_METRIC_HOST_TIME)
		fprintf(out,
			"gpuprof: nothing to show: the trace has no Python stack samples; to record them for a Python program, use gpuprof-run %s PROGRAM\n",
			about->record);
	else if (profile->totals[measure] == 0)
		fprintf(out, "gpuprof: nothing to show: the trace has no %s\n", about->word);
	else if (profile->without_stack[measure] == profile->totals[measure] && profile->recorder)
		fprintf(out, "gpuprof: no call stacks for %s in the trace, which %s recorded\n",
			about->word, profile->recorder);
	else if (profile->without_stack[measure] == profile->totals[measure])
		fprintf(out,
			"gpuprof: no call stacks for %s in the trace; record with gpuprof-run %s PROGRAM\n",
			about->word, about->record);
	else
		explain_estimates(profile, measure, out);
	gp_symbols_explain(profile->tree.symbols, out);
}
