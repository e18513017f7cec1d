#include "report/symbols/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/hash_map.h"
#include "report/symbols/demangle.h"
#include "report/base/text/elide.h"
#include "report/base/text/short_name.h"

#define DIFFERENCE_COLUMNS 150

struct gp_names {
	struct name **all;
	uint32_t count, capacity;
	struct gp_hash_map index; /* by mangled name */
};

struct name {
	char *mangled;
	char *full;
	char *brief;
};

static bool has_key(const void *all, uint32_t number, const void *mangled)
{
	return strcmp(((struct name *const *)all)[number]->mangled, mangled) == 0;
}

static void free_name(struct name *name)
{
	free(name->mangled);
	free(name->full);
	free(name->brief);
	free(name);
}

/* Whether the name was demangled by its recorder: "void map<int>(int*)". */
static bool is_demangled(const char *name)
{
	size_t length = strlen(name);
	char last = length > 0 ? name[length - 1] : '\0';

	if (strpbrk(name, "\"`")) /* C++ names contain neither */
		return false;
	return (last == ')' && strchr(name, '(')) || (last == '>' && strchr(name, '<'));
}

/* Shortens the name in place, but not to nothing. */
static void make_brief(char *name)
{
	char *whole = strdup(name);

	gp_short_name(name);
	if (*name == '\0' && whole)
		strcpy(name, whole);
	free(whole);
}

static struct name *make_name(const char *mangled)
{
	struct name *name = calloc(1, sizeof(*name));
	char *demangled = gp_demangle(mangled);

	if (!name) {
		free(demangled);
		return NULL;
	}
	name->mangled = strdup(mangled);
	name->full = demangled ? demangled : strdup(mangled);
	name->brief = demangled ? NULL : gp_demangle_beginning(mangled);
	if (!name->brief && name->full)
		name->brief = strdup(name->full);
	if (name->brief && (demangled || is_demangled(mangled)))
		make_brief(name->brief);
	if (name->mangled && name->full && name->brief)
		return name;
	free_name(name);
	return NULL;
}

/* Returns NULL if there is no memory. */
static const struct name *find(struct gp_names *names, const char *mangled)
{
	uint32_t hash = gp_hash_text(mangled);
	uint32_t found = gp_hash_find(&names->index, hash, has_key, names->all, mangled);
	struct name *made;

	if (found != GP_HASH_NONE)
		return names->all[found];
	made = make_name(mangled);
	if (!made)
		return NULL;
	if (gp_array_grow(&names->all, &names->capacity, names->count, sizeof(*names->all)) != 0 ||
	    gp_hash_add(&names->index, hash, names->count) != 0) {
		free_name(made);
		return NULL;
	}
	names->all[names->count++] = made;
	return made;
}

/* ---- equal short names ---- */

static int compare_briefs(const void *a, const void *b)
{
	const struct name *const *left = a, *const *right = b;
	int order = strcmp((*left)->brief, (*right)->brief);

	return order != 0 ? order : strcmp((*left)->mangled, (*right)->mangled);
}

/* Sets the short name and takes ownership; NULL changes nothing. */
static void set_brief(struct name *name, char *brief)
{
	if (!brief)
		return;
	free(name->brief);
	name->brief = brief;
}

static void widen(struct name *name, size_t columns)
{
	char *wider = strdup(name->full);

	gp_short_name_to(wider, columns);
	set_brief(name, wider);
}

/* Whether all short names differ. Names whose full names are equal cannot differ. */
static bool are_apart(struct name **found, size_t count)
{
	qsort(found, count, sizeof(*found), compare_briefs);
	for (size_t i = 1; i < count; i++)
		if (strcmp(found[i]->brief, found[i - 1]->brief) == 0 &&
		    strcmp(found[i]->full, found[i - 1]->full) != 0)
			return false;
	return true;
}

/*
 * For names that differ deep inside, such as CUTLASS names of ten thousand letters: shows the
 * beginning, and the place where they differ.
 */
