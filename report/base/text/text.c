#include "report/base/text/text.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "report/base/text/short_name.h"
#include "report/base/text/utf8.h"

#define ELLIPSIS "..."

#define NEAR          6  /* bytes of a part that are enough to recognize it */
#define LEAST_FOR_TWO 12 /* columns that two "..." need */

static locale_t utf8_locale; /* 0 = not available */

static void make_utf8_locale(void)
{
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* The program's own locale may be "C", where characters beyond ASCII have no width. */
static int columns_of(uint32_t code)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	locale_t before;
	int columns;

	if (code < 0x7f)
		return 1;
	pthread_once(&once, make_utf8_locale);
	if (utf8_locale == (locale_t)0)
		return 1;
	before = uselocale(utf8_locale);
	columns = wcwidth((wchar_t)code);
	uselocale(before);
	return columns < 0 ? 1 : columns;
}

char *gp_text_escape(const char *text)
{
	size_t left = strlen(text), used;
	char *escaped = malloc(left * GP_UTF8_SHOWN_BYTES + 1);
	char *out = escaped;

	if (!escaped)
		return NULL;
	*out = '\0';
	for (; left > 0; text += used, left -= used)
		out += gp_utf8_show(out, text, left, &used);
	return escaped;
}

void gp_text_print(FILE *out, const char *text)
{
	char *escaped = gp_text_escape(text);

	fputs(escaped ? escaped : "(no memory)", out);
	free(escaped);
}

/* The bytes and columns of the character at text; a stray byte counts as one of each. */
static size_t measure(const char *text, size_t left, size_t *columns)
{
	uint32_t code;
	size_t bytes = gp_utf8_decode(text, left, &code);

	*columns = bytes == 0 ? 1 : (size_t)columns_of(code);
	return bytes == 0 ? 1 : bytes;
}

size_t gp_text_columns(const char *text)
{
	size_t total = 0, columns;

	for (size_t left = strlen(text); left > 0;) {
		size_t bytes = measure(text, left, &columns);

		total += columns;
		text += bytes;
		left -= bytes;
	}
	return total;
}

/* The bytes at the start of text that fill at most `limit` columns. */
static size_t head_bytes(const char *text, size_t limit)
{
	size_t used = 0, total = strlen(text), at = 0, columns;

	while (at < total) {
		size_t bytes = measure(text + at, total - at, &columns);

		if (used + columns > limit)
			break;
		used += columns;
		at += bytes;
	}
	return at;
}

/* The start of the last characters that fill at most `limit` columns. */
static size_t tail_start(const char *text, size_t limit)
{
	size_t skip = gp_text_columns(text), total = strlen(text), at = 0, columns;

	while (at < total && skip > limit) {
		at += measure(text + at, total - at, &columns);
		skip -= columns;
	}
	return at;
}

static size_t room_of(size_t columns)
{
	return columns > strlen(ELLIPSIS) ? columns - strlen(ELLIPSIS) : 0;
}

static char *cut_middle(const char *text, size_t columns, size_t tail_columns)
{
	size_t head = head_bytes(text, room_of(columns) - tail_columns);
	size_t tail = tail_start(text, tail_columns);
	char *fitted = malloc(head + strlen(ELLIPSIS) + strlen(text + tail) + 1);

	if (!fitted)
		return NULL;
	memcpy(fitted, text, head);
	strcpy(stpcpy(fitted + head, ELLIPSIS), text + tail);
	return fitted;
}

#define LEAST_FOR_NAME 6u

/* Of a place, "(file:line)" stays if some of the name does, too. */
static size_t columns_for_tail(const char *text, size_t room)
{
	const char *line = strrchr(text, '(');
	size_t columns = line && strchr(line, ':') ? gp_text_columns(line) : 0;

	return columns > 0 && columns + LEAST_FOR_NAME <= room ? columns : room / 3;
}

char *gp_text_fit(const char *text, size_t columns)
{
	char *fitted = strdup(text), *cut;

	if (!fitted || gp_text_columns(fitted) <= columns)
		return fitted;
	gp_short_name_narrow(fitted, columns);
	if (gp_text_columns(fitted) <= columns)
		return fitted;
	cut = cut_middle(fitted, columns, columns_for_tail(fitted, room_of(columns)));
	free(fitted);
	return cut;
}

/*
 * Columns for the beginning of a text: a third, or the whole function name if its template
 * arguments differ; at least `needed` columns stay for the rest.
 */
static size_t columns_for_head(const char *text, size_t room, size_t needed)
{
	size_t name = strcspn(text, "<"), left = room > needed ? room - needed : 0;
	size_t head = text[name] != '\0' ? name + 1 : 0;

	if (head > left)
		head = left;
	return head > room / 3 ? head : room / 3;
}

/* The columns of the word at text, with the character that ends it. */
static size_t word_columns(const char *text)
{
	size_t bytes = 0;

	while (isalnum((unsigned char)text[bytes]))
		bytes++;
	return text[bytes] != '\0' ? bytes + 1 : bytes;
}

/* For a part from `at` on that does not reach the end of the text. */
static char *cut_twice(const char *text, size_t room, size_t at)
{
	size_t columns = columns_for_head(text, room, word_columns(text + at));
	size_t head = head_bytes(text, columns), middle = head_bytes(text + at, room - columns);
	char *fitted = malloc(strlen(text) + 2 * strlen(ELLIPSIS) + 1), *end;

	if (!fitted)
		return NULL;
	end = stpcpy(mempcpy(fitted, text, head), ELLIPSIS);
	strcpy(mempcpy(end, text + at, middle), ELLIPSIS);
	return fitted;
}

char *gp_text_fit_at(const char *text, size_t columns, size_t at)
{
	size_t room = room_of(columns), rest = gp_text_columns(text + at);

	if (gp_text_columns(text) <= columns)
		return strdup(text);
	if (columns < LEAST_FOR_TWO || at + NEAR <= head_bytes(text, room - room / 8))
		return cut_middle(text, columns, room / 8);
	if (rest <= room - columns_for_head(text, room, word_columns(text + at)))
		return cut_middle(text, columns, room - columns_for_head(text, room, rest));
	return cut_twice(text, room_of(room), at);
}

void gp_text_print_fit(FILE *out, const char *text, size_t columns)
{
	char *escaped = gp_text_escape(text);
	char *fitted = escaped && columns > 0 ? gp_text_fit(escaped, columns) : NULL;

	fputs(fitted ? fitted : escaped ? escaped : "(no memory)", out);
	free(fitted);
	free(escaped);
}
