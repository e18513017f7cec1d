/*
 * output: makes output names absolute, and checks them before a program runs for hours.
 */
#ifndef REPORT_RUN_OUTPUT_H
#define REPORT_RUN_OUTPUT_H

#include <stddef.h>

/* Longest name, with its NUL; the library's limit. */
#define GP_OUTPUT_BYTES 1024

/*
 * Both functions make a name absolute and check that its folder exists and is writable. They return
 * 0, or -errno with one line for the user in message.
 *
 * Names are templates with % parts, which are expanded later: '%' in the current folder's own name
 * is doubled, and the check covers the part before the first % part.
 */

/* For the files of each process. The result ends with a slash for default names in that folder. */
int gp_output_template(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		       size_t message_bytes);

/* For the summary, which must be a file. */
int gp_output_summary(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		      size_t message_bytes);

/*
 * The folder of an absolute template: the part before its last slash, or before the first % part.
 */
void gp_output_folder(const char *absolute, char folder[GP_OUTPUT_BYTES]);

#define GP_OUTPUT_PATTERN_BYTES (2 * GP_OUTPUT_BYTES + 32)

/* A pattern of glob(3) for the traces of an absolute template; each % part matches any text. */
void gp_output_pattern(const char *absolute, char pattern[GP_OUTPUT_PATTERN_BYTES]);

#endif
