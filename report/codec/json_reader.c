#include "report/codec/json_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u * 1024)

#define NO_MARK SIZE_MAX

/* The tokens that are valid next. */
enum expected { VALUE, VALUE_OR_END, KEY_OR_END, MORE, NOTHING };

struct gp_json_reader {
	ssize_t (*read)(void *context, void *buffer, size_t bytes);
	void *context;
	size_t at, end; /* in buffer */
	size_t mark;    /* where gp_json_reader_resume() begins, in buffer; NO_MARK = at */
	int error;
	bool is_resumed; /* the next token is the key that was found */
	enum expected expected;
	enum gp_json_reader_token last; /* GP_JSON_END and later values are final */
	uint32_t depth;
	bool is_object[GP_JSON_DEPTH];
	size_t text_bytes;
	char text[GP_JSON_TEXT_BYTES + 1];
	uint8_t buffer[BUFFER_BYTES];
};

struct gp_json_reader *
gp_json_reader_new(ssize_t (*read)(void *context, void *buffer, size_t bytes), void *context)
{
	struct gp_json_reader *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	memset(p, 0, offsetof(struct gp_json_reader, buffer));
	p->read = read;
	p->context = context;
	p->mark = NO_MARK;
	return p;
}

void gp_json_reader_free(struct gp_json_reader *p)
{
	free(p);
}

/* Moves the bytes from the mark on to the beginning; drops a mark that leaves no space. */
static void keep_marked(struct gp_json_reader *p)
{
	bool is_kept = p->mark <= p->end && p->end - p->mark < BUFFER_BYTES;
	size_t kept = is_kept ? p->end - p->mark : 0;

	memmove(p->buffer, p->buffer + p->end - kept, kept);
	p->mark = is_kept ? 0 : NO_MARK;
	p->at = p->end = kept;
}

static bool refill(struct gp_json_reader *p)
{
	ssize_t got;

	if (p->error != 0)
		return false;
	keep_marked(p);
	got = p->read(p->context, p->buffer + p->end, BUFFER_BYTES - p->end);
	if (got < 0)
		p->error = (int)got;
	if (got <= 0)
		return false;
	p->end += (size_t)got;
	return true;
}

/* The next byte, which is not consumed; -1 at the end. */
static int peek(struct gp_json_reader *p)
{
	return p->at < p->end || refill(p) ? p->buffer[p->at] : -1;
}

static int take(struct gp_json_reader *p)
{
	int byte = peek(p);

	if (byte >= 0)
		p->at++;
	return byte;
}

static int peek_after_space(struct gp_json_reader *p)
{
	int byte = peek(p);

	while (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
		p->at++;
		byte = peek(p);
	}
	return byte;
}

static enum gp_json_reader_token finish(struct gp_json_reader *p, enum gp_json_reader_token token)
{
	p->last = p->error != 0 ? GP_JSON_FAILED : token;
	return p->last;
}

/* Ends the input after an unexpected byte, or its early end. */
static enum gp_json_reader_token give_up(struct gp_json_reader *p, int byte)
{
	return finish(p, byte < 0 ? GP_JSON_CUT : GP_JSON_BAD);
}

/* ---- strings ---- */

static void put(struct gp_json_reader *p, const void *bytes, size_t count)
{
	size_t room = GP_JSON_TEXT_BYTES - p->text_bytes;

	if (count > room)
		count = room;
	memcpy(p->text + p->text_bytes, bytes, count);
	p->text_bytes += count;
}

