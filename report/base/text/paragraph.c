#include "report/base/text/paragraph.h"

#include <stdbool.h>
#include <string.h>

#define INDENT      "  "
#define NEXT_INDENT "    "

static size_t begin(const struct gp_paragraph *paragraph)
{
	return (size_t)fprintf(paragraph->out, INDENT "%s", paragraph->lead ? paragraph->lead : "");
}

void gp_paragraph_add(struct gp_paragraph *paragraph, const char *piece)
{
	const char *separator = paragraph->separator ? paragraph->separator : ";";
	size_t columns = strlen(piece);

	if (paragraph->used == 0) {
		paragraph->used = begin(paragraph);
	} else if (paragraph->used + 3 + columns > paragraph->columns) {
		fprintf(paragraph->out, "%s\n" NEXT_INDENT, separator);
		paragraph->used = strlen(NEXT_INDENT);
	} else {
		paragraph->used += (size_t)fprintf(paragraph->out, "%s ", separator);
	}
	paragraph->used += (size_t)fprintf(paragraph->out, "%s", piece);
}

void gp_paragraph_end(struct gp_paragraph *paragraph)
{
	if (paragraph->used > 0)
		fputs("\n", paragraph->out);
}

/* The length of the text up to the space where it is best folded; `length` if there is none. */
static size_t find_fold(const char *text, size_t length, size_t columns)
{
	size_t word = 0, clause = 0;

	for (size_t i = 1; i < length && (i <= columns || word == 0); i++) {
		if (text[i] != ' ')
			continue;
		word = i;
		if (i >= columns / 2 && strchr(",;:", text[i - 1]))
			clause = i;
	}
	if (clause > 0)
		return clause;
	return word > 0 ? word : length;
}

static void fold_line(FILE *out, const char *line, size_t length, size_t columns)
{
	size_t indent = strspn(line, " "), margin = indent;

	for (size_t at = indent, bytes; at <= length; at += bytes + 1) {
		bytes = length - at;
		if (margin + bytes > columns)
			bytes = find_fold(line + at, bytes,
					  columns > margin ? columns - margin : 0);
		fprintf(out, "%*s%.*s\n", (int)margin, "", (int)bytes, line + at);
		margin = indent + 2;
	}
}

void gp_paragraph_fold(FILE *out, const char *text, size_t columns)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		fold_line(out, text, length, columns);
	}
}

void gp_paragraph_wrap(FILE *out, const char *text, size_t column, size_t margin, size_t columns)
{
	bool is_first = column <= margin; /* first word of the line */

	for (size_t length; (length = strcspn(text, " ")) > 0;
	     text += length, text += *text == ' ', is_first = false) {
		if (!is_first && column + 1 + length > columns) {
			fprintf(out, "\n%*s", (int)margin, "");
			column = margin;
		} else if (!is_first) {
			putc(' ', out);
			column++;
		}
		fwrite(text, 1, length, out);
		column += length;
	}
	putc('\n', out);
}

#define EXPLAIN_COLUMNS 100
#define EXPLAIN_MARGIN  2

void gp_paragraph_explain(FILE *out, const char *title, const char *text)
{
	fprintf(out, "\n%s\n%*s", title, EXPLAIN_MARGIN, "");
	gp_paragraph_wrap(out, text, EXPLAIN_MARGIN, EXPLAIN_MARGIN, EXPLAIN_COLUMNS);
}
