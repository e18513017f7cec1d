#include "report/analysis/memory/memory_sites.h"

#include <stdlib.h>

#include "report/analysis/idle/call_cause.h"
#include "report/base/array.h"
#include "report/analysis/device/device_work.h"
#include "report/base/kway_merge.h"
#include "report/model/recorded.h"
#include "report/base/tally.h"

/* One process: where we are in its events. */
struct process {
	const struct gp_model *model;
	uint32_t next;
	uint32_t *last_of_threads; /* the last event of each thread, or GP_NONE */
	struct gp_device_work work;
};

struct pass {
	struct gp_memory_sites *found;
	struct gp_device_list *devices;
	struct process *processes;
	size_t process_count;
	struct gp_kway_merge merge;
	struct gp_tally rows, calls; /* only their keys are used: numbers of rows */
	enum gp_memory_wanted wanted;
	const struct gp_memory_watcher *watcher; /* NULL = none */
};

/* ---- rows ---- */

/* The number of the tally's row with that key; it is new if it equals the count of rows so far. */
static void find_number(struct gp_tally *tally, const uint64_t key[GP_TALLY_KEYS], uint32_t *number)
{
	struct gp_tally_row *row = gp_tally_find(tally, key);

	*number = (uint32_t)(row - tally->rows);
}

static void append_row(struct gp_memory_sites *found, uint32_t site, size_t device, uint8_t kind)
{
	gp_memory_ledger_open(&found->ledger, device, kind);
	gp_array_grow(&found->rows, &found->row_capacity, found->row_count, sizeof(*found->rows));
	found->rows[found->row_count++] = (struct gp_memory_site){
		.site = site,
		.device = device,
		.kind = kind,
		.account = (uint32_t)(gp_memory_ledger_row(&found->ledger, device,
							   gp_memory_account(kind)) -
				      found->ledger.rows),
	};
}

static void find_device(struct pass *pass, const struct gp_model *model,
			const struct gp_memory_event *event, size_t *device)
{
	*device = SIZE_MAX;
	if (gp_memory_is_of_host(event->memory_kind))
		return;
	*device = gp_device_list_find(pass->devices, model, event->device_id);
}

/* The row of an allocation. */
static void find_row(struct pass *pass, const struct gp_model *model,
		     const struct gp_memory_event *event, struct gp_memory_site **row)
{
	struct gp_memory_sites *found = pass->found;
	uint32_t site = gp_call_sites_find(found->sites, model, &model->calls[event->call]);
	uint32_t number;
	size_t device;

	find_device(pass, model, event, &device);
	find_number(&pass->rows, (const uint64_t[GP_TALLY_KEYS]){site, device, event->memory_kind},
		    &number);
	if (number == found->row_count)
		append_row(found, site, device, event->memory_kind);
	*row = &found->rows[number];
}

/* ---- effects of events ---- */

/*
 * A row is updated only when it changes: until then, it is as it was at the account's last peak,
 * unless that was seen already.
 */
static void see_peak(const struct gp_memory_sites *found, struct gp_memory_site *row)
{
	const struct gp_memory_row *account = &found->ledger.rows[row->account];

	if (row->peaks_seen == account->peaks)
		return;
	row->peaks_seen = account->peaks;
	row->peak_blocks = row->now_blocks;
	row->peak_bytes = row->now_bytes;
}

static void allocate(struct pass *pass, const struct gp_model *model,
		     const struct gp_memory_event *event, struct gp_memory_site *row)
{
	see_peak(pass->found, row);
	row->allocations++;
	row->allocated_bytes += event->bytes;
	row->allocate_ns += gp_call_without_context_ns(model, event->call);
	row->left_blocks += event->other == GP_NONE;
	row->left_bytes += event->other == GP_NONE ? event->bytes : 0;
	row->now_bytes += event->bytes;
	if (++row->now_blocks > row->blocks_at_once)
		row->blocks_at_once = row->now_blocks;
	row->now_to_free += event->other != GP_NONE;
	if (row->now_to_free > row->freed_at_once)
		row->freed_at_once = row->now_to_free;
	gp_memory_ledger_allocate(&pass->found->ledger, row->device, row->kind, event->bytes,
				  model->base_unix_ns + event->time_ns);
}

/* A block is no longer there. */
static void take_off(struct pass *pass, struct gp_memory_site *row, uint64_t bytes)
{
	see_peak(pass->found, row);
	row->now_blocks--;
	row->now_bytes -= bytes;
	gp_memory_ledger_release(&pass->found->ledger, row->device, row->kind, bytes, true);
}

/* A free is of the row of its allocation. */
static void release(struct pass *pass, const struct process *process,
		    const struct gp_memory_event *event, struct gp_memory_site *row, bool at_once)
{
	const struct gp_model *model = process->model;
	uint64_t born_ns = model->memory[event->other].time_ns;

	take_off(pass, row, event->bytes);
	row->now_to_free--;
	if (event->call == GP_NONE) {
		row->ended_with_context++;
		return;
	}
	row->frees++;
	row->free_ns += model->calls[event->call].duration_ns;
	row->lived_ns += event->time_ns > born_ns ? event->time_ns - born_ns : 0;
	row->temporary += at_once;
}

