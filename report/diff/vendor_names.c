#include "report/diff/vendor_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/rename.h"

static bool has(const struct gp_run_set *set, enum gp_named_kind kind, const char *name)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (gp_named_find(&set->runs[i].figures.named[kind], name))
			return true;
	return false;
}

static bool begins(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/* ---- API calls ---- */

/* "hipLaunchKernel" and "cudaLaunchKernel" become "cudaLaunchKernel, hipLaunchKernel". */
static void match_call(struct gp_renames *renames, const struct gp_run_set *a,
		       const struct gp_run_set *b, const char *hip)
{
	char cuda[256], *both, *same;
	bool are_both;

	snprintf(cuda, sizeof(cuda), "cuda%s", hip + strlen("hip"));
	are_both = (has(a, GP_NAMED_CALL, cuda) && has(b, GP_NAMED_CALL, hip)) ||
		   (has(a, GP_NAMED_CALL, hip) && has(b, GP_NAMED_CALL, cuda));
	if (!are_both)
		return;
	asprintf(&both, "%s, %s", cuda, hip);
	same = strdup(both);
	gp_renames_add(renames, cuda, both);
	gp_renames_add(renames, hip, same);
}

static void list_call(struct gp_renames *renames, const struct gp_run_set *a,
		      const struct gp_run_set *b, const char *name)
{
	if (begins(name, "hip"))
		match_call(renames, a, b, name);
}

/* ---- copies ---- */

#define COPY    "[memcpy "
#define UNKNOWN " unknown]"

/* Of "[memcpy HtoD pageable]" the length of "[memcpy HtoD"; 0: no such name. */
static size_t way_bytes(const char *name)
{
	const char *end = begins(name, COPY) ? strchr(name + strlen(COPY), ' ') : NULL;

	return end ? (size_t)(end - name) : 0;
}

static bool lacks_kind(const struct gp_run_set *set, const char *name)
{
	char unknown[64];

	snprintf(unknown, sizeof(unknown), "%.*s" UNKNOWN, (int)way_bytes(name), name);
	return has(set, GP_NAMED_OTHER, unknown);
}

/* "[memcpy HtoD pageable]" becomes "[memcpy HtoD]" where one side does not know the kind. */
static void list_copy(struct gp_renames *renames, const struct gp_run_set *a,
		      const struct gp_run_set *b, const char *name)
{
	char *way;

	if (way_bytes(name) == 0 || lacks_kind(a, name) == lacks_kind(b, name))
		return;
	asprintf(&way, "%.*s]", (int)way_bytes(name), name);
	gp_renames_add(renames, name, way);
}

/* ---- both ---- */

static void match(struct gp_run_set *a, struct gp_run_set *b, enum gp_named_kind kind,
		  void (*list)(struct gp_renames *, const struct gp_run_set *,
			       const struct gp_run_set *, const char *))
{
	struct gp_renames renames = {0};
	const char **names = NULL;
	uint32_t count;

	gp_run_set_names(a, b, kind, &names, &count);
	for (uint32_t i = 0; i < count; i++)
		list(&renames, a, b, names[i]);
	gp_renames_sort(&renames);
	gp_rename_named(&renames, a, kind);
	gp_rename_named(&renames, b, kind);
	gp_renames_free(&renames);
	free(names);
}

void gp_vendor_names_match(struct gp_run_set *a, struct gp_run_set *b)
{
	match(a, b, GP_NAMED_CALL, list_call);
	match(a, b, GP_NAMED_OTHER, list_copy);
}
