#include "report/codec/json_write.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/background_writer.h"
#include "report/base/text/utf8.h"

#define BUFFER_BYTES     (1u << 19) /* fits into the CPU's caches */
#define PIECE_BYTES      4096u
#define MAX_DIGITS       20
#define STRING_PART      1024u /* bytes of a string escaped at a time; each takes at most six */
#define REPLACEMENT      "\xef\xbf\xbd"
#define REPLACEMENT_SIZE 3

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

int gp_json_open(struct gp_json *json, FILE *out)
{
	*json = (struct gp_json){.out = out, .capacity = out ? BUFFER_BYTES : GP_JSON_RESERVE};
	json->buffer = malloc(json->capacity);
	return 0;
}

/*
 * Output of more than two buffers is probably large: a thread writes the buffers while the next one
 * is filled.
 */
static void start_background_writer(struct gp_json *json)
{
	if (json->writes < 2 && ++json->writes == 2)
		json->behind = gp_background_writer_begin(json->out, BUFFER_BYTES);
}

/* Keeps errno for the caller of gp_json_close(). */
static void note_failure(struct gp_json *json, int error)
{
	if (error == 0)
		return;
	json->error = -EIO;
	errno = error;
}

static void flush(struct gp_json *json)
{
	start_background_writer(json);
	if (json->error == 0 && json->behind) {
		json->buffer = gp_background_writer_give(json->behind, json->buffer, json->used);
		note_failure(json, gp_background_writer_error(json->behind));
	} else if (json->error == 0 &&
		   fwrite(json->buffer, 1, json->used, json->out) != json->used) {
		json->error = -EIO;
	}
	json->used = 0;
	if (json->progress)
		json->progress(json->progress_context);
}

/* Without memory the text so far is dropped; the error marks the whole output as invalid. */
static void grow(struct gp_json *json, size_t bytes)
{
	size_t capacity = 2 * json->capacity + bytes;
	char *buffer = realloc(json->buffer, capacity);

	if (buffer) {
		json->buffer = buffer;
		json->capacity = capacity;
	} else {
		json->error = -ENOMEM;
		json->used = 0;
	}
}

void gp_json_make_room(struct gp_json *json, size_t bytes)
{
	if (json->out)
		flush(json);
	else
		grow(json, bytes);
}

int gp_json_close(struct gp_json *json)
{
	if (json->out && json->buffer)
		flush(json);
	if (json->behind)
		note_failure(json, gp_background_writer_end(json->behind));
	json->behind = NULL;
	if (json->out && json->error == 0 && fflush(json->out) != 0)
		json->error = -EIO;
	free(json->buffer);
	json->buffer = NULL;
	return json->error;
}

void gp_json_bytes_in_parts(struct gp_json *json, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t part = length < PIECE_BYTES ? length : PIECE_BYTES;

		gp_json_reserve(json, part);
		memcpy(json->buffer + json->used, bytes, part);
		json->used += part;
		bytes += part;
		length -= part;
	}
}

/* Writes at most six bytes. */
static char *escape_ascii(char *out, char c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		*out++ = '\\';
		*out++ = c;
	} else if ((unsigned char)c < 0x20 || c == 0x7f) {
		out = stpcpy(out, "\\u00");
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	} else {
		*out++ = c;
	}
	return out;
}

/*
 * Escapes an invisible character, so that a terminal shows it. JSON can escape characters beyond
 * U+FFFF only as two surrogates, and Perfetto's parser refuses files with surrogates. They become
 * the text that a terminal gets instead (report/base/text/text.h).
 */
static char *escape_hidden(char *out, uint32_t code)
{
	return out + sprintf(out, code < 0x10000 ? "\\u%04x" : "\\\\u{%x}", (unsigned int)code);
}

/*
 * Escapes whole characters from the start of text until `part` bytes are done. Returns the bytes
 * taken.
 */
static size_t escape_part(struct gp_json *json, const char *text, size_t length, size_t part)
{
	char *out = json->buffer + json->used;
	size_t at = 0;

	while (at < part) {
		uint32_t code;
		size_t bytes = gp_utf8_decode(text + at, length - at, &code);

		if (bytes == 1) {
			out = escape_ascii(out, text[at]);
		} else if (bytes == 0) {
			memcpy(out, REPLACEMENT, REPLACEMENT_SIZE);
			out += REPLACEMENT_SIZE;
			bytes = 1;
		} else if (gp_utf8_is_hidden(code)) {
			out = escape_hidden(out, code);
		} else {
			memcpy(out, text + at, bytes);
			out += bytes;
		}
		at += bytes;
	}
	json->used = (size_t)(out - json->buffer);
	return at;
}

void gp_json_string(struct gp_json *json, const char *text, size_t length)
{
	gp_json_bytes(json, "\"", 1);
	while (length > 0) {
		size_t part = length < STRING_PART ? length : STRING_PART;

		gp_json_reserve(json, 6 * part + 12);
		part = escape_part(json, text, length, part);
		text += part;
		length -= part;
	}
	gp_json_bytes(json, "\"", 1);
}

static unsigned digits_of(uint64_t value)
{
	unsigned digits = 1;

	for (; value >= 10000; value /= 10000)
		digits += 4;
	return digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes the digits so that they end before `end`. */
static void put_digits(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value < 10)
		end[-1] = (char)('0' + value);
	else
		memcpy(end - 2, digit_pairs + 2 * value, 2);
}

void gp_json_key(struct gp_json *json, const char *key)
{
	gp_json_text(json, ",\"");
	gp_json_text(json, key);
	gp_json_text(json, "\":");
}

void gp_json_string_after(struct gp_json *json, const char *before, const char *text)
{
	gp_json_text(json, before);
	gp_json_string(json, text, strlen(text));
}

void gp_json_unsigned(struct gp_json *json, uint64_t value)
{
	gp_json_reserve(json, MAX_DIGITS);
	json->used += digits_of(value);
	put_digits(json->buffer + json->used, value);
}

void gp_json_signed(struct gp_json *json, int64_t value)
{
	if (value < 0)
		gp_json_bytes(json, "-", 1);
	gp_json_unsigned(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void gp_json_address(struct gp_json *json, uint64_t address)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "\"0x%llx\"", (unsigned long long)address);

	gp_json_bytes(json, text, (size_t)length);
}

/* Writes a point and the last `count` digits of value, with leading zeros. */
static void put_decimals(struct gp_json *json, uint32_t value, size_t count)
{
	char *text;

	gp_json_reserve(json, MAX_DIGITS);
	text = json->buffer + json->used;
	text[0] = '.';
	for (size_t i = count; i > 0; i--) {
		text[i] = (char)('0' + value % 10);
		value /= 10;
	}
	json->used += count + 1;
}

void gp_json_us(struct gp_json *json, uint64_t ns)
{
	gp_json_unsigned(json, ns / 1000);
	put_decimals(json, (uint32_t)(ns % 1000), 3);
}

void gp_json_ratio(struct gp_json *json, uint64_t numerator, uint64_t denominator)
{
	uint64_t rest = numerator % denominator;

	gp_json_unsigned(json, numerator / denominator);
	put_decimals(json, (uint32_t)((unsigned __int128)rest * 1000000 / denominator), 6);
}
