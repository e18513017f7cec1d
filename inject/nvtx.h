/*
 * nvtx: NVTX's functions, as the programs and libraries call them.
 *
 * Every shared object that uses NVTX has tables of its own, empty until its first call: that loads the library that
 * NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2(), which fills them; that of inject/nvtx.c does so with
 * functions that record.  Headers of some years call it from several threads at a time, and again for the same tables.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

/* By the constructor, where ranges are enabled: make the program's NVTX find this library.  A variable that is already set
 * is left alone.  Where ranges are not enabled, InitializeInjectionNvtx2() refuses, and they stay free. */
void gp_nvtx_announce(const char *library);

/* What NVTX_INJECTION64_PATH named instead of this library; NULL = nothing. */
const char *gp_nvtx_other_tool(void);

#endif
