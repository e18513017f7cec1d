/*
 * allocator: what PyTorch's caching allocator had reserved and given to tensors over time, where
 * torch.profiler tells (profile_memory=True), as columns of a page.
 */
#ifndef REPORT_HTML_ALLOCATOR_H
#define REPORT_HTML_ALLOCATOR_H

#include <stdint.h>
#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/*
 * A row for each change: its time from the origin, less that of the row before, as gp_html_zigzag()
 * has it; the number of the allocator; bytes that it has reserved; bytes that tensors have.  One
 * process comes after the other; they may be out of order.
 *
 * Of more changes than the limit (0 = none) of each few that follow each other those stay with the
 * most bytes in either column, and the last: no more than the limit, but for a few of each
 * allocator.
 *
 * Goes to json: {"changes": rows, "leftOut": changes, "allocators": [{"process", "device"}]}.
 * Returns 0 or a -errno.
 */
int gp_html_allocator(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out,
		      struct gp_json *json);

#endif
