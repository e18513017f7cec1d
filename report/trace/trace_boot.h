/* trace_boot: the boot id of the machine on which a trace was recorded. */
#ifndef REPORT_TRACE_TRACE_BOOT_H
#define REPORT_TRACE_TRACE_BOOT_H

#include <stdbool.h>

#include "report/base/boot_id.h"

/* Reads the beginning of the file.  False, and "", if it is no trace of gpuprof, or has no id. */
bool gp_trace_boot_id(const char *path, char id[GP_BOOT_ID_TEXT_BYTES]);

#endif
