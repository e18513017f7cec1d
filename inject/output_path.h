/*
 * output_path: the paths of this process's output files: the expanded template of --output; and the
 * path of the library itself.
 *
 * The constructor remembers the working directory and the library's path before the program can
 * change them.
 */
#ifndef INJECT_OUTPUT_PATH_H
#define INJECT_OUTPUT_PATH_H

#include <stddef.h>

/* By the constructor. */
void gp_output_path_remember(void);

/* Absolute path of this library, "" if unknown. */
const char *gp_output_path_library(void);

/*
 * Make a template absolute, relative to the directory at start, without expanding it.  Returns 0,
 * -ENAMETOOLONG, or -ENOENT (that directory does not exist any more).
 */
int gp_output_path_absolute(const char *path, char *absolute, size_t absolute_bytes);

/*
 * Expand a template: %p process id, %n program or script, %h host name, %r rank in the job,
 * %q{NAME} an environment variable, %% a percent sign.  Slashes within a value, and a dot at its
 * beginning, become underscores.  If the result ends with a slash or is an existing folder, the
 * default name is appended; a final ".gpuprof" is removed.  If the file's name would be too long,
 * values of more than 128 bytes are shortened.  The result is absolute.  Returns 0, -EINVAL (an
 * unknown % sequence), -ENAMETOOLONG or -ENOENT.
 */
int gp_output_path_expand(const char *template, char *path, size_t path_bytes);

/*
 * Make the folders of an expanded path that are named by % sequences, or are in such folders, as
 * NODE of JOB/%h/%r.  Nobody else could make them before the program starts.
 */
void gp_output_path_make_folders(const char *template, char *path);

#endif
