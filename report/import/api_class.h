/* api_class: what an API call is for, by its name: of traces that give no more of it. */
#ifndef REPORT_IMPORT_API_CLASS_H
#define REPORT_IMPORT_API_CLASS_H

#include <stddef.h>

#include "gpuprof/record.h"

enum gp_api_class gp_import_api_class(const char *name, size_t bytes);

#endif
