#include "report/document/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

void gp_table_open(struct gp_table *table, const struct gp_table_head *head)
{
	*table = (struct gp_table){.head = head};
}

static void free_own_head(struct gp_table *table)
{
	if (table->own_head)
		free((void *)table->own_head->columns);
	free(table->own_head);
}

void gp_table_close(struct gp_table *table)
{
	for (uint32_t i = 0; i < table->cell_count; i++)
		if (table->cells[i].kind == GP_VALUE_TEXT)
			free((char *)table->cells[i].text);
	gp_spill_free(table->cells);
	free_own_head(table);
	*table = (struct gp_table){0};
}

void gp_table_cell(struct gp_table *table, struct gp_value value)
{
	gp_array_grow_spill(&table->cells, &table->capacity, table->cell_count,
			    sizeof(*table->cells));
	if (value.kind == GP_VALUE_TEXT)
		value.text = strdup(value.text);
	table->cells[table->cell_count++] = value;
}

void gp_table_put_whole(struct gp_table *table, uint64_t whole)
{
	gp_table_cell(table, gp_value_whole(whole));
}

void gp_table_put_real(struct gp_table *table, double real)
{
	gp_table_cell(table, isfinite(real) ? gp_value_real(real) : gp_value_none());
}

void gp_table_put_text(struct gp_table *table, const char *text)
{
	gp_table_cell(table, text && *text ? gp_value_text(text) : gp_value_none());
}

void gp_table_put_words(struct gp_table *table, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	gp_table_put_text(table, text);
}

/* The columns, to be changed; NULL: no memory. */
static struct gp_table_column *own_columns(struct gp_table *table)
{
	size_t count = table->head->column_count;
	struct gp_table_column *columns = calloc(count + 1, sizeof(*columns));
	struct gp_table_head *head = malloc(sizeof(*head));

	memcpy(columns, table->head->columns, count * sizeof(*columns));
	*head = *table->head;
	head->columns = columns;
	free_own_head(table);
	table->head = table->own_head = head;
	return columns;
}

int gp_table_set_column(struct gp_table *table, size_t at, const struct gp_table_column *column)
{
	struct gp_table_column *columns = own_columns(table);

	columns[at] = *column;
	return 0;
}

int gp_table_remove_column(struct gp_table *table, size_t at)
{
	struct gp_table_column *columns = own_columns(table);
	size_t count = table->head->column_count;
	uint32_t kept = 0;

	memmove(&columns[at], &columns[at + 1], (count - at - 1) * sizeof(*columns));
	table->own_head->column_count--;
	for (uint32_t i = 0; i < table->cell_count; i++)
		if (i % count != at)
			table->cells[kept++] = table->cells[i];
		else if (table->cells[i].kind == GP_VALUE_TEXT)
			free((char *)table->cells[i].text);
	table->cell_count = kept;
	return 0;
}

size_t gp_table_rows(const struct gp_table *table)
{
	return table->cell_count / table->head->column_count;
}

const struct gp_value *gp_table_row(const struct gp_table *table, size_t row)
{
	return table->cells + row * table->head->column_count;
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

int gp_table_sort(struct gp_table *table, size_t column)
{
	struct ordering ordering = {.columns = table->head->column_count, .first = column};

	if (column == GP_TABLE_AS_ADDED)
		return 0;
	gp_array_sort(table->cells, (uint32_t)gp_table_rows(table),
		      ordering.columns * sizeof(*table->cells), compare_rows, &ordering);
	return 0;
}