/* Note the event as its thread's last one; whether the one before was its allocation. */
static bool follows_its_allocation(struct process *process, uint32_t index)
{
	const struct gp_model *model = process->model;
	const struct gp_memory_event *event = &model->memory[index];
	const struct gp_thread *thread = NULL;
	uint32_t *last, before;

	if (event->call != GP_NONE)
		thread = gp_model_thread(model, model->calls[event->call].thread_id);
	if (!thread)
		return false;
	last = &process->last_of_threads[thread - model->threads];
	before = *last;
	*last = index;
	return event->op == GP_MEMORY_FREE && before != GP_NONE && before == event->other;
}

static void count_call(struct pass *pass, struct process *process, const struct gp_call *call)
{
	struct gp_memory_sites *found = pass->found;
	uint32_t site = gp_call_sites_find(found->sites, process->model, call), number;
	uint64_t wait_ns = gp_device_work_wait_ns(&process->work, call);
	struct gp_memory_calls *row;

	find_number(&pass->calls, (const uint64_t[GP_TALLY_KEYS]){site, call->api}, &number);
	if (number == found->call_count) {
		gp_array_grow(&found->calls, &found->call_capacity, found->call_count,
			      sizeof(*found->calls));
		found->calls[found->call_count++] = (struct gp_memory_calls){
			.site = site, .api = call->api, .api_model = process->model};
	}
	row = &found->calls[number];
	row->calls++;
	row->ns += call->duration_ns;
	row->waits += wait_ns > 0;
	row->waited_ns += wait_ns;
	if (wait_ns > row->longest_ns)
		row->longest_ns = wait_ns;
}

static void tell(const struct pass *pass, const struct process *process,
		 const struct gp_memory_site *row, uint32_t allocation, bool is_free,
		 uint64_t unix_ns)
{
	const struct gp_memory_change change = {.row = row,
						.model = (size_t)(process - pass->processes),
						.allocation = allocation,
						.bytes = process->model->memory[allocation].bytes,
						.is_free = is_free,
						.unix_ns = unix_ns};

	if (pass->watcher)
		pass->watcher->see(pass->watcher->context, &change);
}

/* An allocation of no bytes succeeds with no address: there is nothing to free. */
static bool is_wanted(const struct pass *pass, const struct gp_memory_event *event)
{
	if (event->address == 0)
		return false;
	return pass->wanted == GP_MEMORY_ALL ||
	       (event->op == GP_MEMORY_ALLOC && event->other == GP_NONE);
}

static void take_event(struct pass *pass, struct process *process, uint32_t index)
{
	const struct gp_model *model = process->model;
	const struct gp_memory_event *event = &model->memory[index];
	struct gp_memory_site *row;
	bool at_once = follows_its_allocation(process, index);

	if (!is_wanted(pass, event))
		return;
	if (pass->wanted == GP_MEMORY_ALL && event->call != GP_NONE)
		count_call(pass, process, &model->calls[event->call]);
	if ((event->op == GP_MEMORY_FREE && event->other == GP_NONE))
		return;
	find_row(pass, model, event->op == GP_MEMORY_ALLOC ? event : &model->memory[event->other],
		 &row);
	if (event->op == GP_MEMORY_ALLOC)
		allocate(pass, model, event, row);
	else
		release(pass, process, event, row, at_once);
	tell(pass, process, row, event->op == GP_MEMORY_ALLOC ? index : event->other,
	     event->op == GP_MEMORY_FREE, model->base_unix_ns + event->time_ns);
}

/*
 * The blocks that a process did not free are gone with it: other processes' peaks do not include
 * them.
 */
static void end_process(struct pass *pass, const struct process *process, uint64_t unix_ns)
{
	const struct gp_model *model = process->model;
	struct gp_memory_site *row;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->other != GP_NONE || event->address == 0)
			continue;
		find_row(pass, model, event, &row);
		take_off(pass, row, event->bytes);
		tell(pass, process, row, i, true, unix_ns);
	}
}

/* After a block was allocated. */
static bool has_paused(const struct gp_model *model)
{
	for (uint32_t gate = 0; gate < model->gate_count && model->memory_count > 0; gate++)
		if (!model->gates[gate].on && model->gates[gate].time_ns > model->memory[0].time_ns)
			return true;
	return false;
}

const char *gp_memory_sites_doubt(struct gp_model *const *models, size_t model_count)
{
	const char *doubt = NULL;

	for (size_t i = 0; i < model_count; i++) {
		if (has_paused(models[i]))
			return "while recording was paused";
		if (gp_recorded_has_lost(models[i]))
			doubt = "by calls whose records are lost";
		else if (!doubt && !gp_recorded_is_whole(models[i]))
			doubt = "";
	}
	return doubt;
}

