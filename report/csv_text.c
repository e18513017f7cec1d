#include "report/csv_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"

/* Spreadsheets compute what begins like this. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@", *text);
}

bool gp_csv_is_plain(const char *text, size_t length)
{
	if (is_formula(text) || *text == ' ')
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == ',')
			return false;
	return true;
}

static char *append(char *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			*to++ = '"';
		*to++ = *text;
	}
	return to;
}

char *gp_csv_text(const char *text)
{
	char *escaped = gp_text_escape(text), *cell, *to;
	bool is_quoted;

	if (!escaped)
		return NULL;
	is_quoted = strpbrk(escaped, ",\"") || *escaped == ' ';
	cell = to = malloc(2 * strlen(escaped) + sizeof("\"'\""));
	if (cell) {
		if (is_quoted)
			*to++ = '"';
		if (is_formula(escaped))
			*to++ = '\'';
		to = append(to, escaped);
		if (is_quoted)
			*to++ = '"';
		*to = '\0';
	}
	free(escaped);
	return cell;
}
