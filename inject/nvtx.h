/*
 * nvtx: implements NVTX's functions.
 *
 * Every shared object that uses NVTX has its own function tables, empty until its first call.  That
 * call loads the library that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2(),
 * which fills the tables; that of inject/init.c fills them with functions that record.  Some
 * versions of the headers call it from several threads at a time, and again for the same tables.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include <stdbool.h>

#include "inject/nvtx_message.h"

/*
 * By the constructor, if ranges are enabled: make the program's NVTX load this library.  A variable
 * that is already set stays.  False: out of memory (errno).
 */
bool gp_nvtx_announce(const char *library);

/*
 * The implementation of InitializeInjectionNvtx2(), after the constructor: returns 1; or 0 if
 * ranges are disabled, and the functions stay no-ops.
 */
int gp_nvtx_initialize(NvtxGetExportTableFunc_t get_export_table);

/* The library that NVTX_INJECTION64_PATH named instead of this one; NULL = none. */
const char *gp_nvtx_other_tool(void);

#endif
