/* put_rows: the rows of a table as CSV, without its titles, numbers with three decimals. */
#ifndef TESTS_REPORT_PUT_ROWS_H
#define TESTS_REPORT_PUT_ROWS_H

#include <stdio.h>

#include "report/document/table.h"

static inline void put_rows(FILE *out, const struct gp_table *table)
{
	const struct gp_table_head *head = table->head;

	for (size_t i = 0; i < gp_table_rows(table); i++)
		for (size_t c = 0; c < head->column_count; c++) {
			const struct gp_value *value = &gp_table_row(table, i)[c];

			fprintf(out, "%s%s",
				value->kind == GP_VALUE_TEXT   ? value->text
				: value->kind == GP_VALUE_NONE ? ""
							       : gp_value_number(value).text,
				c + 1 < head->column_count ? "," : "\n");
		}
}

#endif
