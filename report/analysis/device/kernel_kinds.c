#include "report/analysis/device/kernel_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/symbols/names.h"

#define COMPARED_BYTES 4096u /* of a name */
#define LINE_BYTES     1024
#define ANONYMOUS      "(anonymous namespace)::"
#define ENABLE_IF      "std::enable_if<"

/* The pairs of neighboring letters in a text, as bits, several pairs to a bit. */
struct pairs {
	uint64_t bits[4];
};

struct row {
	char *pattern; /* in small letters */
	struct pairs pairs;
	uint8_t kind;
	bool whole; /* the name with its arguments is compared */
};

struct gp_kinds {
	struct row *rows;
	uint32_t row_count, row_capacity;
	char *names[GP_KINDS_LIMIT];
	uint32_t name_count;
};

static const struct {
	const char *kind, *pattern;
} built_in[] = {
#define GP_KERNEL_KIND(kind, pattern) {kind, pattern},
#include "report/analysis/device/kernel_kinds.def"
#undef GP_KERNEL_KIND
};

static void to_small(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

static bool is_any(char c)
{
	return c == '*' || c == '?';
}

/* Without those that a * or a ? is in, which in a pattern stand for others. */
static struct pairs pairs_of(const char *text)
{
	struct pairs pairs = {{0}};

	for (; text[0] && text[1]; text++) {
		unsigned number = (unsigned char)text[0] * 33u + (unsigned char)text[1];

		if (!is_any(text[0]) && !is_any(text[1]))
			pairs.bits[number / 64 % 4] |= UINT64_C(1) << number % 64;
	}
	return pairs;
}

/* Whether a text with these pairs may match a pattern with those: rules out most texts fast. */
static bool may_fit(const struct pairs *pattern, const struct pairs *text)
{
	uint64_t lacking = 0;

	for (size_t i = 0; i < COUNT(pattern->bits); i++)
		lacking |= pattern->bits[i] & ~text->bits[i];
	return lacking == 0;
}

/* ---- the table ---- */

/* The number of a kind, which is added if it is new; GP_KINDS_LIMIT: the table is full. */
static uint32_t take_name(struct gp_kinds *kinds, const char *name)
{
	for (uint32_t i = 0; i < kinds->name_count; i++)
		if (strcmp(kinds->names[i], name) == 0)
			return i;
	if (kinds->name_count == GP_KINDS_LIMIT)
		return GP_KINDS_LIMIT;
	kinds->names[kinds->name_count] = strdup(name);
	return kinds->names[kinds->name_count] ? kinds->name_count++ : GP_KINDS_LIMIT;
}

/* Rows of a kind mostly stand together. */
static uint32_t number_of(struct gp_kinds *kinds, const char *name)
{
	uint32_t last = kinds->row_count > 0 ? kinds->rows[kinds->row_count - 1].kind : 0;

	return strcmp(kinds->names[last], name) == 0 ? last : take_name(kinds, name);
}

static int add_row(struct gp_kinds *kinds, const char *kind, const char *pattern)
{
	struct row row = {.whole = strchr(pattern, '<') != NULL};
	uint32_t number = number_of(kinds, kind);

	if (number == GP_KINDS_LIMIT)
		return -ENOSPC;
	gp_array_grow(&kinds->rows, &kinds->row_capacity, kinds->row_count, sizeof(row));
	row.kind = (uint8_t)number;
	row.pattern = strdup(pattern);
	to_small(row.pattern);
	row.pairs = pairs_of(row.pattern);
	kinds->rows[kinds->row_count++] = row;
	return 0;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* The first colon that is not one of "::" parts kind and pattern. */
static char *find_colon(char *line)
{
	char *colon = strchr(line, ':');

	return colon && colon[1] != ':' ? colon : NULL;
}

static int take_line(struct gp_kinds *kinds, char *line)
{
	char *text = trim(line), *colon = find_colon(text), *pattern;

	if (*text == '\0' || *text == '#')
		return 0;
	if (!colon)
		return -EINVAL;
	*colon = '\0';
	text = trim(text);
	pattern = trim(colon + 1);
	return *text && *pattern ? add_row(kinds, text, pattern) : -EINVAL;
}

static void say_line(int result, const char *path, unsigned number, char *message, size_t size)
{
	if (result == -ENOSPC)
		snprintf(message, size, "%s: line %u: more than %u kinds", path, number,
			 GP_KINDS_LIMIT);
	else
		snprintf(message, size,
			 "%s: line %u is no row; write for example: attention: *my_attention*",
			 path, number);
}

static bool is_cut(const char *line, const FILE *file)
{
	return strlen(line) == LINE_BYTES - 1 && line[LINE_BYTES - 2] != '\n' &&
	       !feof((FILE *)file);
}

static int take_lines(struct gp_kinds *kinds, FILE *file, const char *path, char *message,
		      size_t size)
{
	char line[LINE_BYTES];
	int result = 0;

	for (unsigned number = 1; result == 0 && fgets(line, sizeof(line), file); number++) {
		result = is_cut(line, file) ? -EINVAL : take_line(kinds, line);
		if (result < 0)
			say_line(result, path, number, message, size);
	}
	if (result == 0 && ferror(file)) {
		result = -EIO;
		snprintf(message, size, "%s cannot be read: %s", path, strerror(errno));
	}
	return result;
}

static int take_file(struct gp_kinds *kinds, const char *path, char *message, size_t size)
{
	FILE *file = fopen(path, "re");
	int result;

	if (!file) {
		snprintf(message, size, "%s cannot be opened: %s", path, strerror(errno));
		return -errno;
	}
	result = take_lines(kinds, file, path, message, size);
	fclose(file);
	return result;
}

static int take_built_in(struct gp_kinds *kinds)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < COUNT(built_in); i++)
		result = add_row(kinds, built_in[i].kind, built_in[i].pattern);
	return result;
}

