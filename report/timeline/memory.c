/* Memory over time: allocated, in use by all processes, held by pools. */
#include <stdio.h>
#include <stdlib.h>

#include "report/model/memory_stats.h"
#include "report/timeline/walk.h"
#include "report/trace/cuda_names.h"

/* What is allocated on one device, or of the host, by kind: a series for each kind that occurs. */
struct account {
	struct gp_timeline_counter counter;
	uint32_t series_of[GP_MEMORY_KINDS]; /* counted from 1; 0 = it does not occur */
};

struct accounts {
	struct account *rows;
	size_t count;
};

static uint32_t device_of(const struct gp_memory_event *event)
{
	return gp_memory_is_of_host(event->memory_kind) ? GP_NONE : event->device_id;
}

static struct account *find(struct accounts *accounts, const struct gp_memory_event *event)
{
	struct account *rows;

	for (size_t i = 0; i < accounts->count; i++)
		if (accounts->rows[i].counter.device_id == device_of(event))
			return &accounts->rows[i];
	rows = realloc(accounts->rows, (accounts->count + 1) * sizeof(*rows));
	accounts->rows = rows;
	rows[accounts->count] = (struct account){.counter = {.kind = GP_TIMELINE_MEMORY,
							     .device_id = device_of(event),
							     .name = "memory"}};
	return &rows[accounts->count++];
}

static bool is_countable(const struct gp_memory_event *event)
{
	return event->memory_kind > 0 && event->memory_kind < GP_MEMORY_KINDS;
}

/* In the order of the kinds. */
static void number_series(struct account *account)
{
	struct gp_timeline_counter *counter = &account->counter;

	for (uint8_t kind = 1; kind < GP_MEMORY_KINDS; kind++)
		if (account->series_of[kind] != 0) {
			counter->series[counter->series_count].name = gp_allocation_name(kind);
			account->series_of[kind] = ++counter->series_count;
		}
}

/* The series of a counter are fixed by its first event: find them before. */
static bool find_series(const struct gp_model *model, struct accounts *accounts)
{
	for (uint32_t i = 0; i < model->memory_count; i++) {
		struct account *account;

		if (!is_countable(&model->memory[i]))
			continue;
		account = find(accounts, &model->memory[i]);
		account->series_of[model->memory[i].memory_kind] = 1;
	}
	for (size_t i = 0; i < accounts->count; i++)
		number_series(&accounts->rows[i]);
	return true;
}

static void tell(struct gp_timeline *t, struct account *account, uint64_t time_ns, uint32_t changed)
{
	account->counter.time_ns = time_ns;
	account->counter.changed = changed;
	gp_walk_counter(t, &account->counter);
}

/* In a window that leaves out the beginning, a counter begins with the memory allocated by then. */
static void begin_at(struct gp_timeline *t, struct accounts *accounts, uint64_t time_ns)
{
	for (size_t i = 0; i < accounts->count; i++)
		tell(t, &accounts->rows[i], time_ns, GP_NONE);
}

static void walk_allocations(struct gp_timeline *t, struct accounts *accounts)
{
	const struct gp_model *model = t->model;
	uint64_t first_ns = gp_walk_first_shown(t);
	bool has_begun = first_ns == 0 || t->is_later;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		struct account *account;
		uint32_t series;

		if (!is_countable(event))
			continue;
		if (event->time_ns >= t->filter.to_ns)
			break;
		if (!has_begun && gp_timeline_shows_moment(t, event->time_ns)) {
			begin_at(t, accounts, first_ns);
			has_begun = true;
		}
		account = find(accounts, event);
		series = account->series_of[event->memory_kind] - 1;
		gp_memory_apply(&account->counter.series[series].value, event);
		if (has_begun && gp_timeline_shows_moment(t, event->time_ns))
			tell(t, account, event->time_ns, series);
	}
	if (!has_begun)
		begin_at(t, accounts, first_ns);
}

static void walk_usages(struct gp_timeline *t)
{
	struct gp_timeline_counter counter = {.kind = GP_TIMELINE_IN_USE,
					      .name = "memory in use by all processes",
					      .series = {{.name = "bytes"}},
					      .series_count = 1,
					      .changed = GP_NONE};

	for (uint32_t i = 0; i < t->model->usage_count; i++) {
		const struct gp_usage *usage = &t->model->usages[i];

		if (!gp_timeline_shows_moment(t, usage->time_ns))
			continue;
		counter.time_ns = usage->time_ns;
		counter.device_id = usage->device_id;
		counter.series[0].value = usage->free_bytes < usage->total_bytes
						  ? usage->total_bytes - usage->free_bytes
						  : 0;
		gp_walk_counter(t, &counter);
	}
}

static void walk_pools(struct gp_timeline *t)
{
	char name[32];
	struct gp_timeline_counter counter = {.kind = GP_TIMELINE_POOL,
					      .name = name,
					      .series = {{.name = "reserved"}, {.name = "used"}},
					      .series_count = 2,
					      .changed = GP_NONE};

	for (uint32_t i = 0; i < t->model->pool_count; i++) {
		const struct gp_record_pool *pool = &t->model->pools[i];

		if (!gp_timeline_shows_moment(t, pool->time_ns))
			continue;
		snprintf(name, sizeof(name), pool->address ? "pool 0x%llx" : "pool",
			 (unsigned long long)pool->address);
		counter.time_ns = pool->time_ns;
		counter.device_id = pool->device_id;
		counter.series[0].value = pool->reserved_bytes;
		counter.series[1].value = pool->used_bytes;
		gp_walk_counter(t, &counter);
	}
}

static void walk_events(struct gp_timeline *t)
{
	for (uint32_t i = 0; i < t->model->memory_count && t->error == 0; i++) {
		struct gp_timeline_event event = {.kind = GP_TIMELINE_ALLOCATION,
						  .is_instant = true,
						  .start_ns = t->model->memory[i].time_ns,
						  .of.memory = &t->model->memory[i]};

		if (gp_walk_wants(t, &event))
			gp_walk_event(t, &event);
	}
}

void gp_walk_memory(struct gp_timeline *t)
{
	struct accounts accounts = {0};

	if (t->slices_only)
		return;
	if (t->is_table)
		walk_events(t);
	else {
		find_series(t->model, &accounts);
		walk_allocations(t, &accounts);
	}
	walk_usages(t);
	walk_pools(t);
	free(accounts.rows);
}
