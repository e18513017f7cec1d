/*
 * library: finds libgpuprof.so, and makes LD_PRELOAD work in every process of a process tree.
 *
 * The library is beside the program gpuprof (checkout, container) or in ../lib (installed). If
 * GP_LIBRARY_FOLDER is beside the library, the preload path goes through it and the loader's $LIB.
 * So 32-bit processes load a small stub instead of a library of the wrong class, and processes with
 * another C library, which ours would crash, load nothing.
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
	bool by_loader_path;   /* use GP_LIBRARY_FOLDER/$LIB */
};

/* Finds it beside this program. Returns 0, or -ENOENT with one line for the user in message. */
int gp_library_find(struct gp_library *library, char *message, size_t message_bytes);

/*
 * The first of the files that exists, given relative to the folder of this program.  -ENOENT: none
 * does, or another user could have written it.
 */
int gp_library_beside(const char *const *places, size_t count, char path[PATH_MAX]);

/*
 * The value for LD_PRELOAD. If the folder has a space or a colon, which would separate names, the
 * path goes through a link in the session. Returns 0 or -errno.
 */
int gp_library_preload_path(const struct gp_library *library, const struct gp_session *session,
			    char path[PATH_MAX]);

/*
 * The library's own path when it is preloaded; -ENOENT if it is unknown in advance, as when
 * GP_LIBRARY_FOLDER has copies instead of links.
 */
int gp_library_real_path(const struct gp_library *library, char path[PATH_MAX]);

#endif
