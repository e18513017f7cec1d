#include "report/base/text/did_you_mean.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MOST_LETTERS 40u /* no longer word is near to any other */

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Takes the next letter of a: rows[0] becomes the distances of a's letters so far to each beginning
 * of b.
 */
static void take_letter(size_t rows[3][MOST_LETTERS + 1], const char *a, size_t at, const char *b)
{
	memmove(rows[1], rows[0], 2 * sizeof(rows[0]));
	rows[0][0] = at + 1;
	for (size_t j = 0; b[j] != '\0'; j++) {
		size_t changed = rows[1][j] + !is_same(a[at], b[j]);
		bool swapped =
			at > 0 && j > 0 && is_same(a[at], b[j - 1]) && is_same(a[at - 1], b[j]);

		rows[0][j + 1] = least(changed, least(rows[0][j], rows[1][j + 1]) + 1);
		if (swapped)
			rows[0][j + 1] = least(rows[0][j + 1], rows[2][j - 1] + 1);
	}
}

static size_t distance_of(const char *a, const char *b)
{
	size_t rows[3][MOST_LETTERS + 1] = {{0}};
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		rows[0][j] = j;
	for (size_t i = 0; a[i] != '\0'; i++)
		take_letter(rows, a, i, b);
	return rows[0][length];
}

static size_t shared_beginning(const char *a, const char *b)
{
	size_t length = 0;

	while (a[length] != '\0' && is_same(a[length], b[length]))
		length++;
	return length;
}

/*
 * Of equally near words, prefer the one that shares more letters at the beginning, then the shorter
 * one.
 */
static bool is_nearer(const struct gp_did_you_mean *nearest, const char *known, size_t distance)
{
	size_t shared, found_shared;

	if (!nearest->found || distance != nearest->distance)
		return !nearest->found || distance < nearest->distance;
	shared = shared_beginning(nearest->word, known);
	found_shared = shared_beginning(nearest->word, nearest->found);
	return shared != found_shared ? shared > found_shared
				      : strlen(known) < strlen(nearest->found);
}

/* "mem" and "leak" of "memory-leak". */
static bool begins_or_is_last(const char *known, const char *word)
{
	size_t known_length = strlen(known), length = strlen(word);

	return strncasecmp(known, word, length) == 0 ||
	       (known_length > length && known[known_length - length - 1] == '-' &&
		strcasecmp(known + known_length - length, word) == 0);
}

void gp_did_you_mean_try(struct gp_did_you_mean *nearest, const char *known)
{
	size_t length = strlen(nearest->word), most = length < 3 ? 1 : length / 3, distance;

	if (length < 2 || length > MOST_LETTERS || strlen(known) > MOST_LETTERS)
		return;
	distance = begins_or_is_last(known, nearest->word) ? 1 : distance_of(nearest->word, known);
	if (distance > most || !is_nearer(nearest, known, distance))
		return;
	nearest->found = known;
	nearest->distance = distance;
}