static void put_code_point(struct gp_json_reader *p, uint32_t code)
{
	uint8_t bytes[4];

	if (code < 0x80) {
		bytes[0] = (uint8_t)code;
		put(p, bytes, 1);
	} else if (code < 0x800) {
		bytes[0] = (uint8_t)(0xc0 | code >> 6);
		bytes[1] = (uint8_t)(0x80 | (code & 0x3f));
		put(p, bytes, 2);
	} else if (code < 0x10000) {
		bytes[0] = (uint8_t)(0xe0 | code >> 12);
		bytes[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (uint8_t)(0x80 | (code & 0x3f));
		put(p, bytes, 3);
	} else {
		bytes[0] = (uint8_t)(0xf0 | code >> 18);
		bytes[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
		bytes[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		bytes[3] = (uint8_t)(0x80 | (code & 0x3f));
		put(p, bytes, 4);
	}
}

static int hex_digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* Takes the four digits of a \u escape; negative if they are not hexadecimal. */
static int32_t take_unit(struct gp_json_reader *p)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(peek(p));

		if (digit < 0)
			return -1;
		p->at++;
		unit = unit * 16 + digit;
	}
	return unit;
}

#define REPLACEMENT 0xfffdu /* in place of an invalid character */

/* A lone surrogate and NUL are not valid characters. */
static bool take_unicode(struct gp_json_reader *p)
{
	int32_t unit = take_unit(p), low;

	while (unit >= 0xd800 && unit < 0xdc00 && peek(p) == '\\') {
		p->at++;
		if (peek(p) != 'u') {
			put_code_point(p, REPLACEMENT);
			return false;
		}
		p->at++;
		low = take_unit(p);
		if (low >= 0xdc00 && low < 0xe000) {
			put_code_point(p, 0x10000u + ((uint32_t)(unit - 0xd800) << 10) +
						  (uint32_t)(low - 0xdc00));
			return true;
		}
		put_code_point(p, REPLACEMENT);
		unit = low;
	}
	if (unit < 0)
		return false;
	put_code_point(p, unit == 0 || (unit >= 0xd800 && unit < 0xe000) ? REPLACEMENT
									 : (uint32_t)unit);
	return true;
}

/* A backslash before any other character stands for itself: an unescaped path of Windows. */
static bool take_escape(struct gp_json_reader *p)
{
	static const char codes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	int byte = peek(p);
	const char *code = byte > 0 ? strchr(codes, byte) : NULL;

	if (code || byte == 'u')
		p->at++;
	if (byte == 'u' && hex_digit(peek(p)) >= 0)
		return take_unicode(p);
	put(p, code ? &meanings[code - codes] : "\\u", byte == 'u' ? 2 : 1);
	return byte > 0;
}

/* The number of bytes that stand for themselves. */
static size_t count_plain(const uint8_t *bytes, size_t count)
{
	size_t i = 0;

	while (i < count && bytes[i] != '"' && bytes[i] != '\\' && bytes[i] != '\0')
		i++;
	return i;
}

/* Reads from the opening to the closing quote. */
static bool take_string(struct gp_json_reader *p)
{
	p->text_bytes = 0;
	for (;;) {
		int byte = peek(p);
		size_t plain = byte < 0 ? 0 : count_plain(p->buffer + p->at, p->end - p->at);

		put(p, p->buffer + p->at, plain);
		p->at += plain;
		byte = plain > 0 ? peek(p) : byte;
		if (byte == '"') {
			p->at++;
			p->text[p->text_bytes] = '\0';
			return true;
		}
		if (byte == '\\') {
			p->at++;
			if (!take_escape(p))
				return false;
		} else if (byte <= 0) {
			return false;
		}
	}
}

static bool is_of_word(int byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '.' || byte == '-' || byte == '+';
}

static bool is_number(const char *text)
{
	return (text[0] >= '0' && text[0] <= '9') ||
	       (text[0] == '-' && text[1] >= '0' && text[1] <= '9');
}

/* Takes a number or a word; a truncated one is an error. */
static enum gp_json_reader_token take_word(struct gp_json_reader *p)
{
	int byte = peek(p);

	p->text_bytes = 0;
	for (; is_of_word(byte); byte = peek(p)) {
		uint8_t one = (uint8_t)byte;

		put(p, &one, 1);
		p->at++;
	}
	p->text[p->text_bytes] = '\0';
	if (byte < 0 || p->text_bytes == 0)
		return give_up(p, byte);
	p->expected = p->depth > 0 ? MORE : NOTHING;
	return is_number(p->text) ? GP_JSON_NUMBER : GP_JSON_WORD;
}

/* ---- objects and arrays ---- */

static enum gp_json_reader_token open(struct gp_json_reader *p, bool is_object)
{
	if (p->depth == GP_JSON_DEPTH)
		return finish(p, GP_JSON_BAD);
	p->at++;
	p->is_object[p->depth++] = is_object;
	p->expected = is_object ? KEY_OR_END : VALUE_OR_END;
	return is_object ? GP_JSON_OBJECT : GP_JSON_ARRAY;
}

static enum gp_json_reader_token close(struct gp_json_reader *p, int byte)
{
	bool is_object = byte == '}';

	if (p->depth == 0 || p->is_object[p->depth - 1] != is_object)
		return finish(p, GP_JSON_BAD);
	p->at++;
	p->depth--;
	p->expected = p->depth > 0 ? MORE : NOTHING;
	return is_object ? GP_JSON_OBJECT_END : GP_JSON_ARRAY_END;
}

static enum gp_json_reader_token take_key(struct gp_json_reader *p)
{
	p->at++;
	if (!take_string(p))
		return give_up(p, peek(p));
	if (peek_after_space(p) != ':')
		return give_up(p, peek(p));
	p->at++;
	p->expected = VALUE;
	return GP_JSON_KEY;
}

static enum gp_json_reader_token take_value(struct gp_json_reader *p, int byte)
{
	if (byte == '{' || byte == '[')
		return open(p, byte == '{');
	if (byte != '"')
		return take_word(p);
	p->at++;
	if (!take_string(p))
		return give_up(p, peek(p));
	p->expected = p->depth > 0 ? MORE : NOTHING;
	return GP_JSON_STRING;
}

enum gp_json_reader_token gp_json_reader_next(struct gp_json_reader *p)
{
	int byte;

	if (p->last >= GP_JSON_END)
		return p->last;
	if (p->is_resumed) {
		p->is_resumed = false;
		return GP_JSON_KEY;
	}
	if (p->expected == NOTHING)
		return finish(p, GP_JSON_END);
	byte = peek_after_space(p);
	if (p->expected == MORE && byte == ',') {
		p->at++;
		p->expected = p->is_object[p->depth - 1] ? KEY_OR_END : VALUE_OR_END;
		byte = peek_after_space(p);
	}
	if ((byte == '}' || byte == ']') && p->expected != VALUE)
		return close(p, byte);
	if (p->expected == KEY_OR_END && byte == '"')
		return take_key(p);
	if (p->expected == VALUE || p->expected == VALUE_OR_END)
		return byte < 0 ? give_up(p, byte) : take_value(p, byte);
	return give_up(p, byte);
}

/* ---- damaged input ---- */

void gp_json_reader_mark(struct gp_json_reader *p)
{
	p->mark = p->at;
}

uint32_t gp_json_reader_depth(const struct gp_json_reader *p)
{
	return p->depth;
}

/* Takes a bracket's first key with its colon; false: something else stands there. */
static bool take_first_key(struct gp_json_reader *p)
{
	if (peek_after_space(p) != '"')
		return false;
	p->at++;
	for (p->text_bytes = 0; is_of_word(peek(p)); p->at++)
		put(p, &p->buffer[p->at], 1);
	p->text[p->text_bytes] = '\0';
	if (peek(p) != '"')
		return false;
	p->at++;
	return peek_after_space(p) == ':';
}

bool gp_json_reader_resume(struct gp_json_reader *p, uint32_t depth,
			   bool (*is_key)(const char *key))
{
	int before = 0;

	if (p->last != GP_JSON_BAD)
		return false;
	p->at = p->mark != NO_MARK ? p->mark : p->at;
	p->mark = NO_MARK;
	for (int byte = take(p); byte >= 0; byte = take(p)) {
		if (byte == '{' && before == ',' && take_first_key(p) && is_key(p->text)) {
			p->at++;
			p->depth = depth;
			p->is_object[depth - 1] = true;
			p->expected = VALUE;
			p->last = GP_JSON_KEY;
			p->is_resumed = true;
			return true;
		}
		if (byte > ' ')
			before = byte;
	}
	finish(p, before == '}' || before == ']' ? GP_JSON_END : GP_JSON_CUT);
	return false;
}

bool gp_json_reader_skip(struct gp_json_reader *p, enum gp_json_reader_token token)
{
	uint32_t depth = p->depth;

	if (token == GP_JSON_KEY) {
		token = gp_json_reader_next(p);
		depth = p->depth;
	}
	if (token == GP_JSON_OBJECT || token == GP_JSON_ARRAY)
		while (p->depth >= depth && gp_json_reader_next(p) < GP_JSON_END)
			;
	return p->last < GP_JSON_END;
}

const char *gp_json_reader_text(const struct gp_json_reader *p, size_t *bytes)
{
	*bytes = p->text_bytes;
	return p->text;
}

bool gp_json_reader_is(const struct gp_json_reader *p, const char *text)
{
	return strcmp(p->text, text) == 0;
}

/* ---- numbers ---- */

bool gp_json_reader_whole(const struct gp_json_reader *p, int64_t *number)
{
	if (!is_number(p->text))
		return false;
	if (p->text[strcspn(p->text, "eE")] != '\0') {
		double value = strtod(p->text, NULL);

		*number = value >= 0x1p63    ? INT64_MAX
			  : value <= -0x1p63 ? INT64_MIN
					     : (int64_t)value;
	} else if (p->text[0] == '-') {
		*number = strtoll(p->text, NULL, 10);
	} else {
		*number = (int64_t)strtoull(p->text, NULL, 10);
	}
	return true;
}

/* value * 10^power, rounded; INT64_MAX if it is larger. */
static int64_t scaled(uint64_t value, long power)
{
	for (; power > 0 && value > 0 && value <= INT64_MAX / 10; power--)
		value *= 10;
	for (; power < -1 && value > 0; power++)
		value /= 10;
	value = power == -1 ? (value + 5) / 10 : value;
	return value > INT64_MAX || (power > 0 && value > 0) ? INT64_MAX : (int64_t)value;
}

/* The sum, INT64_MAX at most. */
static int64_t added(int64_t whole, uint64_t part)
{
	return part > (uint64_t)(INT64_MAX - whole) ? INT64_MAX : whole + (int64_t)part;
}

bool gp_json_reader_thousandths(const struct gp_json_reader *p, int64_t *thousandths)
{
	const char *at = p->text + (p->text[0] == '-');
	uint64_t digits = 0;
	bool is_fraction = false;
	long power = 3;

	if (!is_number(p->text))
		return false;
	for (; (*at >= '0' && *at <= '9') || (*at == '.' && !is_fraction); at++) {
		bool is_kept = *at != '.' && digits < UINT64_MAX / 10 - 1;

		if (is_kept)
			digits = digits * 10 + (uint64_t)(*at - '0');
		if (*at == '.')
			is_fraction = true;
		else
			power += !is_kept - is_fraction;
	}
	if (is_fraction && *at == '-') {
		*thousandths = -added(scaled(digits, 3), strtoull(at + 1, NULL, 10));
		return true;
	}
	if (*at == 'e' || *at == 'E') {
		long exponent = strtol(at + 1, NULL, 10);

		power += exponent > 999 ? 999 : exponent < -999 ? -999 : exponent;
	}
	*thousandths = p->text[0] == '-' ? -scaled(digits, power) : scaled(digits, power);
	return true;
}

int gp_json_reader_error(const struct gp_json_reader *p)
{
	return p->error;
}