/* Of one call at least that allocates. */
static bool has_stacks(const struct gp_model *model)
{
	bool allocates = false;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC)
			continue;
		if (model->calls[event->call].stack != GP_NONE)
			return true;
		allocates = true;
	}
	return !allocates;
}

bool gp_memory_sites_knows_owners(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (!has_stacks(models[i]))
			return false;
	return true;
}

bool gp_memory_sites_knows_leaks(struct gp_model *const *models, size_t model_count)
{
	return !gp_memory_sites_doubt(models, model_count) &&
	       gp_memory_sites_knows_owners(models, model_count);
}

/* ---- the pass ---- */

/* When a process ended, which is not before its last event. */
static uint64_t end_of(const struct gp_model *model)
{
	uint64_t end_ns = gp_model_end_ns(model);
	uint64_t last_ns = model->memory[model->memory_count - 1].time_ns;

	return end_ns > last_ns ? end_ns : last_ns;
}

/* Its next event, or after the last one its end. */
static void put_next(struct pass *pass, size_t process)
{
	const struct process *p = &pass->processes[process];
	const struct gp_model *model = p->model;
	uint32_t count = model->memory_count;

	if (p->next < count)
		gp_kway_merge_put(&pass->merge, process,
				  model->base_unix_ns + model->memory[p->next].time_ns);
	else if (count > 0 && p->next == count && !model->losses.live)
		gp_kway_merge_put(&pass->merge, process, model->base_unix_ns + end_of(model));
}

/* An end after which nothing comes changes nothing. */
static void take_next(struct pass *pass, struct process *process, uint64_t unix_ns)
{
	uint32_t index = process->next++;

	if (index < process->model->memory_count) {
		take_event(pass, process, index);
		return;
	}
	if (pass->merge.count > 0)
		end_process(pass, process, unix_ns);
}

static void open_process(struct process *process, const struct gp_model *model,
			 enum gp_memory_wanted wanted)
{
	process->model = model;
	process->last_of_threads =
		malloc(((size_t)model->thread_count + 1) * sizeof(*process->last_of_threads));
	for (uint32_t i = 0; i < model->thread_count; i++)
		process->last_of_threads[i] = GP_NONE;
	if (wanted == GP_MEMORY_ALL)
		gp_device_work_open(&process->work, model);
}

static void open_pass(struct pass *pass, struct gp_model *const *models, size_t model_count)
{
	gp_kway_merge_open(&pass->merge, model_count);
	pass->found->sites = gp_call_sites_new();
	pass->processes = calloc(model_count + 1, sizeof(*pass->processes));
	for (size_t i = 0; i < model_count; i++) {
		open_process(&pass->processes[i], models[i], pass->wanted);
		pass->process_count++;
		put_next(pass, i);
	}
}

static void close_pass(struct pass *pass)
{
	for (size_t i = 0; i < pass->process_count; i++) {
		gp_device_work_close(&pass->processes[i].work);
		free(pass->processes[i].last_of_threads);
	}
	free(pass->processes);
	gp_kway_merge_close(&pass->merge);
	gp_tally_free(&pass->rows);
	gp_tally_free(&pass->calls);
}

static int run_pass(struct pass *pass, struct gp_model *const *models, size_t model_count)
{
	struct gp_memory_sites *found = pass->found;
	struct gp_kway_merge_head head;

	*found = (struct gp_memory_sites){0};
	open_pass(pass, models, model_count);
	while (gp_kway_merge_take(&pass->merge, &head)) {
		take_next(pass, &pass->processes[head.sequence], head.number);
		put_next(pass, head.sequence);
	}
	for (uint32_t i = 0; i < found->row_count; i++)
		see_peak(found, &found->rows[i]);
	close_pass(pass);
	return 0;
}

int gp_memory_sites_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, enum gp_memory_wanted wanted,
		       struct gp_memory_sites *found)
{
	struct pass pass = {.found = found, .devices = devices, .wanted = wanted};

	return run_pass(&pass, models, model_count);
}

void gp_memory_sites_watch(struct gp_model *const *models, size_t model_count,
			   struct gp_device_list *devices, const struct gp_memory_watcher *watcher,
			   struct gp_memory_sites *found)
{
	struct pass pass = {
		.found = found, .devices = devices, .wanted = GP_MEMORY_ALL, .watcher = watcher};

	run_pass(&pass, models, model_count);
}

void gp_memory_sites_free(struct gp_memory_sites *found)
{
	gp_call_sites_free(found->sites);
	gp_memory_ledger_clear(&found->ledger);
	free(found->rows);
	free(found->calls);
	*found = (struct gp_memory_sites){0};
}

bool gp_memory_site_is_leak(const struct gp_memory_sites *found, const struct gp_memory_site *row)
{
	return row->kind != GP_MEMORY_IPC &&
	       gp_call_sites_at(found->sites, row->site).owner[0] == '\0';
}
