/*
 * kernel_kinds: the purpose of a kernel, by its name: GEMM, attention, communication, ...
 *
 * The table is report/analysis/device/kernel_kinds.def. Users put rows of their own in front of it,
 * with a file of lines "KIND: PATTERN"; empty lines and lines that begin with # do not count.
 *
 * A kind is a text; equal texts are one kind, and new ones may come up. Their numbers stay the same
 * as long as the table lives: the three below, then the others in the order of their first rows.
 */
#ifndef REPORT_ANALYSIS_DEVICE_KERNEL_KINDS_H
#define REPORT_ANALYSIS_DEVICE_KERNEL_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"

#define GP_KIND_UNKNOWN       0u /* no row fits */
#define GP_KIND_COMMUNICATION 1u /* between devices or hosts: counted apart from computing */
#define GP_KIND_COPY          2u /* copies, also memsets and copies by the copy engines */
#define GP_KINDS_LIMIT        256u

struct gp_kinds;

/*
 * The table, with the rows of a file in front of it (NULL = none).  NULL with one line for the user
 * in message: the file cannot be read, or has a line that is no row.
 */
struct gp_kinds *gp_kinds_new(const char *file, char *message, size_t message_bytes);
void gp_kinds_free(struct gp_kinds *kinds);

/* The kind of a kernel, by its demangled name. */
uint32_t gp_kinds_find(const struct gp_kinds *kinds, const char *demangled);

/* The name of a kind; "unknown" for GP_KIND_UNKNOWN. */
const char *gp_kinds_name(const struct gp_kinds *kinds, uint32_t kind);

/* How many kinds there are: their numbers are lower. */
uint32_t gp_kinds_count(const struct gp_kinds *kinds);

/* What kernels of a kind are to a caller: its own number, not 0. The last row has no kind. */
struct gp_kind_role {
	const char *kind;
	uint8_t role;
};

/* The role of each kind; 0: it has none. */
void gp_kinds_roles(const struct gp_kinds *kinds, const struct gp_kind_role *rows,
		    uint8_t roles[GP_KINDS_LIMIT]);

/*
 * The kinds of a model's kernels, by their names' index; the last one, name_count, is of those
 * without a name.  Free it.
 */
uint8_t *gp_kinds_of_names(const struct gp_kinds *kinds, const struct gp_model *model);

/*
 * The kind of an operation; names is of its model. A graph that was launched as a whole is unknown.
 */
static inline uint32_t gp_kinds_of_op(const uint8_t *names, const struct gp_model *model,
				      const struct gp_op *op)
{
	if (op->kind == GP_OP_COPY || op->kind == GP_OP_SET)
		return GP_KIND_COPY;
	if (op->kind == GP_OP_GRAPH)
		return GP_KIND_UNKNOWN;
	return names[op->name < model->name_count ? op->name : model->name_count];
}

#endif
