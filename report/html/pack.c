#include "report/html/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define VALUE_BITS  53
#define VALUE_BYTES 7

static void put_base64(FILE *out, const unsigned char *bytes, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4096];
	size_t used = 0;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		uint32_t group = (uint32_t)bytes[i] << 16;

		group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= left > 2 ? bytes[i + 2] : 0;
		text[used++] = digits[group >> 18];
		text[used++] = digits[group >> 12 & 63];
		text[used++] = '=';
		text[used++] = '=';
		if (left > 1)
			text[used - 2] = digits[group >> 6 & 63];
		if (left > 2)
			text[used - 1] = digits[group & 63];
		if (used == sizeof(text)) {
			fwrite(text, 1, used, out);
			used = 0;
		}
	}
	fwrite(text, 1, used, out);
}

/* One gzip member; its checksum detects damage. */
static unsigned char *compress_gzip(const unsigned char *bytes, size_t length, size_t *packed)
{
	z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)length};
	unsigned char *result;
	size_t bound;

	if (length > UINT32_MAX / 2 ||
	    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	bound = deflateBound(&stream, (uLong)length);
	result = malloc(bound);
	stream.next_out = result;
	stream.avail_out = (uInt)bound;
	deflate(&stream, Z_FINISH);
	*packed = stream.total_out;
	deflateEnd(&stream);
	return result;
}

static int put_element(FILE *out, const char *kind, const char *planes, uint64_t first,
		       uint32_t rows, const unsigned char *bytes, size_t length)
{
	size_t packed_bytes = 0;
	unsigned char *packed = compress_gzip(bytes, length, &packed_bytes);

	fprintf(out,
		"<script type=application/octet-stream data-k=%s data-f=%" PRIu64
		" data-n=%u data-p=%s>",
		kind, first, rows, planes);
	put_base64(out, packed, packed_bytes);
	fputs("</script>\n", out);
	free(packed);
	return 0;
}

int gp_html_put_text(FILE *out, const char *kind, const char *bytes, size_t length)
{
	return put_element(out, kind, "0", 0, 0, (const unsigned char *)bytes, length);
}

int gp_html_columns_open(struct gp_html_columns *columns, FILE *out, const char *kind,
			 uint32_t width)
{
	*columns = (struct gp_html_columns){.out = out, .kind = kind, .width = width};
	columns->values = malloc((size_t)GP_HTML_BLOCK * width * sizeof(*columns->values));
	return 0;
}

static uint32_t count_planes(const uint64_t *values, uint32_t count)
{
	uint64_t all = 0;
	uint32_t planes = 0;

	for (uint32_t i = 0; i < count; i++)
		all |= values[i];
	while (planes < VALUE_BYTES && all >> (8 * planes) > 0)
		planes++;
	return planes;
}

static unsigned char *put_planes(unsigned char *at, const uint64_t *values, uint32_t count,
				 uint32_t planes)
{
	for (uint32_t plane = 0; plane < planes; plane++)
		for (uint32_t i = 0; i < count; i++)
			*at++ = (unsigned char)(values[i] >> (8 * plane));
	return at;
}

static void flush(struct gp_html_columns *columns)
{
	unsigned char *bytes = malloc((size_t)columns->used * columns->width * VALUE_BYTES + 1);
	unsigned char *end = bytes;
	char words[4 * GP_HTML_COLUMNS_MOST] = "";
	size_t used = 0;

	for (uint32_t column = 0; column < columns->width; column++) {
		const uint64_t *values = columns->values + (size_t)column * GP_HTML_BLOCK;
		uint32_t planes = count_planes(values, columns->used);

		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%u",
					 column > 0 ? "," : "", planes);
		end = put_planes(end, values, columns->used, planes);
	}
	put_element(columns->out, columns->kind, words, columns->rows - columns->used,
		    columns->used, bytes, (size_t)(end - bytes));
	free(bytes);
	columns->blocks++;
	columns->used = 0;
}

static bool is_full(const struct gp_html_columns *columns)
{
	return columns->used == GP_HTML_BLOCK || (columns->used >= GP_HTML_BLOCK_FIRST &&
						  columns->used >= columns->rows - columns->used);
}

void gp_html_columns_add(struct gp_html_columns *columns, const uint64_t *row)
{
	for (uint32_t i = 0; i < columns->width; i++)
		columns->values[(size_t)i * GP_HTML_BLOCK + columns->used] =
			row[i] & ((UINT64_C(1) << VALUE_BITS) - 1);
	columns->rows++;
	columns->used++;
	if (is_full(columns))
		flush(columns);
}

int gp_html_columns_close(struct gp_html_columns *columns)
{
	if (columns->used > 0)
		flush(columns);
	free(columns->values);
	columns->values = NULL;
	return 0;
}
