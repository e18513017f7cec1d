/*
 * communication: lines of the section about ranks: communication by axis of parallelism, and bus
 * bandwidth.
 */
#ifndef REPORT_SUMMARY_COMMUNICATION_H
#define REPORT_SUMMARY_COMMUNICATION_H

#include <stdio.h>

#include "report/document/document.h"
#include "report/tables/by/axes.h"
#include "report/tables/by/bus_bandwidth.h"

/* In lines of so many columns; nothing for a single axis, and without bandwidths. */
void gp_summary_print_axes(FILE *out, size_t columns, const struct gp_axes *axes);
void gp_summary_print_bandwidths(FILE *out, size_t columns,
				 const struct gp_bus_bandwidths *bandwidths);

/* Rows "bandwidth" of the present section. */
void gp_summary_add_bandwidths(struct gp_document *document,
			       const struct gp_bus_bandwidths *bandwidths);

#endif
