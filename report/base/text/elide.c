#include "report/base/text/elide.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/short_name.h"
#include "report/base/text/text.h"

#define MOST_CONTEXT 5 /* bytes of the word shown before the place where two texts differ */

/* A row of the column. */
struct row {
	const char *text;
	char **fitted;
};

/* A text that one or several consecutive rows have. */
struct piece {
	const struct row *rows;
	size_t row_count;
	char *plain; /* the text, mostly without namespaces */
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = strcmp(*left->fitted, *right->fitted);

	return order != 0 ? order : strcmp(left->text, right->text);
}

static int compare_plain(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return strcmp(left->plain, right->plain);
}

/* The length of the common beginning of two texts. */
static size_t common_bytes(const char *a, const char *b)
{
	size_t bytes = 0;

	while (a[bytes] != '\0' && a[bytes] == b[bytes])
		bytes++;
	return bytes;
}

/* The length of the common end. */
static size_t common_ending(const char *a, const char *b)
{
	size_t a_bytes = strlen(a), b_bytes = strlen(b), bytes = 0;

	while (bytes < a_bytes && bytes < b_bytes &&
	       a[a_bytes - 1 - bytes] == b[b_bytes - 1 - bytes])
		bytes++;
	return bytes;
}

/* The beginning of the word at `at`. */
static size_t word_before(const char *text, size_t at)
{
	size_t least = at > MOST_CONTEXT ? at - MOST_CONTEXT : 0;

	while (at > least && isalnum((unsigned char)text[at - 1]))
		at--;
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static void set_fitted(const struct piece *piece, const char *fitted)
{
	for (size_t i = 0; fitted && i < piece->row_count; i++) {
		char *copy = strdup(fitted);

		if (!copy)
			return;
		free(*piece->rows[i].fitted);
		*piece->rows[i].fitted = copy;
	}
}

static bool look_alike_at(const char *text, const char *other, size_t at, size_t columns)
{
	char *fitted = gp_text_fit_at(text, columns, word_before(text, at));
	char *fitted_other = gp_text_fit_at(other, columns, word_before(other, at));
	bool alike = fitted && fitted_other && strcmp(fitted, fitted_other) == 0;

	free(fitted);
	free(fitted_other);
	return alike;
}

/*
 * Where to show a text so that it differs from another: the first difference. If the texts still
 * look alike there, as when one has a parameter type more (int, int), then the place where their
 * common end begins, if that is earlier.
 */
static size_t differs_at(const char *text, const char *other, size_t columns)
{
	size_t at = common_bytes(text, other), bytes = strlen(text);
	size_t ending = common_ending(text, other);

	if (bytes > ending && bytes - ending - 1 < at && look_alike_at(text, other, at, columns))
		return bytes - ending - 1;
	return at;
}

/* Shows each text where it differs from the one most like it. */
static void show_differences(struct piece *pieces, size_t count, size_t columns)
{
	for (size_t i = 0; i < count; i++) {
		const char *plain = pieces[i].plain;
		size_t before = i > 0 ? common_bytes(plain, pieces[i - 1].plain) : 0;
		size_t after = i + 1 < count ? common_bytes(plain, pieces[i + 1].plain) : 0;
		const struct piece *like = before > after ? &pieces[i - 1] : &pieces[i + 1];
		size_t at = before + after > 0 ? differs_at(plain, like->plain, columns) : 0;
		char *fitted = gp_text_fit_at(plain, columns, word_before(plain, at));

		set_fitted(&pieces[i], fitted);
		free(fitted);
	}
}

static bool have_twins(const struct piece *pieces, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(pieces[i].plain, pieces[i - 1].plain) == 0)
			return true;
	return false;
}

/*
 * Sorts the texts without their namespaces, which leaves more columns for the rest. If two texts
 * differ in namespaces only, all keep theirs.
 */
static bool make_plain(struct piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pieces[i].plain = strdup(pieces[i].rows->text);
		if (!pieces[i].plain)
			return false;
		gp_short_name_unqualify(pieces[i].plain);
	}
	qsort(pieces, count, sizeof(*pieces), compare_plain);
	if (!have_twins(pieces, count))
		return true;
	for (size_t i = 0; i < count; i++)
		strcpy(pieces[i].plain, pieces[i].rows->text);
	qsort(pieces, count, sizeof(*pieces), compare_plain);
	return true;
}

/* Makes rows differ that look the same; `pieces` has space for row_count pieces. */
static void tell_apart(const struct row *rows, size_t row_count, struct piece *pieces,
		       size_t columns)
{
	size_t count = 0;

	for (size_t i = 0; i < row_count; i++)
		if (i > 0 && strcmp(rows[i].text, rows[i - 1].text) == 0)
			pieces[count - 1].row_count++;
		else
			pieces[count++] = (struct piece){.rows = &rows[i], .row_count = 1};
	if (count > 1 && make_plain(pieces, count))
		show_differences(pieces, count, columns);
	for (size_t i = 0; i < count; i++)
		free(pieces[i].plain);
}

static bool tell_all_apart(struct row *rows, size_t count, size_t columns)
{
	struct piece *pieces = calloc(count, sizeof(*pieces));

	if (!pieces)
		return false;
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1;
		     next < count && strcmp(*rows[next].fitted, *rows[first].fitted) == 0;)
			next++;
		tell_apart(rows + first, next - first, pieces, columns);
	}
	free(pieces);
	return true;
}

char **gp_elide(const char *const *texts, size_t count, size_t stride, size_t columns)
{
	char **fitted = calloc(count + 1, sizeof(*fitted));
	struct row *rows = calloc(count + 1, sizeof(*rows));
	bool done = fitted && rows;

	for (size_t i = 0; done && i < count; i++) {
		fitted[i] = gp_text_fit(texts[i * stride], columns);
		rows[i] = (struct row){.text = texts[i * stride], .fitted = &fitted[i]};
		done = fitted[i] != NULL;
	}
	done = done && (count == 0 || tell_all_apart(rows, count, columns));
	free(rows);
	if (done)
		return fitted;
	gp_elide_free(fitted, count);
	return NULL;
}

void gp_elide_free(char **fitted, size_t count)
{
	for (size_t i = 0; fitted && i < count; i++)
		free(fitted[i]);
	free(fitted);
}
