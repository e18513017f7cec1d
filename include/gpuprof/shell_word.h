/* shell_word: quotes file names for the commands that messages tell the user to type. */
#ifndef GPUPROF_SHELL_WORD_H
#define GPUPROF_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Enough for most paths; a path that needs more is left unquoted. */
#define GP_SHELL_WORD_BYTES 1024

static inline bool gp_shell_is_plain(const char *text)
{
	return *text != '\0' && *text != '~' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "_@%+=:,./~-")] == '\0';
}

/*
 * The text as one word of a command line: the text itself if no shell interprets any character of
 * it, else the text in single quotes, in `word`.  Returns `text` if the quoted form does not fit.
 */
static inline const char *gp_shell_word(const char *text, char *word, size_t bytes)
{
	size_t used = 0;

	if (gp_shell_is_plain(text) || bytes < sizeof("''"))
		return text;
	word[used++] = '\'';
	for (const char *at = text; *at != '\0'; at++) {
		const char one[] = {*at, '\0'}, *piece = *at == '\'' ? "'\\''" : one;
		size_t length = strlen(piece);

		if (used + length + sizeof("'") > bytes)
			return text;
		memcpy(word + used, piece, length);
		used += length;
	}
	memcpy(word + used, "'", sizeof("'"));
	return word;
}

#endif
