#include "report/base/text/name_pattern.h"

#include <ctype.h>
#include <stdbool.h>

/*
 * A word of so many letters and digits with so many runs of digits is a hash, such as that of a
 * compiled graph: its digits are no numbers.
 */
#define HASH_BYTES   14u
#define HASH_NUMBERS 4u

static size_t word_bytes(const char *text)
{
	size_t bytes = 0;

	while (isalnum((unsigned char)text[bytes]))
		bytes++;
	return bytes;
}

static bool is_hash(const char *word, size_t bytes)
{
	size_t numbers = 0;

	for (size_t i = 0; i < bytes; i++)
		numbers += isdigit((unsigned char)word[i]) &&
			   (i == 0 || !isdigit((unsigned char)word[i - 1]));
	return bytes >= HASH_BYTES && numbers >= HASH_NUMBERS;
}

void gp_name_pattern(char *pattern, size_t bytes, const char *text)
{
	size_t used = 0, kept = 0; /* letters and digits that stay */
	bool is_in_word = false, is_in_number = false;

	for (; *text && used + 1 < bytes; text++) {
		bool is_digit = isdigit((unsigned char)*text);

		if (!is_in_word && isalnum((unsigned char)*text))
			kept = is_hash(text, word_bytes(text)) ? word_bytes(text) : 0;
		is_in_word = isalnum((unsigned char)*text);
		if (kept > 0 || !is_digit || !is_in_number)
			pattern[used++] = kept == 0 && is_digit ? '*' : *text;
		is_in_number = is_digit;
		kept -= kept > 0;
	}
	pattern[used] = '\0';
}
