#include "inject/pattern.h"

#include <string.h>

struct text {
	const char *start, *end;
};

/*
 * Whether a bracket expression like [a-z_] contains the character; *end is set behind it, NULL if
 * it is not closed.
 */
static bool set_has(struct text set, char character, const char **end)
{
	const char *at = set.start + 1;
	bool has = false;

	*end = NULL;
	for (; at < set.end && (*at != ']' || at == set.start + 1); at++) {
		if (at + 2 < set.end && at[1] == '-' && at[2] != ']') {
			has |= at[0] <= character && character <= at[2];
			at += 2;
		} else {
			has |= *at == character;
		}
	}
	if (at < set.end)
		*end = at + 1;
	return has;
}

/*
 * Whether one element of a pattern, except a star, matches a character; *next is set behind the
 * element.
 */
static bool element_matches(struct text pattern, char character, const char **next)
{
	const char *end;
	bool has;

	*next = pattern.start + 1;
	if (*pattern.start == '?')
		return true;
	if (*pattern.start != '[')
		return *pattern.start == character;
	has = set_has(pattern, character, &end);
	if (end == NULL) /* an unclosed bracket stands for itself */
		return character == '[';
	*next = end;
	return has;
}

/* Backtracking to the last star is enough: everything before it has matched. */
static bool glob(struct text pattern, struct text name)
{
	struct text star = {NULL, NULL};
	const char *next;

	while (name.start < name.end) {
		if (pattern.start < pattern.end && *pattern.start == '*') {
			star = (struct text){++pattern.start, name.start};
		} else if (pattern.start < pattern.end &&
			   element_matches(pattern, *name.start, &next)) {
			pattern.start = next;
			name.start++;
		} else if (star.start != NULL) {
			pattern.start = star.start;
			name.start = ++star.end;
		} else {
			return false;
		}
	}
	while (pattern.start < pattern.end && *pattern.start == '*')
		pattern.start++;
	return pattern.start == pattern.end;
}

/* A match of either name is enough; the second may be empty, which means none. */
static bool list_matches(const char *list, struct text name, struct text plain)
{
	bool any_wanted = false, wanted = false;

	while (*list != '\0') {
		struct text pattern = {list, list + strcspn(list, ",")};
		bool excludes = *list == '!';
		bool matches;

		list = pattern.end + (*pattern.end == ',');
		pattern.start += excludes;
		if (pattern.start == pattern.end)
			continue;
		matches = glob(pattern, name) || (plain.start < plain.end && glob(pattern, plain));
		if (excludes && matches)
			return false;
		any_wanted |= !excludes;
		wanted |= !excludes && matches;
	}
	return wanted || !any_wanted;
}

static struct text text_of(const char *text)
{
	return (struct text){text, text + strlen(text)};
}

bool gp_pattern_matches_one(const char *pattern, size_t pattern_length, const char *name)
{
	return glob((struct text){pattern, pattern + pattern_length}, text_of(name));
}

bool gp_pattern_matches(const char *list, const char *name)
{
	return list_matches(list, text_of(name), (struct text){NULL, NULL});
}

/* <length><identifier> at *text, which is advanced; empty if there is none. */
static struct text take_identifier(struct text *text)
{
	struct text identifier = {text->start, text->start};
	size_t length = 0;

	while (text->start < text->end && *text->start >= '0' && *text->start <= '9' &&
	       length < (size_t)(text->end - text->start))
		length = length * 10 + (size_t)(*text->start++ - '0');
	if (length == 0 || length > (size_t)(text->end - text->start))
		return identifier;
	identifier.start = text->start;
	identifier.end = text->start += length;
	return identifier;
}

/*
 * Kernels are functions of a namespace, never members, so the plain name is the last identifier
 * before template arguments and parameters: _Z [N] [L] (<length><identifier>)...
 */
static struct text plain_name(struct text mangled)
{
	struct text last = {NULL, NULL}, next;
	bool nested;

	if (mangled.end - mangled.start < 4 || memcmp(mangled.start, "_Z", 2) != 0)
		return last;
	mangled.start += 2;
	nested = *mangled.start == 'N';
	mangled.start += nested;
	do {
		mangled.start += mangled.start < mangled.end && *mangled.start == 'L';
		next = take_identifier(&mangled);
		if (next.start < next.end)
			last = next;
	} while (nested && next.start < next.end);
	return last;
}

bool gp_pattern_matches_function(const char *list, const char *mangled)
{
	struct text name = text_of(mangled);

	return list_matches(list, name, plain_name(name));
}
