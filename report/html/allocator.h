/*
 * allocator: memory that PyTorch's caching allocator reserved and gave to tensors over time, from
 * torch.profiler (profile_memory=True), as columns of a page.
 */
#ifndef REPORT_HTML_ALLOCATOR_H
#define REPORT_HTML_ALLOCATOR_H

#include <stdint.h>
#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/*
 * Write a row for each change: the difference of its time to the previous row, by gp_html_zigzag();
 * the number of the allocator; its reserved bytes; bytes of tensors.  Times are relative to the
 * origin.  Processes follow each other, so rows may be out of order.
 *
 * If there are more changes than the limit (0 = none), of each few successive changes those with the
 * most bytes in either column and the last are kept: at most the limit, plus a few for each
 * allocator.
 *
 * Written to json: {"changes": rows, "leftOut": changes, "allocators": [{"process", "device"}]}.
 * Returns 0 or a -errno.
 */
int gp_html_allocator(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out,
		      struct gp_json *json);

#endif
