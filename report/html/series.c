#include "report/html/series.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/html/pack.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/model/memory_stats.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/tally.h"

/* A kind of memory, of a device or of the host. */
struct account {
	size_t device;
	uint8_t kind;
};

struct series {
	struct gp_html_columns columns;
	struct account *accounts;
	uint32_t account_count, account_capacity;
	struct gp_tally holders; /* by account, node and site: only the keys are used */
	uint32_t site_count;     /* the highest site number, plus 1 */
	uint32_t **nodes;        /* of the allocations of each model, parallel to its memory */
	size_t model_count;
	uint64_t shortest_ns; /* blocks with a shorter lifetime are left out; */
	uint64_t ties, ties_kept,
		tie;       /* of those with this lifetime, a regular selection is kept */
	uint64_t left_out; /* number of left-out blocks */
	uint64_t last_ns, origin_unix_ns;
};

enum holder_key { ACCOUNT, NODE, SITE };

#define LEFT_OUT UINT32_MAX /* in place of a node */

/* ---- choice of blocks ---- */

/* The lifetime of a block; if it was never freed, the longest possible time. */
static uint64_t lifetime_of(const struct gp_model *model, const struct gp_memory_event *event)
{
	return event->other == GP_NONE ? UINT64_MAX
				       : model->memory[event->other].time_ns - event->time_ns;
}

static bool is_block(const struct gp_memory_event *event)
{
	return event->op == GP_MEMORY_ALLOC && event->address != 0;
}

static uint64_t count_changes(struct gp_model *const *models, size_t model_count)
{
	uint64_t count = 0;

	for (size_t i = 0; i < model_count; i++)
		count += models[i]->memory_count;
	return count;
}

static uint64_t copy_lifetimes(struct gp_model *const *models, size_t model_count,
			       uint64_t *lifetimes_ns)
{
	uint64_t count = 0;

	for (size_t i = 0; i < model_count; i++)
		for (uint32_t e = 0; e < models[i]->memory_count; e++)
			if (is_block(&models[i]->memory[e]))
				lifetimes_ns[count++] =
					lifetime_of(models[i], &models[i]->memory[e]);
	return count;
}

/*
 * If there are more changes than the limit, keep the longest-lived blocks, as many as have that many
 * allocations and frees.
 */
static void choose_blocks(struct series *series, struct gp_model *const *models, size_t model_count,
			  uint64_t limit)
{
	uint64_t changes = count_changes(models, model_count), kept = limit / 2, count;
	uint64_t *lifetimes_ns;

	if (limit == 0 || changes <= limit)
		return;
	lifetimes_ns = gp_spill_take(changes * sizeof(*lifetimes_ns));
	count = copy_lifetimes(models, model_count, lifetimes_ns);
	if (count > kept) {
		series->shortest_ns = gp_stats_select(lifetimes_ns, count, count - kept - 1);
		series->ties_kept = kept;
	}
	for (uint64_t i = 0; count > kept && i < count; i++) {
		series->ties += lifetimes_ns[i] == series->shortest_ns;
		series->ties_kept -= lifetimes_ns[i] > series->shortest_ns;
	}
	gp_spill_free(lifetimes_ns);
}

/*
 * Call it once for each block: of those with the shortest kept lifetime, the kept ones are spread
 * over the recording.
 */
static bool is_left_out(struct series *series, const struct gp_model *model,
			const struct gp_memory_event *event)
{
	uint64_t lifetime_ns = is_block(event) ? lifetime_of(model, event) : UINT64_MAX;
	bool is_short = lifetime_ns < series->shortest_ns;

	if (is_block(event) && lifetime_ns == series->shortest_ns) {
		series->tie += series->ties_kept;
		is_short = series->tie < series->ties;
		series->tie -= is_short ? 0 : series->ties;
	}
	series->left_out += is_short;
	return is_short;
}

/* ---- the stacks ---- */

static void find_nodes(struct series *series, const struct gp_model *model,
		       struct gp_stack_profile *profile)
{
	uint32_t *nodes =
		gp_spill_take(((size_t)model->memory_count + 1) * sizeof(*series->nodes[0]));

	gp_call_tree_use(&profile->tree, model);
	series->nodes[series->model_count++] = nodes;
	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (is_left_out(series, model, event))
			nodes[i] = LEFT_OUT;
		else if (event->op == GP_MEMORY_ALLOC)
			nodes[i] = gp_stack_profile_call(
				profile, model,
				event->call == GP_NONE ? NULL : &model->calls[event->call]);
	}
}

static void find_all_nodes(struct series *series, struct gp_model *const *models,
			   size_t model_count, struct gp_stack_profile *profile)
{
	series->nodes = calloc(model_count + 1, sizeof(uint32_t *));
	for (size_t i = 0; i < model_count; i++)
		find_nodes(series, models[i], profile);
	gp_call_tree_use(&profile->tree, NULL);
}

/* ---- the rows ---- */

