#include "report/html/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/array.h"
#include "report/cuda_names.h"
#include "report/html/pack.h"
#include "report/memory_stats.h"

/* A row of the memory's statistics. */
struct account {
	size_t device;
	uint8_t kind;
};

struct accounts {
	struct gp_html_columns columns;
	struct account *list;
	uint32_t count, capacity;
	uint64_t last_ns;
	uint64_t origin_unix_ns;
	int error;
};

/* UINT32_MAX if there is no memory. */
static uint32_t find(struct accounts *accounts, const struct gp_memory_row *row)
{
	for (uint32_t i = 0; i < accounts->count; i++)
		if (accounts->list[i].device == row->device && accounts->list[i].kind == row->kind)
			return i;
	if (gp_array_grow(&accounts->list, &accounts->capacity, accounts->count,
			  sizeof(*accounts->list)) < 0)
		return UINT32_MAX;
	accounts->list[accounts->count] =
		(struct account){.device = row->device, .kind = row->kind};
	return accounts->count++;
}

static void see(void *context, const struct gp_memory_row *row, uint64_t unix_ns)
{
	struct accounts *accounts = context;
	uint32_t number = find(accounts, row);
	uint64_t time_ns =
		unix_ns > accounts->origin_unix_ns ? unix_ns - accounts->origin_unix_ns : 0;

	if (number == UINT32_MAX) {
		accounts->error = -ENOMEM;
		return;
	}
	if (gp_html_columns_at_block(&accounts->columns))
		accounts->last_ns = 0;
	gp_html_columns_add(&accounts->columns,
			    (uint64_t[]){time_ns - accounts->last_ns, number, row->now_bytes});
	accounts->last_ns = time_ns;
}

static void put_accounts(const struct accounts *accounts, const struct gp_device_list *devices,
			 struct gp_json *json)
{
	gp_json_text(json, "[");
	for (uint32_t i = 0; i < accounts->count; i++) {
		const struct account *account = &accounts->list[i];
		const char *kind = account->kind == GP_MEMORY_OF_DEVICE
					   ? "all"
					   : gp_allocation_name(account->kind);

		gp_json_text(json, i > 0 ? ",{\"kind\":" : "{\"kind\":");
		gp_json_string(json, kind, strlen(kind));
		if (account->device < devices->count) {
			gp_json_text(json, ",\"device\":");
			gp_json_unsigned(json, devices->entries[account->device].number);
		}
		gp_json_text(json, "}");
	}
	gp_json_text(json, "]");
}

int gp_html_series(struct gp_model *const *models, size_t model_count, uint64_t origin_unix_ns,
		   FILE *out, struct gp_json *json)
{
	struct accounts accounts = {.origin_unix_ns = origin_unix_ns};
	const struct gp_memory_watcher watcher = {.see = see, .context = &accounts};
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats = {0};
	int result = gp_html_columns_open(&accounts.columns, out, "memory", 3), closed;

	if (result == 0)
		result = gp_device_list_all(&devices, models, model_count);
	if (result == 0)
		result = gp_memory_stats_watch(models, model_count, &devices, &watcher, &stats);
	if (result == 0)
		result = accounts.error;
	put_accounts(&accounts, &devices, json);
	closed = gp_html_columns_close(&accounts.columns);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
	free(accounts.list);
	return result < 0 ? result : closed;
}
