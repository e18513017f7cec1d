#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/trace/cuda_names.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/model/memory_stats.h"

/* A counter: what is allocated on one device, or of the host, by kind. A series per kind that
 * occurs. */
struct account {
	bool is_host;
	uint16_t device_id;
	bool used[GP_MEMORY_KINDS];
	uint64_t now_bytes[GP_MEMORY_KINDS];
};

struct accounts {
	struct account *rows;
	size_t count;
};

static bool belongs(const struct account *account, const struct gp_memory_event *event)
{
	if (gp_memory_is_of_host(event->memory_kind) || account->is_host)
		return account->is_host && gp_memory_is_of_host(event->memory_kind);
	return account->device_id == event->device_id;
}

static struct account *find(struct accounts *accounts, const struct gp_memory_event *event)
{
	struct account *rows;

	for (size_t i = 0; i < accounts->count; i++)
		if (belongs(&accounts->rows[i], event))
			return &accounts->rows[i];
	rows = realloc(accounts->rows, (accounts->count + 1) * sizeof(*rows));
	if (!rows)
		return NULL;
	accounts->rows = rows;
	rows[accounts->count] = (struct account){
		.is_host = gp_memory_is_of_host(event->memory_kind), .device_id = event->device_id};
	return &rows[accounts->count++];
}

static bool is_countable(const struct gp_memory_event *event)
{
	return event->memory_kind > 0 && event->memory_kind < GP_MEMORY_KINDS;
}

/* The series of a counter are fixed by its first event: find them before. */
static bool find_series(const struct gp_model *model, struct accounts *accounts)
{
	for (uint32_t i = 0; i < model->memory_count; i++) {
		struct account *account;

		if (!is_countable(&model->memory[i]))
			continue;
		account = find(accounts, &model->memory[i]);
		if (!account)
			return false;
		account->used[model->memory[i].memory_kind] = true;
	}
	return true;
}

static void write_account(struct gp_chrome *chrome, struct account *account, uint64_t time_ns)
{
	struct gp_json *json = &chrome->json;
	const char *separator = "";
	const struct gp_chrome_gpu *gpu =
		account->is_host ? NULL : gp_chrome_gpu(chrome, account->device_id);
	char name[96];

	if (gpu)
		snprintf(name, sizeof(name), "GPU %u memory%s%s", gpu->number,
			 *chrome->owner ? ", " : "", chrome->owner);
	else
		snprintf(name, sizeof(name), "Host memory");
	gp_chrome_open_counter(chrome, name, gpu ? gpu->pid : chrome->host_pid, time_ns);
	for (uint8_t kind = 1; kind < GP_MEMORY_KINDS; kind++) {
		const char *word = gp_allocation_name(kind);

		if (!account->used[kind])
			continue;
		gp_json_text(json, separator);
		gp_json_string(json, word, strlen(word));
		gp_json_text(json, ":");
		gp_chrome_put_number(json, account->now_bytes[kind]);
		separator = ",";
	}
	gp_json_text(json, "}}");
}

/* Where the beginning of the trace is left out, a counter begins with what was allocated by then.
 */
static void begin_at(struct gp_chrome *chrome, struct accounts *accounts, uint64_t time_ns)
{
	for (size_t i = 0; i < accounts->count; i++)
		write_account(chrome, &accounts->rows[i], time_ns);
}

static void write_accounts(struct gp_chrome *chrome, struct accounts *accounts)
{
	const struct gp_model *model = chrome->model;
	uint64_t first_ns = gp_chrome_first_shown(chrome);
	bool has_begun = first_ns == 0 || chrome->is_later;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		struct account *account;

		if (!is_countable(event))
			continue;
		if (event->time_ns >= chrome->filter.to_ns)
			break;
		if (!has_begun && gp_chrome_is_moment_shown(chrome, event->time_ns)) {
			begin_at(chrome, accounts, first_ns);
			has_begun = true;
		}
		account = find(accounts, event);
		gp_memory_apply(&account->now_bytes[event->memory_kind], event);
		if (has_begun && gp_chrome_is_moment_shown(chrome, event->time_ns))
			write_account(chrome, account, event->time_ns);
	}
	if (!has_begun)
		begin_at(chrome, accounts, first_ns);
}

static void write_usages(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	char name[64];

	for (uint32_t i = 0; i < model->usage_count; i++) {
		const struct gp_usage *usage = &model->usages[i];
		const struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, usage->device_id);

		if (!gp_chrome_is_moment_shown(chrome, usage->time_ns))
			continue;
		snprintf(name, sizeof(name), "GPU %u memory in use by all processes", gpu->number);
		gp_chrome_open_counter(chrome, name, gpu->pid, usage->time_ns);
		gp_json_text(&chrome->json, "\"bytes\":");
		gp_chrome_put_number(&chrome->json, usage->free_bytes < usage->total_bytes
							    ? usage->total_bytes - usage->free_bytes
							    : 0);
		gp_json_text(&chrome->json, "}}");
	}
}

static void write_pools(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	char name[96], handle[24];

	for (uint32_t i = 0; i < model->pool_count; i++) {
		const struct gp_record_pool *pool = &model->pools[i];
		const struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, pool->device_id);

		if (!gp_chrome_is_moment_shown(chrome, pool->time_ns))
			continue;
		snprintf(handle, sizeof(handle), " 0x%llx", (unsigned long long)pool->address);
		snprintf(name, sizeof(name), "%s%sGPU %u pool%s", chrome->owner,
			 *chrome->owner ? ": " : "", gpu->number, pool->address ? handle : "");
		gp_chrome_open_counter(chrome, name, gpu->pid, pool->time_ns);
		gp_json_text(&chrome->json, "\"reserved\":");
		gp_chrome_put_number(&chrome->json, pool->reserved_bytes);
		gp_chrome_put_field(&chrome->json, "used", pool->used_bytes);
		gp_json_text(&chrome->json, "}}");
	}
}

void gp_chrome_write_memory(struct gp_chrome *chrome)
{
	struct accounts accounts = {0};

	if (find_series(chrome->model, &accounts))
		write_accounts(chrome, &accounts);
	else
		chrome->error = -ENOMEM;
	write_usages(chrome);
	write_pools(chrome);
	free(accounts.rows);
}
