/*
 * did_you_mean: finds the known word that an unknown one was meant to be: commands, options and
 * their values, rules.
 *
 * 	struct gp_did_you_mean nearest = {.word = "sumary"};
 * 	for each known word:
 * 		gp_did_you_mean_try(&nearest, word);
 * 	if (nearest.found)
 * 		... did you mean nearest.found?
 */
#ifndef REPORT_BASE_TEXT_DID_YOU_MEAN_H
#define REPORT_BASE_TEXT_DID_YOU_MEAN_H

#include <stddef.h>

/* Set the word, and zero the rest. */
struct gp_did_you_mean {
	const char *word;
	const char *found; /* the nearest word so far; NULL = none is near */
	size_t distance;   /* of `found` */
};

/*
 * A known word is near if it takes at most one change for every three letters of the unknown one.
 * Changes are an extra, a missing or a wrong letter, and two swapped letters; a capital is none. A
 * known word that begins with the unknown one counts as one change, and so does "memory-leak" for
 * "leak". Of equally near words, the one with the longer shared beginning wins, then the shorter
 * one, then the first.
 */
void gp_did_you_mean_try(struct gp_did_you_mean *nearest, const char *known);

#endif
