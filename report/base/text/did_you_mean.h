/*
 * nearest: which of the known words was meant by one that is not known: of commands, options and
 * their values, rules.
 *
 *	struct gp_did_you_mean nearest = {.word = "sumary"};
 *	for each known word:
 *		gp_did_you_mean_try(&nearest, word);
 *	if (nearest.found)
 *		... did you mean nearest.found?
 */
#ifndef REPORT_BASE_TEXT_DID_YOU_MEAN_H
#define REPORT_BASE_TEXT_DID_YOU_MEAN_H

#include <stddef.h>

/* All but the word zeroed at the beginning. */
struct gp_did_you_mean {
	const char *word;
	const char *found; /* the nearest of those that were tried; NULL = none is near */
	size_t distance;   /* of found */
};

/*
 * Near is what takes few changes: letters too many, missing, wrong, or two that have changed
 * places; one for every three letters of the word.  What begins with the word takes one.  Of
 * equally near ones it is the one that begins more alike, then the shortest, then the first.
 */
void gp_did_you_mean_try(struct gp_did_you_mean *nearest, const char *known);

#endif