/* UINT32_MAX: no memory. */
static uint32_t find_account(struct series *series, const struct gp_memory_site *row)
{
	for (uint32_t i = 0; i < series->account_count; i++)
		if (series->accounts[i].device == row->device &&
		    series->accounts[i].kind == row->kind)
			return i;
	gp_array_grow(&series->accounts, &series->account_capacity, series->account_count,
		      sizeof(*series->accounts));
	series->accounts[series->account_count] =
		(struct account){.device = row->device, .kind = row->kind};
	return series->account_count++;
}

static void see(void *context, const struct gp_memory_change *change)
{
	struct series *series = context;
	uint32_t node = series->nodes[change->model][change->allocation];
	uint32_t account = find_account(series, change->row);
	const uint64_t key[GP_TALLY_KEYS] = {
		[ACCOUNT] = account, [NODE] = node, [SITE] = change->row->site};
	uint64_t holder, time_ns = change->unix_ns > series->origin_unix_ns
					   ? change->unix_ns - series->origin_unix_ns
					   : 0;

	if (node == LEFT_OUT)
		return;
	holder = (uint64_t)(gp_tally_find(&series->holders, key) - series->holders.rows);
	if (change->row->site >= series->site_count)
		series->site_count = change->row->site + 1;
	if (gp_html_columns_at_block(&series->columns))
		series->last_ns = 0;
	gp_html_columns_add(&series->columns,
			    (uint64_t[]){time_ns - series->last_ns, holder * 2 + change->is_free,
					 change->bytes});
	series->last_ns = time_ns;
}

/* ---- meanings of the numbers ---- */

static void put_accounts(const struct series *series, const struct gp_device_list *devices,
			 struct gp_json *json)
{
	for (uint32_t i = 0; i < series->account_count; i++) {
		const struct account *account = &series->accounts[i];

		gp_json_string_after(json, i > 0 ? ",{\"kind\":" : "{\"kind\":",
				     gp_allocation_name(account->kind));
		if (account->device < devices->count) {
			gp_json_text(json, ",\"device\":");
			gp_json_unsigned(json, devices->entries[account->device].number);
		}
		gp_json_text(json, gp_memory_is_of_device(account->kind) ? ",\"own\":true}" : "}");
	}
}

static void put_sites(const struct series *series, const struct gp_memory_sites *found,
		      struct gp_json *json)
{
	for (uint32_t i = 0; i < series->site_count; i++) {
		struct gp_call_site site = gp_call_sites_at(found->sites, i);

		gp_json_string_after(json, i > 0 ? ",\n[" : "[", site.place);
		gp_json_string_after(json, ",", site.callers);
		gp_json_string_after(json, ",", site.owner);
		gp_json_text(json, "]");
	}
}

static void put_holders(const struct series *series, struct gp_json *json)
{
	for (uint32_t i = 0; i < series->holders.count; i++) {
		const uint64_t *key = series->holders.rows[i].key;

		gp_json_text(json, i > 0 ? ",[" : "[");
		gp_json_unsigned(json, key[ACCOUNT]);
		gp_json_text(json, ",");
		gp_json_unsigned(json, key[NODE]);
		gp_json_text(json, ",");
		gp_json_unsigned(json, key[SITE]);
		gp_json_text(json, "]");
	}
}

static void put_names(const struct series *series, const struct gp_memory_sites *found,
		      const struct gp_device_list *devices, struct gp_json *json)
{
	gp_json_text(json, "{\"changes\":");
	gp_json_unsigned(json, series->columns.rows);
	gp_json_text(json, ",\"leftOut\":");
	gp_json_unsigned(json, series->left_out);
	if (series->left_out > 0 && series->shortest_ns < UINT64_MAX) {
		gp_json_text(json, ",\"least\":"); /* left-out blocks have shorter lifetimes */
		gp_json_unsigned(json, series->shortest_ns + 1);
	}
	gp_json_text(json, ",\"accounts\":[");
	put_accounts(series, devices, json);
	gp_json_text(json, "],\n\"sites\":[");
	put_sites(series, found, json);
	gp_json_text(json, "],\n\"holders\":[");
	put_holders(series, json);
	gp_json_text(json, "]}");
}

static void close_series(struct series *series)
{
	for (size_t i = 0; i < series->model_count; i++)
		gp_spill_free(series->nodes[i]);
	free(series->nodes);
	free(series->accounts);
	gp_tally_free(&series->holders);
}

int gp_html_series(struct gp_model *const *models, size_t model_count, uint64_t origin_unix_ns,
		   uint64_t limit, struct gp_stack_profile *profile, FILE *out,
		   struct gp_json *json)
{
	struct series series = {.origin_unix_ns = origin_unix_ns};
	const struct gp_memory_watcher watcher = {.see = see, .context = &series};
	struct gp_memory_sites found = {0};
	struct gp_device_list devices = {0};

	gp_html_columns_open(&series.columns, out, "memory", 3);
	gp_device_list_all(&devices, models, model_count);
	choose_blocks(&series, models, model_count, limit);
	find_all_nodes(&series, models, model_count, profile);
	gp_memory_sites_watch(models, model_count, &devices, &watcher, &found);
	put_names(&series, &found, &devices, json);
	gp_html_columns_close(&series.columns);
	close_series(&series);
	gp_memory_sites_free(&found);
	gp_device_list_free(&devices);
	return 0;
}
