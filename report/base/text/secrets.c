#include "report/base/text/secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/base/memstream.h"

#define MASK "***"

/* ---- names ---- */

static bool ends_in(const char *name, size_t bytes, const char *ending)
{
	size_t length = strlen(ending);

	return bytes >= length && strncasecmp(name + bytes - length, ending, length) == 0;
}

/* Whether the name ends in that word: "api_key" and "apiKey" in "key", but not "monkey". */
static bool ends_in_word(const char *name, size_t bytes, const char *word)
{
	const char *at = name + bytes - strlen(word);

	return ends_in(name, bytes, word) &&
	       (at == name || !isalpha((unsigned char)at[-1]) || isupper((unsigned char)*at));
}

static bool has(const char *name, size_t bytes, const char *part)
{
	size_t length = strlen(part);

	for (; bytes >= length; name++, bytes--)
		if (strncasecmp(name, part, length) == 0)
			return true;
	return false;
}

/* "hf_token", but not "tokenizer", and no "tokens", which are counted. */
static bool is_secret(const char *name, size_t bytes)
{
	static const char *const parts[] = {"password", "passwd", "secret"};
	static const char *const endings[] = {
		"token",      "passphrase",  "apikey",    "accesskey", "authorization",
		"credential", "credentials", "signature", "cookie",    "bearer",
	};
	static const char *const words[] = {"key", "keys", "pass", "pwd", "auth", "sig"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has(name, bytes, parts[i]))
			return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends_in(name, bytes, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ends_in_word(name, bytes, words[i]))
			return true;
	return false;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* ---- one word ---- */

/* Prints the part of a text before its end, with quotes as they are. */
static const char *put(FILE *out, const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), out);
	return to;
}

/* The end of a value within a word. An opening quote is passed over first. */
static const char *end_of_value(const char *at, const char *end)
{
	char quote = at < end && (*at == '"' || *at == '\'') ? *at++ : '\0';

	while (at < end && (quote ? *at != quote : !strchr("&,;)}] \t\"'", *at)))
		at += quote && *at == '\\' && at + 1 < end ? 2 : 1;
	return at;
}

/* The value of a secret at `at`, which begins after "=" or ":"; NULL if there is none. */
static const char *find_value(const char *name, const char *at, const char *end)
{
	size_t bytes = (size_t)(at - name);

	if (at < end && (*at == '"' || *at == '\''))
		at++;
	while (at < end && *at == ' ')
		at++;
	if (at == end || (*at != '=' && *at != ':') || !is_secret(name, bytes))
		return NULL;
	for (at++; at < end && *at == ' '; at++)
		continue;
	return at < end ? at : NULL;
}

/* User and password of a URL, whose authority begins at `at`; NULL if it names none. */
static const char *end_of_user(const char *at, const char *end)
{
	const char *user = NULL;

	for (; at < end && !strchr("/?# '\"", *at); at++)
		if (*at == '@')
			user = at;
	return user;
}

/* "--token VALUE", "--token= VALUE": the next word is the value. */
static bool asks_for_secret(const char *word, const char *end)
{
	if (word < end && end[-1] == '=')
		end--;
	return word < end && *word == '-' && is_secret(word, (size_t)(end - word));
}

/* Prints a word; the value of an option that begins it ends with the word. */
static void put_word(FILE *out, const char *word, const char *end)
{
	const char *quote = word < end && *word == '\'' ? end - 1 : end;
	const char *start = word + strspn(word, "'-+"), *at = word;

	while (at < end) {
		const char *name = at, *value, *user;

		while (at < end && is_of_name(*at))
			at++;
		value = find_value(name, at, end);
		user = end - at > 3 && strncmp(at, "://", 3) == 0 ? end_of_user(at + 3, end) : NULL;
		if (value) {
			put(out, name, value);
			if (*value == '"' && value + 1 < end)
				fputc(*value, out);
			fputs(MASK, out);
			at = name <= start ? quote : end_of_value(value, end);
		} else if (user) {
			put(out, name, at + 3);
			fputs(MASK, out);
			at = user;
		} else if (at + 1 < end && *at == ' ' && asks_for_secret(name, at)) {
			put(out, name, at + 1); /* in a quoted command */
			fputs(MASK, out);
			at = end_of_value(at + 1, end);
		} else {
			at = put(out, name, at < end ? at + 1 : at);
		}
	}
}

/* ---- words ---- */

/* Of a word as a shell reads it: single quotes, and a backslash outside them. */
static const char *end_of_word(const char *at)
{
	bool is_quoted = false;

	for (; *at && (is_quoted || *at != ' '); at++) {
		if (*at == '\'')
			is_quoted = !is_quoted;
		else if (!is_quoted && *at == '\\' && at[1])
			at++;
	}
	return at;
}

char *gp_secrets_mask(const char *command)
{
	bool is_value = false;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	while (*command) {
		const char *end = end_of_word(command);

		if (is_value && strncmp(command, "--", 2) != 0 && end > command)
			fputs(MASK, out);
		else
			put_word(out, command, end);
		is_value = asks_for_secret(command, end);
		command = put(out, end, *end ? end + 1 : end);
	}
	if (gp_memstream_close(out, &text) == 0)
		return text;
	free(text);
	return NULL;
}
