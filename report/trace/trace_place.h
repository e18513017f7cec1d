/* trace_place: the machine on which a trace was recorded, and its rank in a job. */
#ifndef REPORT_TRACE_TRACE_PLACE_H
#define REPORT_TRACE_TRACE_PLACE_H

#include "report/base/boot_id.h"

struct gp_trace_place {
	char boot_id[GP_BOOT_ID_TEXT_BYTES]; /* "" = not known */
	char rank[16];                       /* as the launcher gave it; "" = none */
};

/* Reads the beginning of the file; nothing is known if it is no trace of gpuprof. */
struct gp_trace_place gp_trace_place_of(const char *path);

#endif
