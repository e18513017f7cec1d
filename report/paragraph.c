#include "report/paragraph.h"

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