static void take_numbered(struct gp_kinds *kinds)
{
	static_assert(GP_KIND_UNKNOWN == 0 && GP_KIND_COMMUNICATION == 1 && GP_KIND_COPY == 2,
		      "in the order of their numbers");
	take_name(kinds, "unknown");
	take_name(kinds, "communication");
	take_name(kinds, "copy");
}

struct gp_kinds *gp_kinds_new(const char *file, char *message, size_t message_bytes)
{
	struct gp_kinds *kinds = calloc(1, sizeof(*kinds));
	int result = 0;

	take_numbered(kinds);
	if (file)
		result = take_file(kinds, file, message, message_bytes);
	if (result == 0) {
		result = take_built_in(kinds);
		if (result < 0)
			say_line(result, file ? file : "", 0, message, message_bytes);
	}
	if (result == 0)
		return kinds;
	gp_kinds_free(kinds);
	return NULL;
}

void gp_kinds_free(struct gp_kinds *kinds)
{
	if (!kinds)
		return;
	for (uint32_t i = 0; i < kinds->row_count; i++)
		free(kinds->rows[i].pattern);
	for (uint32_t i = 0; i < kinds->name_count; i++)
		free(kinds->names[i]);
	free(kinds->rows);
	free(kinds);
}

const char *gp_kinds_name(const struct gp_kinds *kinds, uint32_t kind)
{
	return kinds->names[kind < kinds->name_count ? kind : GP_KIND_UNKNOWN];
}

uint32_t gp_kinds_count(const struct gp_kinds *kinds)
{
	return kinds->name_count;
}

void gp_kinds_roles(const struct gp_kinds *kinds, const struct gp_kind_role *rows,
		    uint8_t roles[GP_KINDS_LIMIT])
{
	memset(roles, 0, GP_KINDS_LIMIT);
	for (; rows->kind; rows++)
		for (uint32_t kind = 0; kind < kinds->name_count; kind++)
			if (strcmp(kinds->names[kind], rows->kind) == 0)
				roles[kind] = rows->role;
}

/* ---- names ---- */

/* Both in small letters; time grows with the product of the lengths, at worst. */
static bool fits(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static const char *skip(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : text;
}

/*
 * The name without the type that a function template returns, where that is "void" or made by
 * std::enable_if.
 */
static const char *skip_type(const char *name)
{
	static const char end[] = ">::type ";
	const char *found =
		strncmp(name, ENABLE_IF, strlen(ENABLE_IF)) == 0 ? strstr(name, end) : NULL;

	return found ? found + strlen(end) : skip(name, "void ");
}

/* Without that type in front and unnamed namespaces, in small letters. */
static void normalize(char out[COMPARED_BYTES], const char *name)
{
	size_t used = 0;

	name = skip_type(name);
	while (*name && used + 1 < COMPARED_BYTES) {
		const char *rest = skip(name, ANONYMOUS);

		if (rest == name)
			out[used++] = (char)tolower((unsigned char)*name++);
		else
			name = rest;
	}
	out[used] = '\0';
}

uint32_t gp_kinds_find(const struct gp_kinds *kinds, const char *demangled)
{
	char whole[COMPARED_BYTES], head[COMPARED_BYTES];
	struct pairs of_whole, of_head;
	size_t length;

	normalize(whole, demangled);
	length = strcspn(whole, "<(");
	memcpy(head, whole, length);
	head[length] = '\0';
	of_whole = pairs_of(whole);
	of_head = pairs_of(head);
	for (uint32_t i = 0; i < kinds->row_count; i++) {
		const struct row *row = &kinds->rows[i];

		if (may_fit(&row->pairs, row->whole ? &of_whole : &of_head) &&
		    fits(row->pattern, row->whole ? whole : head))
			return row->kind;
	}
	return GP_KIND_UNKNOWN;
}

uint8_t *gp_kinds_of_names(const struct gp_kinds *kinds, const struct gp_model *model)
{
	uint8_t *found = calloc((size_t)model->name_count + 1, sizeof(*found));
	struct gp_names *names = gp_names_new();

	for (uint32_t i = 0; i < model->name_count; i++)
		found[i] = (uint8_t)gp_kinds_find(kinds, gp_names_full(names, model->names[i]));
	gp_names_free(names);
	return found;
}
