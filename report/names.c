#include "report/names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "report/short_name.h"

struct gp_names {
	void *tree; /* of struct name, by mangled */
};

struct name {
	char *mangled;
	char *full;
	char *brief;
};

static int compare(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	return strcmp(left->mangled, right->mangled);
}

static void free_name(void *node)
{
	struct name *name = node;

	free(name->mangled);
	free(name->full);
	free(name->brief);
	free(name);
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
	name->brief = name->full ? strdup(name->full) : NULL;
	if (name->brief && demangled)
		gp_short_name(name->brief);
	if (name->mangled && name->brief)
		return name;
	free_name(name);
	return NULL;
}

/* NULL: no memory. */
static const struct name *find(struct gp_names *names, const char *mangled)
{
	struct name key = {.mangled = (char *)mangled}, *made;
	void *found = tfind(&key, &names->tree, compare);

	if (found)
		return *(struct name **)found;
	made = make_name(mangled);
	if (!made)
		return NULL;
	if (tsearch(made, &names->tree, compare))
		return made;
	free_name(made);
	return NULL;
}

struct gp_names *gp_names_new(void)
{
	return calloc(1, sizeof(struct gp_names));
}

void gp_names_free(struct gp_names *names)
{
	if (!names)
		return;
	tdestroy(names->tree, free_name);
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
