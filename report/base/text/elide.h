/*
 * elide: fits a column of texts into a width so that different texts stay different.
 *
 * gp_text_fit() keeps the beginning and the end of a text. Kernel names often differ in the middle:
 * if two would look the same, each shows the place where it differs.
 */
#ifndef REPORT_BASE_TEXT_ELIDE_H
#define REPORT_BASE_TEXT_ELIDE_H

#include <stddef.h>

/*
 * The texts, escaped, in at most `columns` columns each; text i is texts[i * stride]. Free it with
 * gp_elide_free(). Returns NULL if there is no memory.
 */
char **gp_elide(const char *const *texts, size_t count, size_t stride, size_t columns);
void gp_elide_free(char **fitted, size_t count);

#endif
