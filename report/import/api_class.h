/* api_class: the class of an API call by its name, for traces that have only names. */
#ifndef REPORT_IMPORT_API_CLASS_H
#define REPORT_IMPORT_API_CLASS_H

#include <stddef.h>

#include "gpuprof/record.h"

enum gp_api_class gp_import_api_class(const char *name, size_t bytes);

#endif
