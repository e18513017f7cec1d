/*
 * input: a file's bytes, from its beginning to its end, uncompressed if they are compressed with
 * gzip.
 */
#ifndef REPORT_CODEC_INPUT_H
#define REPORT_CODEC_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gp_input;

/* Returns 0 or a negative errno value. -ESPIPE: it is not a file. */
int gp_input_open(const char *path, struct gp_input **input);
void gp_input_close(struct gp_input *input);

/*
 * Up to so many bytes of what comes next.  0: there are no more, or what there is of the compressed
 * bytes cannot be read.  Negative: an errno value. The context of a gp_pull_new().
 */
ssize_t gp_input_read(void *input, void *buffer, size_t bytes);

/* Read the first bytes of a file. Returns how many; 0 if it cannot be read; or -ENOMEM. */
ssize_t gp_input_head(const char *path, uint8_t *head, size_t bytes);

bool gp_input_is_compressed(const char *path);

#endif
