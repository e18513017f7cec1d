#include "report/tables/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

void gp_table_open(struct gp_table *sheet, const struct gp_table_head *head)
{
	*sheet = (struct gp_table){.head = head};
}

void gp_table_close(struct gp_table *sheet)
{
	for (uint32_t i = 0; i < sheet->cell_count; i++)
		if (sheet->cells[i].kind == GP_VALUE_TEXT)
			free((char *)sheet->cells[i].text);
	gp_spill_free(sheet->cells);
	*sheet = (struct gp_table){0};
}

void gp_table_cell(struct gp_table *sheet, struct gp_value value)
{
	int result = gp_array_grow_spill(&sheet->cells, &sheet->capacity, sheet->cell_count,
					 sizeof(*sheet->cells));

	if (result == 0 && value.kind == GP_VALUE_TEXT) {
		value.text = strdup(value.text);
		result = value.text ? 0 : -ENOMEM;
	}
	if (result == 0)
		sheet->cells[sheet->cell_count++] = value;
	else if (sheet->error == 0)
		sheet->error = result;
}

size_t gp_table_rows(const struct gp_table *sheet)
{
	return sheet->cell_count / sheet->head->column_count;
}

const struct gp_value *gp_table_row(const struct gp_table *sheet, size_t row)
{
	return sheet->cells + row * sheet->head->column_count;
}

size_t gp_table_find_column(const struct gp_table_head *head, const char *title)
{
	size_t i = 0;

	while (i < head->column_count && strcasecmp(head->columns[i].title, title) != 0)
		i++;
	return i;
}

static double number_of(const struct gp_value *value)
{
	return value->kind == GP_VALUE_WHOLE ? (double)value->whole : value->real;
}

static int compare_values(const struct gp_value *a, const struct gp_value *b)
{
	if (a->kind == GP_VALUE_NONE || b->kind == GP_VALUE_NONE)
		return (a->kind == GP_VALUE_NONE) - (b->kind == GP_VALUE_NONE);
	if (a->kind == GP_VALUE_TEXT && b->kind == GP_VALUE_TEXT)
		return strcmp(a->text, b->text);
	if (a->kind == GP_VALUE_WHOLE && b->kind == GP_VALUE_WHOLE)
		return (a->whole < b->whole) - (a->whole > b->whole);
	return (number_of(a) < number_of(b)) - (number_of(a) > number_of(b));
}

struct ordering {
	size_t columns, first;
};

static int compare_rows(const void *a, const void *b, const void *context)
{
	const struct gp_value *left = a, *right = b;
	const struct ordering *ordering = context;
	int result = compare_values(&left[ordering->first], &right[ordering->first]);

	for (size_t i = ordering->columns; result == 0 && i-- > 0;)
		result = compare_values(&left[i], &right[i]);
	return result;
}

int gp_table_sort(struct gp_table *sheet, size_t column)
{
	struct ordering ordering = {.columns = sheet->head->column_count, .first = column};

	if (column == GP_TABLE_AS_ADDED)
		return 0;
	return gp_array_sort(sheet->cells, (uint32_t)gp_table_rows(sheet),
			     ordering.columns * sizeof(*sheet->cells), compare_rows, &ordering);
}
