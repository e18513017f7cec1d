/*
 * input: reads a file from beginning to end, decompresses gzip, and leaves out the byte order mark of
 * UTF-8.
 */
#ifndef REPORT_CODEC_INPUT_H
#define REPORT_CODEC_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gp_input;

/* Returns 0 or a negative errno value; -ESPIPE: the path is not a regular file. */
int gp_input_open(const char *path, struct gp_input **input);
void gp_input_close(struct gp_input *input);

/*
 * Reads up to `bytes` bytes. Returns 0 at the end, or where compressed data is damaged; else a
 * negative errno value on failure, -EFBIG if the file unpacks to far more than traces do. The type
 * fits gp_json_reader_new().
 */
ssize_t gp_input_read(void *input, void *buffer, size_t bytes);

/*
 * Reads the first bytes of a file. Returns their number, 0 if the file cannot be read, or -ENOMEM.
 */
ssize_t gp_input_head(const char *path, uint8_t *head, size_t bytes);

/* Whether the first bytes of a file are the byte order mark of UTF-16. */
bool gp_input_is_utf16(const uint8_t *head, size_t bytes);

bool gp_input_is_compressed(const char *path);

#endif
