/*
 * nvtx: NVTX's functions, as the programs and libraries call them.
 *
 * Every shared object that uses NVTX has tables of its own, empty until its first call: that loads the library that
 * NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2(), which fills them; that of inject/init.c does so with
 * functions that record.  Headers of some years call it from several threads at a time, and again for the same tables.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include <stdbool.h>

#include "inject/nvtx_message.h"

/* By the constructor, where ranges are enabled: make the program's NVTX find this library.  A variable that is already set
 * is left alone.  False: there is no memory for it (errno). */
bool gp_nvtx_announce(const char *library);

/* What InitializeInjectionNvtx2() does, after the constructor: 1, or where ranges are not enabled 0, and they stay free. */
int gp_nvtx_initialize(NvtxGetExportTableFunc_t get_export_table);

/* What NVTX_INJECTION64_PATH named instead of this library; NULL = nothing. */
const char *gp_nvtx_other_tool(void);

#endif
