/*
 * library: where libgpuprof.so is, and how LD_PRELOAD reaches it in every process of a tree.
 *
 * Beside the program gpuprof (checkout, container) or in ../lib (installed).  Where the folder of
 * loader paths (GP_LIBRARY_FOLDER) is beside the library, the preload path goes through it and the
 * loader's $LIB: so 32-bit processes find a small stub there instead of a library of the wrong
 * class, and processes with another C library find nothing, where loading ours would end them.
 */
#ifndef REPORT_RUN_LIBRARY_H
#define REPORT_RUN_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/finish/session.h"

#define GP_LIBRARY_NAME   "libgpuprof.so"
#define GP_LIBRARY_FOLDER "gpuprof-preload"

struct gp_library {
	char folder[PATH_MAX]; /* absolute */
	bool by_loader_path;   /* reach it through GP_LIBRARY_FOLDER/$LIB */
};

/* Find it beside our own program.  Returns 0, or -ENOENT with one line for the user in message. */
int gp_library_find(struct gp_library *library, char *message, size_t message_bytes);

/*
 * The text for LD_PRELOAD.  Where the folder's name has a space or a colon, at which the loader
 * would cut it, it goes through a link in the session.  Returns 0 or -errno.
 */
int gp_library_preload_path(const struct gp_library *library, const struct gp_session *session,
			    char path[PATH_MAX]);

/*
 * The path by which the library knows itself when it is preloaded; -ENOENT where it cannot be told
 * beforehand: the folder of loader paths has copies in place of links.
 */
int gp_library_real_path(const struct gp_library *library, char path[PATH_MAX]);

#endif
