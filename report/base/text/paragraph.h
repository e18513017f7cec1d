/*
 * paragraph: sentences, and short pieces of text with semicolons or commas between them, broken
 * into lines.
 */
#ifndef REPORT_BASE_TEXT_PARAGRAPH_H
#define REPORT_BASE_TEXT_PARAGRAPH_H

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

/*
 * Lines of text, of which those that are wider than so many columns go on in the next line, two
 * columns further in than they began: after a comma, a semicolon or a colon where the line is half
 * full by then, else between words.
 */
void gp_paragraph_fold(FILE *out, const char *text, size_t columns);

/*
 * Text in lines of so many columns, those from the second on behind a margin; the first one begins
 * at that column.
 */
void gp_paragraph_wrap(FILE *out, const char *text, size_t column, size_t margin, size_t columns);

/* An empty line, a title, and below it the text in lines, indented. */
void gp_paragraph_explain(FILE *out, const char *title, const char *text);

#endif
