/*
 * cupti_places: the places where copies of libcupti are, the best one first.
 *
 * The search goes folder by folder, the newest version first, and leaves out copies newer than
 * newest_major (0: none).  It ends at the first file for which the caller's function returns true,
 * and returns true then.
 */
#ifndef HARDWARE_CUPTI_PLACES_H
#define HARDWARE_CUPTI_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* file: a path, or a bare name for the loader's own search. */
typedef bool gp_cupti_try(void *context, const char *file);

/* The files of a folder (NULL or "": none) that match patterns; the last pattern is NULL. */
bool gp_cupti_try_folder(const char *folder, const char *const *patterns, uint32_t newest_major,
			 gp_cupti_try *try, void *context);

/*
 * The loader's path, then the environment of conda (CONDA_PREFIX), then the toolkits named by
 * CUDA_HOME and CUDA_PATH, then installed ones.
 */
bool gp_cupti_try_installed(uint32_t newest_major, gp_cupti_try *try, void *context);

#endif
