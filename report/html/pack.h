/*
 * pack: what a page of HTML carries, as elements that hold nothing but base64: no name of the
 * program is ever text of the page.
 *
 * An element is <script type=application/octet-stream data-k=KIND data-f=FIRST data-n=ROWS
 * data-p=PLANES>BASE64</script>; inside is one member of gzip.  A text has no rows and no planes.
 * FIRST is the number of the block's first row in all of the kind.  Columns are cut into blocks of
 * rows: of each column the lowest bytes of all rows, then the second lowest, and so on, as many as
 * the block's largest value needs; that packs better than whole numbers, and is unpacked faster
 * than numbers of variable length.  data-p says how many of each column.
 *
 * Whoever reads a block needs no other one, so that of a file that is cut or damaged only the
 * blocks are lost that it hits: what is written as a difference to the row before counts from 0 in
 * a block's first row (gp_html_columns_at_block()).  The first blocks are small, for the same
 * reason: a later one has as many rows as all before it.
 */
#ifndef REPORT_HTML_PACK_H
#define REPORT_HTML_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GP_HTML_BLOCK        65536u /* rows, at most; a power of two, */
#define GP_HTML_BLOCK_FIRST  1024u  /* and so many in the first one */
#define GP_HTML_COLUMNS_MOST 16u

struct gp_html_columns {
	FILE *out;
	const char *kind;
	uint32_t width; /* columns */
	uint32_t used;  /* rows in values */
	uint64_t rows, blocks;
	uint64_t *values; /* column by column */
	int error;        /* 0 or the first -errno */
};

/*
 * width: at most GP_HTML_COLUMNS_MOST.  Returns 0 or -ENOMEM; gp_html_columns_close() in either
 * case.
 */
int gp_html_columns_open(struct gp_html_columns *columns, FILE *out, const char *kind,
			 uint32_t width);

/*
 * One row more: a value for each column, of which 53 bits count: so many a number of the page's
 * has, 104 days of ns, and 52 days to each side as gp_html_zigzag() has them.
 */
void gp_html_columns_add(struct gp_html_columns *columns, const uint64_t *row);

/* The next row is the first of a block. */
static inline bool gp_html_columns_at_block(const struct gp_html_columns *columns)
{
	return columns->used == 0;
}

/*
 * Write what is left.  Returns 0 or the first error; that out cannot be written is found at its
 * end.
 */
int gp_html_columns_close(struct gp_html_columns *columns);

/* A text of its own.  Returns 0 or -ENOMEM. */
int gp_html_put_text(FILE *out, const char *kind, const char *bytes, size_t length);

/* A difference, which may be negative, as small as a value can be: 0, -1, 1, -2, ... */
static inline uint64_t gp_html_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

#endif
