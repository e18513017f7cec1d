/* paragraph: short pieces of text, separated by semicolons or commas and broken into lines. */
#ifndef REPORT_PARAGRAPH_H
#define REPORT_PARAGRAPH_H

#include <stddef.h>
#include <stdio.h>

/* Begin with the first two members set and the rest zero. */
struct gp_paragraph {
	FILE *out;
	size_t columns;        /* of a line */
	const char *lead;      /* printed before the first piece, or NULL */
	const char *separator; /* NULL = ";" */
	size_t used;           /* columns of the line so far; 0 = nothing is printed yet */
};

/* One more piece, of ASCII text. */
void gp_paragraph_add(struct gp_paragraph *paragraph, const char *piece);

/* The last line's end, if there was any piece. */
void gp_paragraph_end(struct gp_paragraph *paragraph);

#endif
