/*
 * paragraph: breaks sentences, and lists of short pieces separated by semicolons or commas, into
 * lines.
 */
#ifndef REPORT_BASE_TEXT_PARAGRAPH_H
#define REPORT_BASE_TEXT_PARAGRAPH_H

#include <stddef.h>
#include <stdio.h>

/* Set the first two members, and zero the rest. */
struct gp_paragraph {
	FILE *out;
	size_t columns;        /* width of a line */
	const char *lead;      /* printed before the first piece, or NULL */
	const char *separator; /* NULL = ";" */
	size_t used;           /* columns used of the current line; 0 = nothing is printed yet */
};

/* Adds a piece of ASCII text. */
void gp_paragraph_add(struct gp_paragraph *paragraph, const char *piece);

/* Ends the last line, if there was any piece. */
void gp_paragraph_end(struct gp_paragraph *paragraph);

/*
 * Prints lines of text. A line wider than `columns` continues in the next line, indented by two
 * more columns: after a comma, semicolon or colon if the line is at least half full there, else
 * between words.
 */
void gp_paragraph_fold(FILE *out, const char *text, size_t columns);

/*
 * Prints text in lines of `columns` columns. The first line begins at `column`, the others at
 * `margin`.
 */
void gp_paragraph_wrap(FILE *out, const char *text, size_t column, size_t margin, size_t columns);

/* Prints an empty line, a title, and below it the text in indented lines. */
void gp_paragraph_explain(FILE *out, const char *title, const char *text);

#endif
