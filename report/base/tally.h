/*
 * tally: counts under keys of a few numbers: one row per key.
 *
 * Every value of a series is kept, so that medians and deviations are exact. The caller gives keys,
 * sums and series their meaning.
 */
#ifndef REPORT_BASE_TALLY_H
#define REPORT_BASE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "report/base/hash_map.h"

#define GP_TALLY_KEYS   6
#define GP_TALLY_SUMS   10
#define GP_TALLY_SERIES 4

struct gp_tally_series {
	uint64_t *values;
	uint32_t count, capacity;
	uint64_t total; /* modulo 2^64 */
};

struct gp_tally_row {
	uint64_t key[GP_TALLY_KEYS];
	uint64_t count;
	uint64_t sums[GP_TALLY_SUMS];
	struct gp_tally_series series[GP_TALLY_SERIES];
};

/* Zeroed = empty. */
struct gp_tally {
	struct gp_tally_row *rows;
	uint32_t count, capacity;
	struct gp_hash_map index;  /* by key */
	uint32_t last;             /* index of the last found row */
	struct gp_tally_row spare; /* returned instead of NULL if there is no memory */
	int error;                 /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

void gp_tally_free(struct gp_tally *tally);

/*
 * The row with the key; adds it if it is new. Valid until the next call. Never NULL: without memory
 * it returns a spare row and sets tally->error.
 */
struct gp_tally_row *gp_tally_find(struct gp_tally *tally, const uint64_t key[GP_TALLY_KEYS]);

/* Appends a value to a series of a row. */
void gp_tally_value(struct gp_tally *tally, struct gp_tally_row *row, size_t series,
		    uint64_t value);

/* Adds to the total of a series a value that is left out of its distribution. */
void gp_tally_add(struct gp_tally_row *row, size_t series, uint64_t value);

/* The sum of a series over all rows. */
double gp_tally_total(const struct gp_tally *tally, size_t series);

#endif
