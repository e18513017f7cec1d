/*
 * source_text: lines of the source files that a trace names, if they are on this machine.
 *
 * A trace may come from anybody and name any file.  Only regular files with the name of source code
 * are read, no link, and none that changed after the recording began: its lines may have moved.
 * Long lines are cut, because a table may show one many times.
 */
#ifndef REPORT_SYMBOLS_SOURCE_TEXT_H
#define REPORT_SYMBOLS_SOURCE_TEXT_H

#include <stdint.h>

#define GP_SOURCE_TEXT_BYTES      (4u << 20) /* of a file */
#define GP_SOURCE_TEXT_ALL_BYTES  (32u << 20)
#define GP_SOURCE_TEXT_FILES      256u
#define GP_SOURCE_TEXT_LINE_BYTES 250u

struct gp_source_text;

/* until_s: files that changed later are not read. */
struct gp_source_text *gp_source_text_new(int64_t until_s);
void gp_source_text_free(struct gp_source_text *sources);

/*
 * The line, from 1, without the spaces around it; NULL: it is not there.  Tabs are spaces.  Lives as
 * long as the sources.
 */
const char *gp_source_text_line(struct gp_source_text *sources, const char *path, uint32_t line);

/* The same with the spaces before it. */
const char *gp_source_text_indented(struct gp_source_text *sources, const char *path,
				    uint32_t line);

#endif
