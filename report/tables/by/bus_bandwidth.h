/*
 * bus_bandwidth: the bandwidth of collectives, as nccl-tests states it (its doc/PERFORMANCE.md).
 *
 * The algorithm bandwidth is the size of the whole array divided by the shortest time of an
 * operation's ranks; the times of the other ranks contain the wait for the last one.  The bus
 * bandwidth is the traffic over a rank's link in that time, whatever the algorithm.  Sizes come
 * from NCCL's NVTX ranges.  The number of ranks comes from the range that made the communicator, or
 * else from the traces, if all ranks of the job have one.
 */
#ifndef REPORT_TABLES_BY_BUS_BANDWIDTH_H
#define REPORT_TABLES_BY_BUS_BANDWIDTH_H

#include <stdint.h>

#include "report/document/value.h"
#include "report/tables/breakdown_scope.h"
#include "report/tables/by/collective_ranks.h"

/* Operations of one kernel, communicator and size. */
struct gp_bus_row {
	uint64_t name; /* of the scope */
	uint64_t communicator;
	enum gp_collective_kind kind;
	uint64_t size_bytes; /* of the whole array */
	uint32_t ranks;
	uint64_t count;
	uint64_t median_ns, least_ns; /* of the shortest times */
	uint64_t total_ns;
	uint64_t waited_ns;                   /* beyond that, averaged over the ranks; a sum */
	struct gp_value algorithm, bus, peak; /* 10^9 bytes per second; peak: none if unknown */
	struct gp_value of_peak;              /* percent; none if the peak is lower, or unknown */
};

/* Zeroed = empty. */
struct gp_bus_bandwidths {
	struct gp_bus_row *rows; /* the longest total first */
	uint32_t count;
};

/* Returns 0, -ENOMEM or -EOVERFLOW; call gp_bus_bandwidths_free() in either case. */
int gp_bus_bandwidths_of(struct gp_model *const *models, size_t count, struct gp_collectives *c,
			 struct gp_bus_bandwidths *bandwidths);
int gp_bus_bandwidths_find(struct gp_scope *scope, struct gp_bus_bandwidths *bandwidths);
void gp_bus_bandwidths_free(struct gp_bus_bandwidths *bandwidths);

#endif
