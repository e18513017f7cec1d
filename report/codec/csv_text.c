#include "report/codec/csv_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/text/text.h"

/* Spreadsheets evaluate text that begins like this, some of them after spaces. */
static bool is_formula(const char *text)
{
	while (*text == ' ')
		text++;
	return *text == '=' || *text == '+' || *text == '-' || *text == '@';
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

/* Printable ASCII, which needs no escapes: most names are. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static char *make_cell(const char *text)
{
	bool is_quoted = strpbrk(text, ",\"") || *text == ' ';
	char *cell = malloc(2 * strlen(text) + sizeof("\"'\"")), *to = cell;

	if (is_quoted)
		*to++ = '"';
	if (is_formula(text))
		*to++ = '\'';
	to = append(to, text);
	if (is_quoted)
		*to++ = '"';
	*to = '\0';
	return cell;
}

char *gp_csv_text(const char *text)
{
	char *escaped, *cell;

	if (is_printable(text))
		return make_cell(text);
	escaped = gp_text_escape(text);
	cell = make_cell(escaped);
	free(escaped);
	return cell;
}
