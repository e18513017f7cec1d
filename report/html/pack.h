/*
 * pack: the data of an HTML page, as elements that contain only base64, so that names of the program
 * are never part of the HTML.
 *
 * An element is <script type=application/octet-stream data-k=KIND data-f=FIRST data-n=ROWS
 * data-p=PLANES>BASE64</script>, with one gzip member inside.  A text has no rows and no planes.
 * FIRST is the number of the first row of the block among all rows of the kind.  Rows are split into
 * blocks.  A block has for each column the lowest bytes of all rows, then the second lowest, and so
 * on, as many as its largest value needs; data-p has the number of these planes for each column.
 * That packs better than whole numbers, and unpacks faster than numbers of variable length.
 *
 * A block does not depend on others, so that a cut or damaged file loses only the affected blocks: a
 * column of differences to the previous row starts from 0 in each block
 * (gp_html_columns_at_block()).  The first blocks are small for the same reason: a later one has as
 * many rows as all before it.
 */
#ifndef REPORT_HTML_PACK_H
#define REPORT_HTML_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GP_HTML_BLOCK        65536u /* the most rows of a block; a power of two */
#define GP_HTML_BLOCK_FIRST  1024u  /* rows of the first block */
#define GP_HTML_COLUMNS_MOST 16u

struct gp_html_columns {
	FILE *out;
	const char *kind;
	uint32_t width; /* columns */
	uint32_t used;  /* rows in values */
	uint64_t rows, blocks;
	uint64_t *values; /* column by column */
};

/*
 * width: at most GP_HTML_COLUMNS_MOST.  Returns 0 or -ENOMEM; call gp_html_columns_close() in either
 * case.
 */
int gp_html_columns_open(struct gp_html_columns *columns, FILE *out, const char *kind,
			 uint32_t width);

/*
 * Add a row: a value for each column.  Values have at most 53 bits, like exact numbers of JavaScript:
 * 104 days in ns, or ± 52 days by gp_html_zigzag().
 */
void gp_html_columns_add(struct gp_html_columns *columns, const uint64_t *row);

/* Whether the next row is the first of a block. */
static inline bool gp_html_columns_at_block(const struct gp_html_columns *columns)
{
	return columns->used == 0;
}

/* Write the rest.  Returns 0 or the first error, except write errors of out: check them at its end. */
int gp_html_columns_close(struct gp_html_columns *columns);

/* Write an element with a text.  Returns 0 or -ENOMEM. */
int gp_html_put_text(FILE *out, const char *kind, const char *bytes, size_t length);

/* Map a signed difference to a small value: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static inline uint64_t gp_html_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

#endif
