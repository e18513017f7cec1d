/*
 * communication: lines of the section about ranks: communication by axis of parallelism, bus
 * bandwidth, and what the job would gain without late ranks.
 */
#ifndef REPORT_SUMMARY_COMMUNICATION_H
#define REPORT_SUMMARY_COMMUNICATION_H

#include <stdio.h>

#include "report/document/document.h"
#include "report/tables/by/axes.h"
#include "report/tables/by/bus_bandwidth.h"
#include "report/tables/by/what_if.h"

/* In lines of so many columns; nothing for a single axis, and without bandwidths. */
void gp_summary_print_axes(FILE *out, size_t columns, const struct gp_axes *axes);
void gp_summary_print_bandwidths(FILE *out, size_t columns,
				 const struct gp_bus_bandwidths *bandwidths);

/*
 * What all late ranks together cost; nothing if that is little, or less than its error.  The savings
 * of findings are those of each late rank alone.  step_ns: NAN = unknown.
 */
void gp_summary_print_gain(FILE *out, double step_ns, const struct gp_what_if *what_if);
void gp_summary_add_gain(struct gp_document *document, const struct gp_what_if *what_if);

/* Rows "bandwidth" of the present section. */
void gp_summary_add_bandwidths(struct gp_document *document,
			       const struct gp_bus_bandwidths *bandwidths);

#endif
