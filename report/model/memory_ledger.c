#include "report/model/memory_ledger.h"

#include <stdlib.h>

#include "gpuprof/record.h"
#include "report/base/array.h"

bool gp_memory_is_of_device(uint8_t kind)
{
	return kind == GP_MEMORY_DEVICE || kind == GP_MEMORY_ASYNC || kind == GP_MEMORY_ARRAY ||
	       kind == GP_MEMORY_PHYSICAL;
}

bool gp_memory_is_of_host(uint8_t kind)
{
	return kind == GP_MEMORY_PINNED || kind == GP_MEMORY_REGISTERED;
}

uint8_t gp_memory_account(uint8_t kind)
{
	return gp_memory_is_of_device(kind) ? GP_MEMORY_OF_DEVICE : kind;
}

void gp_memory_ledger_clear(struct gp_memory_ledger *ledger)
{
	free(ledger->rows);
	*ledger = (struct gp_memory_ledger){0};
}

struct gp_memory_row *gp_memory_ledger_row(const struct gp_memory_ledger *ledger, size_t device,
					   uint8_t kind)
{
	for (uint32_t i = 0; i < ledger->row_count; i++)
		if (ledger->rows[i].device == device && ledger->rows[i].kind == kind)
			return &ledger->rows[i];
	return NULL;
}

static int make_row(struct gp_memory_ledger *ledger, size_t device, uint8_t kind)
{
	int result = 0;

	if (gp_memory_ledger_row(ledger, device, kind))
		return 0;
	result = gp_array_grow(&ledger->rows, &ledger->row_capacity, ledger->row_count,
			       sizeof(*ledger->rows));
	if (result == 0)
		ledger->rows[ledger->row_count++] =
			(struct gp_memory_row){.device = device, .kind = kind};
	return result;
}

int gp_memory_ledger_open(struct gp_memory_ledger *ledger, size_t device, uint8_t kind)
{
	int result = make_row(ledger, device, gp_memory_account(kind));

	return result == 0 ? make_row(ledger, device, kind) : result;
}

static void add_block(struct gp_memory_row *row, uint64_t bytes, uint64_t time)
{
	row->blocks++;
	row->allocations++;
	row->allocated_bytes += bytes;
	row->now_bytes += bytes;
	if (row->now_bytes <= row->peak_bytes)
		return;
	row->peak_bytes = row->now_bytes;
	row->peak_time = time;
	row->peaks++;
}

int gp_memory_ledger_allocate(struct gp_memory_ledger *ledger, size_t device, uint8_t kind,
			      uint64_t bytes, uint64_t time)
{
	int result = gp_memory_ledger_open(ledger, device, kind);

	if (result != 0)
		return result;
	add_block(gp_memory_ledger_row(ledger, device, kind), bytes, time);
	if (gp_memory_is_of_device(kind))
		add_block(gp_memory_ledger_row(ledger, device, GP_MEMORY_OF_DEVICE), bytes, time);
	return 0;
}

static void remove_block(struct gp_memory_row *row, uint64_t bytes, bool is_freed)
{
	if (!row)
		return;
	row->blocks -= row->blocks > 0;
	row->now_bytes -= bytes < row->now_bytes ? bytes : row->now_bytes;
	row->frees += is_freed;
	row->freed_bytes += is_freed ? bytes : 0;
}

void gp_memory_ledger_release(struct gp_memory_ledger *ledger, size_t device, uint8_t kind,
			      uint64_t bytes, bool is_freed)
{
	remove_block(gp_memory_ledger_row(ledger, device, kind), bytes, is_freed);
	if (gp_memory_is_of_device(kind))
		remove_block(gp_memory_ledger_row(ledger, device, GP_MEMORY_OF_DEVICE), bytes,
			     is_freed);
}
