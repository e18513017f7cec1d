/*
 * output: names of files, made independent of where the program goes, and checked before it has run
 * for hours.
 */
#ifndef REPORT_RUN_OUTPUT_H
#define REPORT_RUN_OUTPUT_H

#include <stddef.h>

/* Longest name, with its NUL: the library keeps no longer ones. */
#define GP_OUTPUT_BYTES 1024

/*
 * Both put an absolute name into absolute, starting from the current folder, and check that its
 * folder is there and can be written to.  They return 0, or -errno with one line for the user in
 * message.
 *
 * Names are templates with % parts, which are expanded later: a '%' of the current folder's own
 * name is doubled, and the check goes as far as the name stands for itself.
 */

/*
 * Of the files of each process; ends with a slash where the default name is meant, in that folder.
 */
int gp_output_template(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		       size_t message_bytes);

/* Of the summary: no folder. */
int gp_output_summary(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		      size_t message_bytes);

/*
 * The folder of an absolute template: before its last slash, or before the first part that only a
 * process can expand.
 */
void gp_output_folder(const char *absolute, char folder[GP_OUTPUT_BYTES]);

#endif
