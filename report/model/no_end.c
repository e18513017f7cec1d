#include "report/model/no_end.h"

#include <string.h>

static const char *const texts[GP_NO_ENDS] = {
	[GP_NO_END_FILE_LIMIT] = "it had reached the largest allowed file size (ulimit -f)",
	[GP_NO_END_DISK_QUOTA] = "the disk quota of the user was used up",
	[GP_NO_END_DISK_FULL] = "the disk was full",
	[GP_NO_END_KILLED] = "the process was killed or crashed",
	[GP_NO_END_RUNNING] = "the process still ran when it was exported",
	[GP_NO_END_CUT] = "the file was cut, or the rest of it is unreadable",
	[GP_NO_END_UNKNOWN] =
		"the process was killed or crashed, the disk was full, or the file was cut",
};

const char *gp_no_end_text(enum gp_no_end why)
{
	return texts[why];
}

const char *gp_no_end_told(const char *text)
{
	for (int i = 0; i < GP_NO_ENDS; i++)
		if (strcmp(text, texts[i]) == 0)
			return texts[i];
	return texts[GP_NO_END_UNKNOWN];
}
