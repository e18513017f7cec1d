/*
 * fit_apart: a column of texts in the same room, cut so that those which differ still do.
 *
 * gp_text_fit() keeps the beginning and the end of a text.  Names of kernels often differ in their
 * middle: where two would look the same, each of them shows the place where it differs.
 */
#ifndef REPORT_BASE_TEXT_ELIDE_H
#define REPORT_BASE_TEXT_ELIDE_H

#include <stddef.h>

/*
 * The texts, escaped, in at most so many columns each; text i is texts[i * stride].  Free it with
 * gp_elide_free(); NULL if there is no memory.
 */
char **gp_elide(const char *const *texts, size_t count, size_t stride, size_t columns);
void gp_elide_free(char **fitted, size_t count);

#endif
