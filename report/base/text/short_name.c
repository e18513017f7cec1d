#include "report/base/text/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Longer names lose their inner template arguments first, so that the search for the longest list
 * stays short.
 */
#define LONG_NAME 1024

static void cut(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

/* ---- unnamed namespaces ---- */

static const char *const unnamed[] = {"(anonymous namespace)::", "<unnamed>::"};

/*
 * The length of an unnamed namespace, with its "::", at the beginning of text; 0 if there is none.
 */
static size_t unnamed_length(const char *text)
{
	const char *end;

	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++)
		if (strncmp(text, unnamed[i], strlen(unnamed[i])) == 0)
			return strlen(unnamed[i]);
	if (strncmp(text, "_INTERNAL_", 10) != 0 && strncmp(text, "_GLOBAL__N_", 11) != 0)
		return 0;
	for (end = text; isalnum((unsigned char)*end) || *end == '_'; end++)
		;
	return strncmp(end, "::", 2) == 0 ? (size_t)(end - text) + 2 : 0;
}

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

static void drop_unnamed(char *name)
{
	char *to = name;

	for (const char *from = name; *from;) {
		bool begins = from == name || !is_name_character(from[-1]);
		size_t length = begins ? unnamed_length(from) : 0;

		if (length > 0)
			from += length;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* ---- brackets ---- */

/*
 * The characters after "operator" that are its name and no bracket: the '<' of operator<, the "()"
 * of operator().
 */
static size_t operator_length(const char *text)
{
	static const char *const operators[] = {"<<=", ">>=", "<=>", "->*", "()", "[]", "<<",
						">>",  "<=",  ">=",  "->",  "<",  ">"};

	if (strncmp(text, "operator", 8) != 0 || is_name_character(text[8]))
		return 0;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (strncmp(text + 8, operators[i], strlen(operators[i])) == 0)
			return 8 + strlen(operators[i]);
	return 8;
}

/* The length of an operator's name or an arrow at this place; neither has brackets to count. */
static size_t opaque_length(const char *name, size_t at)
{
	if (name[at] != '-' && name[at] != 'o') /* the common case is fast */
		return 0;
	if (strncmp(name + at, "->", 2) == 0)
		return 2;
	if (at > 0 && is_name_character(name[at - 1]))
		return 0;
	return operator_length(name + at);
}

/*
 * The bracket depth of a scan. '<' and '>' count only while no other bracket is open inside them:
 * between parentheses they may be comparisons.
 */
struct depth {
	unsigned round; /* ( [ { */
	unsigned angle; /* '<' outside of those */
};

static void step(struct depth *d, char c)
{
	if (c == '(' || c == '[' || c == '{')
		d->round++;
	else if ((c == ')' || c == ']' || c == '}') && d->round > 0)
		d->round--;
	else if (c == '<' && d->round == 0)
		d->angle++;
	else if (c == '>' && d->round == 0 && d->angle > 0)
		d->angle--;
}

static bool is_outside(const struct depth *d)
{
	return d->round == 0 && d->angle == 0;
}

/* ---- return type and parameters ---- */

/* Whether " const::" follows the parameters of a function, so that the name goes on after it. */
static bool is_within(const char *text, size_t at)
{
	return at > 0 && text[at - 1] == ')' &&
	       (strncmp(text + at, " const::", 8) == 0 ||
		strncmp(text + at, " const &::", 10) == 0);
}

/*
 * Where the name itself begins and ends: after the last blank outside of brackets before the last
 * parameter list.
 */
static void find_name(const char *text, size_t *begin, size_t *end)
{
	struct depth depth = {0};
	size_t blank = 0, length = strlen(text);

	*begin = 0;
	*end = length;
	for (size_t at = 0; at < length;) {
		size_t opaque = opaque_length(text, at);

		if (opaque > 0) {
			at += opaque;
			/* the type of a conversion belongs to the name: "operator bool" */
			while (opaque == 8 && text[at] == ' ')
				at++;
			continue;
		}
		if (text[at] == ' ' && is_outside(&depth) && !is_within(text, at))
			blank = at + 1;
		if (text[at] == '(' && is_outside(&depth) && at > blank) {
			*begin = blank;
			*end = at;
		}
		step(&depth, text[at++]);
	}
}

/*
 * A function within a function has two parameter lists; the text after the first is part of the
 * name.
 */
static void keep_name_only(char *text)
{
	size_t begin, end;

	find_name(text, &begin, &end);
	text[end] = '\0';
	cut(text, text + begin);
}

/* ---- template arguments ---- */

/* A list of template arguments, without its brackets. */
struct list {
	size_t begin, end;
};

static size_t length_of(const struct list *list)
{
	return list->end - list->begin;
}

static bool is_worth_dropping(const struct list *list)
{
	return length_of(list) > strlen("...");
}

/* Replaces the lists of template arguments nested deeper than `deepest`. */
static void drop_deep_lists(char *name, unsigned deepest)
{
	struct depth depth = {0};
	struct list list = {0};
	char *to = name;

	for (size_t at = 0, length = strlen(name), taken; at < length; at += taken) {
		size_t opaque = opaque_length(name, at);
		unsigned before = depth.angle;

		taken = opaque > 0 ? opaque : 1;
		if (opaque == 0)
			step(&depth, name[at]);
		if (before == deepest && depth.angle > deepest)
			list.begin = at + 1;
		list.end = at;
		if (before <= deepest) {
			memmove(to, name + at, taken);
			to += taken;
		} else if (depth.angle == deepest && is_worth_dropping(&list)) {
			to = stpcpy(to, "...");
			*to++ = '>';
		} else if (depth.angle == deepest) {
			memmove(to, name + list.begin, at + 1 - list.begin);
			to += at + 1 - list.begin;
		}
	}
	*to = '\0';
}

/* Finds the deepest nested list, the longest of several, in a name of at most LONG_NAME bytes. */
static bool find_deepest_list(const char *name, struct list *deepest)
{
	/* begins of the open lists; a name has fewer lists than characters */
	size_t begins[LONG_NAME];
	struct depth depth = {0};
	unsigned least = 1;

	*deepest = (struct list){0};
	for (size_t at = 0, length = strlen(name), taken; at < length; at += taken) {
		size_t opaque = opaque_length(name, at);
		unsigned before = depth.angle;

		taken = opaque > 0 ? opaque : 1;
		if (opaque == 0)
			step(&depth, name[at]);
		if (depth.angle > before && depth.angle < LONG_NAME) {
			begins[before] = at + 1;
		} else if (depth.angle < before && before < LONG_NAME) {
			struct list list = {begins[depth.angle], at};

			if (!is_worth_dropping(&list) || depth.angle < least)
				continue;
			if (depth.angle > least || length_of(&list) > length_of(deepest))
				*deepest = list;
			least = depth.angle;
		}
	}
	return deepest->end > 0;
}

/* The end of the template argument that begins at `at`, in a list that ends at `end`. */
static size_t end_of_argument(const char *name, size_t at, size_t end)
{
	struct depth depth = {0};

	while (at < end && !(name[at] == ',' && is_outside(&depth))) {
		size_t opaque = opaque_length(name, at);

		if (opaque == 0)
			step(&depth, name[at]);
		at += opaque > 0 ? opaque : 1;
	}
	return at < end ? at : end;
}

/*
 * Keeps only the arguments that have arguments themselves, with "..." for the others: "float,
 * Add<int>" becomes "..., Add<int>". Returns false if that does not shorten the list.
 */
static bool drop_plain_arguments(char *name, const struct list *list)
{
	char kept[2 * LONG_NAME + 8], *to = kept;
	bool dropped = false, any = false;

	for (size_t at = list->begin, end; at < list->end; at = end + strlen(", ")) {
		bool plain;

		end = end_of_argument(name, at, list->end);
		plain = !memchr(name + at, '<', end - at);
		any |= !plain;
		if (plain && dropped)
			continue;
		if (to != kept)
			to = stpcpy(to, ", ");
		to = plain ? stpcpy(to, "...") : mempcpy(to, name + at, end - at);
		dropped = plain;
	}
	if (!any || (size_t)(to - kept) >= length_of(list))
		return false;
	memcpy(name + list->begin, kept, (size_t)(to - kept));
	cut(name + list->begin + (to - kept), name + list->end);
	return true;
}

static void drop_deepest_lists(char *name, size_t columns)
{
	struct list list;

	while (strlen(name) > columns && find_deepest_list(name, &list)) {
		if (drop_plain_arguments(name, &list))
			continue;
		memcpy(name + list.begin, "...", 3);
		cut(name + list.begin + 3, name + list.end);
	}
}

/* Cuts the outermost list after the last argument that fits. */
static void drop_last_arguments(char *name, size_t columns)
{
	struct depth depth = {0};
	size_t fits = 0, length = strlen(name);

	if (length <= columns || name[length - 1] != '>')
		return;
	for (size_t at = 0, taken; at + strlen(", ...>") <= columns; at += taken) {
		size_t opaque = opaque_length(name, at);

		taken = opaque > 0 ? opaque : 1;
		if (opaque == 0)
			step(&depth, name[at]);
		if (name[at] == ',' && depth.angle == 1 && depth.round == 0)
			fits = at;
	}
	if (fits > 0)
		strcpy(name + fits, ", ...>");
}

/* ---- namespaces ---- */

/* The length of "namespace::" at the beginning of text; 0 if text does not begin with one. */
static size_t qualifier_length(const char *text)
{
	size_t length = 0;

	while (is_name_character(text[length]))
		length++;
	if (length == 0 || strncmp(text + length, "::", 2) != 0 ||
	    !is_name_character(text[length + 2]))
		return 0;
	return length + 2;
}

/* Drops the namespaces of names nested in at least `least_depth` lists of template arguments. */
static void drop_namespaces(char *name, unsigned least_depth)
{
	struct depth depth = {0};
	char *to = name;

	for (size_t at = 0, length = strlen(name), taken; at < length; at += taken) {
		bool begins = at == 0 || (!is_name_character(name[at - 1]) && name[at - 1] != ':');
		size_t opaque = opaque_length(name, at), dropped = 0;

		while (begins && opaque == 0 && depth.angle >= least_depth &&
		       (taken = qualifier_length(name + at + dropped)) > 0)
			dropped += taken;
		taken = dropped;
		if (dropped > 0)
			continue;
		taken = opaque > 0 ? opaque : 1;
		if (opaque == 0)
			step(&depth, name[at]);
		memmove(to, name + at, taken);
		to += taken;
	}
	*to = '\0';
}

/* ---- parameters of enclosing functions ---- */

/*
 * The end of the parameter list that begins at `open`, with a "const" after it; NULL if the list is
 * not closed.
 */
static const char *end_of_parameters(const char *open)
{
	unsigned round = 0;

	do {
		round += *open == '(';
		round -= *open == ')';
	} while (*open++ != '\0' && round > 0);
	if (round > 0)
		return NULL;
	return strncmp(open, " const::", 8) == 0 ? open + 6 : open;
}

/* "f(int)::{lambda(float)#1}" becomes "f::{lambda#1}". */
static void drop_inner_parameters(char *name)
{
	for (size_t at = 1; name[at - 1] != '\0' && name[at] != '\0'; at++) {
		size_t opaque = opaque_length(name, at);
		const char *end;

		if (opaque > 0) {
			at += opaque - 1;
			continue;
		}
		if (name[at] != '(' || !(is_name_character(name[at - 1]) || name[at - 1] == '>'))
			continue;
		end = end_of_parameters(name + at);
		if (end && (*end == '#' || strncmp(end, "::", 2) == 0))
			cut(name + at--, end);
	}
}

/* Joins "> >", which C++ needed before C++11. */
static void close_up(char *name)
{
	char *to = name;

	for (const char *from = name; *from; from++)
		if (!(*from == ' ' && from[1] == '>' && to > name && to[-1] == '>'))
			*to++ = *from;
	*to = '\0';
}

/* Drops the calls of nested lambdas: "f::{lambda#1}::operator()() const::{lambda#2}". */
static void drop_calls(char *name)
{
	static const char call[] = "}::operator()";

	for (char *at = name; (at = strstr(at, call)) != NULL; at++) {
		const char *end = at + strlen(call);

		if (*end == '(')
			end = end_of_parameters(end);
		if (end && strncmp(end, "::{", 3) == 0)
			cut(at + 1, end);
	}
}

/* The largest length up to `bytes` that cuts no UTF-8 character. */
static size_t whole_characters(const char *name, size_t bytes)
{
	while (bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static void cut_middle(char *name, size_t columns)
{
	size_t room = columns - strlen("..."), tail = room / 3;
	size_t head = whole_characters(name, room - tail);
	size_t from = strlen(name) - tail;

	while (((unsigned char)name[from] & 0xc0) == 0x80)
		from++;
	memcpy(name + head, "...", strlen("..."));
	cut(name + head + strlen("..."), name + from);
}

/*
 * Whether the name ends in its only template list, and its own part is short:
 * "Kernel2<cutlass_80_...>".
 */
static bool lives_by_its_list(const char *name, size_t columns)
{
	size_t own = strcspn(name, "<"), length = strlen(name);

	return own * 2 < columns && own + 1 < length && name[length - 1] == '>' &&
	       end_of_argument(name, own + 1, length - 1) == length - 1;
}

static void narrow(char *name, size_t columns)
{
	for (unsigned depth = 2; strlen(name) > columns && depth-- > 0;)
		drop_namespaces(name, depth);
	if (strlen(name) <= LONG_NAME)
		drop_deepest_lists(name, columns);
	drop_last_arguments(name, columns);
	if (strlen(name) <= columns)
		return;
	if (lives_by_its_list(name, columns))
		cut_middle(name, columns);
	else
		drop_deep_lists(name, 0);
}

void gp_short_name(char *demangled)
{
	gp_short_name_to(demangled, GP_SHORT_NAME_COLUMNS);
}

void gp_short_name_to(char *demangled, size_t columns)
{
	drop_unnamed(demangled);
	keep_name_only(demangled);
	for (unsigned deepest = 3;
	     strlen(demangled) > LONG_NAME && strlen(demangled) > columns && deepest-- > 1;)
		drop_deep_lists(demangled, deepest);
	close_up(demangled);
	if (strlen(demangled) > columns)
		drop_inner_parameters(demangled);
	if (strlen(demangled) > columns)
		drop_calls(demangled);
	narrow(demangled, columns);
}

/* ---- names within a text ---- */

/* The length of the name at the beginning of text, up to a blank outside of brackets. */
static size_t name_length(const char *text)
{
	struct depth depth = {0};
	size_t at = 0;

	while (text[at] != '\0' && !(text[at] == ' ' && is_outside(&depth))) {
		size_t opaque = opaque_length(text, at);

		if (opaque == 0)
			step(&depth, text[at]);
		at += opaque > 0 ? opaque : 1;
	}
	return at;
}

/* Whether the name has namespaces or template arguments to drop. */
static bool has_parts(const char *name)
{
	return is_name_character(name[0]) && !strchr(name, '\\') &&
	       (strstr(name, "::") || strchr(name, '<'));
}

/* Shortens the name at the beginning of text with `change`. */
static void change_name(char *text, void (*change)(char *name, size_t columns), size_t columns)
{
	size_t bytes = name_length(text);
	char *after = text + bytes, *name = strndup(text, bytes);

	if (name && has_parts(name)) {
		change(name, columns);
		memmove(stpcpy(text, name), after, strlen(after) + 1);
	}
	free(name);
}

void gp_short_name_narrow(char *text, size_t columns)
{
	size_t bytes = name_length(text), rest = strlen(text + bytes);

	if (bytes + rest > columns && columns > rest)
		change_name(text, narrow, columns - rest);
}

static void unqualify(char *name, size_t columns)
{
	(void)columns;
	drop_namespaces(name, 0);
}

void gp_short_name_unqualify(char *text)
{
	change_name(text, unqualify, 0);
}