static void show_differences(struct name **found, size_t count)
{
	const char **texts = calloc(count, sizeof(*texts));
	char **fitted = NULL;

	for (size_t i = 0; i < count; i++)
		widen(found[i], SIZE_MAX);
	for (size_t i = 0; i < count; i++)
		texts[i] = found[i]->brief;
	fitted = gp_elide(texts, count, 1, DIFFERENCE_COLUMNS);
	for (size_t i = 0; fitted && i < count; i++)
		set_brief(found[i], strdup(fitted[i]));
	if (fitted)
		gp_elide_free(fitted, count);
	free(texts);
}

/* Widens equal short names together until they differ. */
static void widen_until_apart(struct name **found, size_t count)
{
	static const size_t columns[] = {150, 250, 500};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (are_apart(found, count))
			return;
		for (size_t k = 0; k < count; k++)
			widen(found[k], columns[i]);
	}
	if (!are_apart(found, count))
		show_differences(found, count);
	if (are_apart(found, count))
		return;
	for (size_t i = 0; i < count; i++)
		set_brief(found[i], strdup(found[i]->full));
}

/* ---- static kernels with equal names in several files ---- */

static int compare_fulls(const void *a, const void *b)
{
	const struct name *const *left = a, *const *right = b;
	int order = strcmp((*left)->full, (*right)->full);

	return order != 0 ? order : strcmp((*left)->mangled, (*right)->mangled);
}

static void append_file(char **text, const char *file)
{
	char *longer;

	if (asprintf(&longer, "%s (%s)", *text, file) < 0)
		return;
	free(*text);
	*text = longer;
}

/* Appends the file names to equal full names, if the files differ. */
static void name_files(struct name **found, size_t count)
{
	char **files = calloc(count, sizeof(*files));
	bool differ = false, all = true;

	for (size_t i = 0; i < count; i++) {
		files[i] = gp_demangle_file(found[i]->mangled);
		all &= files[i] != NULL;
		differ |= i > 0 && all && strcmp(files[i], files[0]) != 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (all && differ) {
			append_file(&found[i]->full, files[i]);
			append_file(&found[i]->brief, files[i]);
		}
		free(files[i]);
	}
	free(files);
}

static void tell_files_apart(struct name **found, size_t count)
{
	qsort(found, count, sizeof(*found), compare_fulls);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first + 1;
		     next < count && strcmp(found[next]->full, found[first]->full) == 0;)
			next++;
		if (next > first + 1)
			name_files(found + first, next - first);
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct name *const *left = a, *const *right = b;

	return (*left > *right) - (*left < *right);
}

/* Removes duplicates, which several processes have. Returns the number of names left. */
static size_t leave_out_twins(struct name **found, size_t count)
{
	size_t kept = 0;

	qsort(found, count, sizeof(*found), compare_places);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || found[i] != found[kept - 1])
			found[kept++] = found[i];
	return kept;
}

void gp_names_tell_apart(struct gp_names *names, const char *const *mangled, size_t count)
{
	struct name **found = calloc(count + 1, sizeof(*found));
	size_t known = 0;

	for (size_t i = 0; names && i < count; i++) {
		found[known] = (struct name *)find(names, mangled[i]);
		known += found[known] != NULL;
	}
	if (known > 0)
		known = leave_out_twins(found, known);
	if (known > 0) {
		tell_files_apart(found, known);
		qsort(found, known, sizeof(*found), compare_briefs);
	}
	for (size_t first = 0, next; first < known; first = next) {
		for (next = first + 1;
		     next < known && strcmp(found[next]->brief, found[first]->brief) == 0;)
			next++;
		widen_until_apart(found + first, next - first);
	}
	free(found);
}

struct gp_names *gp_names_new(void)
{
	return calloc(1, sizeof(struct gp_names));
}

void gp_names_free(struct gp_names *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i < names->count; i++)
		free_name(names->all[i]);
	free(names->all);
	gp_hash_free(&names->index);
	free(names);
}

const char *gp_names_full(struct gp_names *names, const char *mangled)
{
	const struct name *name = names ? find(names, mangled) : NULL;

	return name ? name->full : mangled;
}

const char *gp_names_short(struct gp_names *names, const char *mangled)
{
	const struct name *name = names ? find(names, mangled) : NULL;

	return name ? name->brief : mangled;
}
