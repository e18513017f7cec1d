/*
 * no_end: why a trace has no end, in words: an export of it has them, too, and they are known again
 * when that is read.
 */
#ifndef REPORT_MODEL_NO_END_H
#define REPORT_MODEL_NO_END_H

enum gp_no_end {
	GP_NO_END_FILE_LIMIT,
	GP_NO_END_DISK_QUOTA,
	GP_NO_END_DISK_FULL,
	GP_NO_END_KILLED,
	GP_NO_END_RUNNING, /* of an export alone */
	GP_NO_END_CUT,
	GP_NO_END_UNKNOWN,
	GP_NO_ENDS
};

const char *gp_no_end_text(enum gp_no_end why);

/* One of these texts, also where it is none of them. */
const char *gp_no_end_told(const char *text);

#endif
