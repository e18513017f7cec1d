/* shell_word: names of files as a shell takes them, for the commands that messages tell the user to type. */
#ifndef GPUPROF_SHELL_WORD_H
#define GPUPROF_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Room for most paths; where it is too small, the path is given as it is. */
#define GP_SHELL_WORD_BYTES 1024

static inline bool gp_shell_is_plain(const char *text)
{
	return *text != '\0' && *text != '~' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "_@%+=:,./~-")] == '\0';
}

/*
 * Text as one word of a command line: itself if no shell sees anything in it, else in single quotes, in word.  Returns
 * text where the quoted one needs more bytes than there are.
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
