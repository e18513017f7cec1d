#include "report/base/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

static bool has_key(const void *rows, uint32_t row, const void *key)
{
	const struct gp_tally_row *found = (const struct gp_tally_row *)rows + row;

	return memcmp(found->key, key, sizeof(found->key)) == 0;
}

static void free_series(struct gp_tally_row *row)
{
	for (size_t i = 0; i < GP_TALLY_SERIES; i++)
		gp_spill_free(row->series[i].values);
}

void gp_tally_free(struct gp_tally *tally)
{
	gp_hash_free(&tally->index);
	for (uint32_t i = 0; i < tally->count; i++)
		free_series(&tally->rows[i]);
	free_series(&tally->spare);
	free(tally->rows);
	*tally = (struct gp_tally){0};
}

static void fail(struct gp_tally *tally, int error)
{
	if (tally->error == 0)
		tally->error = error;
}

static struct gp_tally_row *append(struct gp_tally *tally, const uint64_t *key, uint32_t hash)
{
	int result =
		gp_array_grow(&tally->rows, &tally->capacity, tally->count, sizeof(*tally->rows));

	if (result == 0)
		result = gp_hash_add(&tally->index, hash, tally->count);
	if (result < 0) {
		fail(tally, result);
		return &tally->spare;
	}
	tally->last = tally->count++;
	memset(&tally->rows[tally->last], 0, sizeof(*tally->rows));
	memcpy(tally->rows[tally->last].key, key, sizeof(tally->spare.key));
	return &tally->rows[tally->last];
}

struct gp_tally_row *gp_tally_find(struct gp_tally *tally, const uint64_t key[GP_TALLY_KEYS])
{
	uint32_t hash, row;

	if (tally->count > 0 && has_key(tally->rows, tally->last, key))
		return &tally->rows[tally->last];
	hash = gp_hash_bytes(key, sizeof(tally->spare.key));
	row = gp_hash_find(&tally->index, hash, has_key, tally->rows, key);
	if (row == GP_HASH_NONE)
		return append(tally, key, hash);
	tally->last = row;
	return &tally->rows[row];
}

void gp_tally_value(struct gp_tally *tally, struct gp_tally_row *row, size_t series, uint64_t value)
{
	struct gp_tally_series *s = &row->series[series];
	int result = gp_array_grow_spill(&s->values, &s->capacity, s->count, sizeof(*s->values));

	if (result < 0) {
		fail(tally, result);
		return;
	}
	s->values[s->count++] = value;
	s->total += value;
}

void gp_tally_add(struct gp_tally_row *row, size_t series, uint64_t value)
{
	row->series[series].total += value;
}

double gp_tally_total(const struct gp_tally *tally, size_t series)
{
	double total = 0;

	for (uint32_t i = 0; i < tally->count; i++)
		total += (double)tally->rows[i].series[series].total;
	return total;
}
