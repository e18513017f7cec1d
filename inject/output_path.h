/*
 * output: where this process's files go.  The template of --output, expanded; and the libraries'
 * own place. The working directory and the library's path are remembered by the constructor, before
 * the program can change them.
 */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include <stddef.h>

/* To be called by the constructor. */
void gp_output_path_remember(void);

/* Absolute path of this library, "" if it cannot be told. */
const char *gp_output_path_library(void);

/* A template made absolute by the directory at start, and not yet expanded.  Returns 0, -ENAMETOOLONG, or -ENOENT (that directory was gone). */
int gp_output_path_absolute(const char *path, char *absolute, size_t absolute_bytes);

/*
 * Expand a template: %p process id, %n program or script, %h host name, %q{NAME} the environment's
 * value, %% a percent sign; slashes within a value become underscores.  One that ends with a slash,
 * or is that of a folder, gets the default name in it, and ".gpuprof" at its end is dropped.  The result is absolute.
 * Returns 0, -EINVAL (an unknown % sequence), -ENAMETOOLONG or -ENOENT.
 */
int gp_output_path_expand(const char *template, char *path, size_t path_bytes);

#endif
