#include "report/diff/place_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/diff/moved_lines.h"
#include "report/diff/rename.h"
#include "report/symbols/call_site.h"

static const enum gp_named_kind kinds[] = {GP_NAMED_PHASE, GP_NAMED_LEAK, GP_NAMED_LINE};

/* The lines of a set, by file; functions are names up to the line: "step (train.py". */
struct lines {
	struct gp_code_line *rows;
	uint32_t count, capacity;
};

static const char *file_of(const struct gp_code_line *line)
{
	const char *end = line->function + line->length;

	while (end > line->function && end[-1] != '(')
		end--;
	return end;
}

static int compare_files(const struct gp_code_line *a, const struct gp_code_line *b)
{
	const char *left = file_of(a), *right = file_of(b);
	size_t left_bytes = (size_t)(a->function + a->length - left);
	size_t right_bytes = (size_t)(b->function + b->length - right);
	int order = memcmp(left, right, left_bytes < right_bytes ? left_bytes : right_bytes);

	return order != 0 ? order : (left_bytes > right_bytes) - (left_bytes < right_bytes);
}

static int compare_lines(const void *a, const void *b)
{
	const struct gp_code_line *left = a, *right = b;
	int order = compare_files(left, right);

	return order != 0 ? order : gp_code_line_compare(left, right);
}

static void add_names(struct lines *lines, const char *const *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct gp_code_line line = {.function = names[i], .length = strlen(names[i])};

		line.line = gp_call_site_line(names[i], &line.length);
		if (line.line == 0)
			continue;
		gp_array_grow(&lines->rows, &lines->capacity, lines->count, sizeof(*lines->rows));
		lines->rows[lines->count++] = line;
	}
}

static void sort_once(struct lines *lines)
{
	uint32_t kept = 0;

	if (lines->count > 0)
		qsort(lines->rows, lines->count, sizeof(*lines->rows), compare_lines);
	for (uint32_t i = 0; i < lines->count; i++)
		if (kept == 0 || compare_lines(&lines->rows[kept - 1], &lines->rows[i]) != 0)
			lines->rows[kept++] = lines->rows[i];
	lines->count = kept;
}

/* The texts belong to the set. */
static void list_lines(struct lines *lines, const struct gp_run_set *set)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const char **names;
		uint32_t count;

		gp_run_set_names(set, NULL, kinds[i], &names, &count);
		add_names(lines, names, count);
		free(names);
	}
	sort_once(lines);
}

static uint32_t end_of_file(const struct lines *lines, uint32_t first)
{
	uint32_t end = first;

	while (end < lines->count && compare_files(&lines->rows[first], &lines->rows[end]) == 0)
		end++;
	return end;
}

/* found[i] becomes the index in b of a's line i, or GP_NONE. */
static void match(const struct lines *a, const struct lines *b, uint32_t *found)
{
	for (uint32_t i = 0, j = 0, end, other; i < a->count; i = end, j = other) {
		end = end_of_file(a, i);
		while (j < b->count && compare_files(&b->rows[j], &a->rows[i]) < 0)
			j++;
		other = j;
		if (j < b->count && compare_files(&b->rows[j], &a->rows[i]) == 0)
			other = end_of_file(b, j);
		gp_moved_lines_match(a->rows + i, end - i, b->rows + j, other - j, found + i);
		for (uint32_t k = i; k < end; k++)
			found[k] += found[k] == GP_NONE ? 0 : j;
	}
}

/* ---- the new names ---- */

static void add_rename(struct gp_renames *renames, const struct gp_code_line *line, uint32_t to,
		       const char *mark)
{
	char *name;

	asprintf(&name, "%.*s:%u%s)", (int)line->length, line->function, to, mark);
	gp_renames_add(renames, line->function, name);
}

static bool has_line(const struct lines *lines, const struct gp_code_line *line)
{
	return lines->count > 0 &&
	       bsearch(line, lines->rows, lines->count, sizeof(*lines->rows), compare_lines);
}

static void list_renames(struct gp_renames *renames, const struct lines *a, const struct lines *b,
			 const uint32_t *found)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct gp_code_line *line = &a->rows[i];
		uint32_t to = found[i] == GP_NONE ? 0 : b->rows[found[i]].line;

		if (to > 0 && to != line->line)
			add_rename(renames, line, to, "");
		else if (to == 0 && has_line(b, line))
			add_rename(renames, line, line->line, " in A");
	}
	gp_renames_sort(renames);
}

static void rename_all(const struct lines *a, const struct lines *b, struct gp_run_set *set)
{
	struct gp_renames renames = {0};
	uint32_t *found = calloc((size_t)a->count + 1, sizeof(*found));

	match(a, b, found);
	list_renames(&renames, a, b, found);
	for (size_t i = 0; i < COUNT(kinds); i++)
		gp_rename_named(&renames, set, kinds[i]);
	gp_renames_free(&renames);
	free(found);
}

void gp_place_names_match(struct gp_run_set *a, const struct gp_run_set *b)
{
	struct lines now = {0}, before = {0};

	list_lines(&before, a);
	list_lines(&now, b);
	rename_all(&before, &now, a);
	free(before.rows);
	free(now.rows);
}
