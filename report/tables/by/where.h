/*
 * where: what the tables of where the time went have in common.
 */
#ifndef REPORT_TABLES_BY_WHERE_H
#define REPORT_TABLES_BY_WHERE_H

#include "report/analysis/device/device_ops.h"
#include "report/tables/breakdown_scope.h"

/*
 * The window of a scope's models; says once what idle times in it are where operations are missing.
 */
struct gp_window gp_scope_window(struct gp_scope *scope);

/*
 * The cell of what an operation is called, a kernel by its name; none where there is no operation.
 */
void gp_scope_put_op(struct gp_scope *scope, struct gp_table *sheet, struct gp_op_at at);

#endif
