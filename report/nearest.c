#include "report/nearest.h"

#include <stdbool.h>
#include <string.h>

#define MOST_LETTERS 40u /* longer words are near to nothing */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One more letter of a; rows[0] becomes the distances of what a has by then to each beginning of b. */
static void take_letter(size_t rows[3][MOST_LETTERS + 1], const char *a, size_t at, const char *b)
{
	memmove(rows[1], rows[0], 2 * sizeof(rows[0]));
	rows[0][0] = at + 1;
	for (size_t j = 0; b[j] != '\0'; j++) {
		size_t changed = rows[1][j] + (a[at] != b[j]);
		bool swapped = at > 0 && j > 0 && a[at] == b[j - 1] && a[at - 1] == b[j];

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

void gp_nearest_try(struct gp_nearest *nearest, const char *known)
{
	size_t length = strlen(nearest->word), most = length < 3 ? 1 : length / 3, distance;

	if (length < 2 || length > MOST_LETTERS || strlen(known) > MOST_LETTERS)
		return;
	distance =
		strncmp(known, nearest->word, length) == 0 ? 1 : distance_of(nearest->word, known);
	if (distance > most || (nearest->found && distance >= nearest->distance))
		return;
	nearest->found = known;
	nearest->distance = distance;
}
