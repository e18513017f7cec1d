#include "report/html/flame.h"

#include <string.h>

#include "report/symbols/code_owner.h"
#include "report/html/pack.h"
#include "report/codec/json_write.h"

/*
 * [label, place of the code, kind: 0 native, 1 Python, 2 CUDA call, 3 GPU operation; owner of the
 * code: enum gp_code_owner]
 */
static void put_site(const struct gp_place *site, struct gp_json *json)
{
	char label[GP_SITE_LABEL_BYTES];
	unsigned kind = site->kind == GP_FRAME_PYTHON ? 1 : 0;

	if (site->kind >= GP_SITE_CALL)
		kind = site->kind == GP_SITE_CALL ? 2 : 3;
	gp_json_string_after(json, "[", gp_site_label(site, label));
	gp_json_string_after(json, ",", *site->file ? site->file : basename(site->module));
	gp_json_text(json, ",");
	gp_json_unsigned(json, kind);
	gp_json_text(json, ",");
	gp_json_unsigned(json, kind < 2 ? gp_code_owner_of_frame(site) : GP_CODE_BENEATH);
	gp_json_text(json, "]");
}

static int put_sites(const struct gp_call_tree *tree, const char *kind, FILE *out)
{
	struct gp_json json;
	int result = gp_json_open(&json, NULL);

	for (uint32_t i = 0; i < tree->site_count; i++) {
		gp_json_text(&json, i > 0 ? ",\n" : "[");
		put_site(&tree->sites[i], &json);
	}
	gp_json_text(&json, tree->site_count > 0 ? "]" : "[]");
	result = json.error < 0 ? json.error : result;
	if (result == 0)
		result = gp_html_put_text(out, kind, json.buffer, json.used);
	gp_json_close(&json);
	return result;
}

int gp_html_flame(const struct gp_stack_profile *profile, const char *stacks, const char *sites,
		  FILE *out)
{
	const struct gp_call_tree *tree = &profile->tree;
	struct gp_html_columns columns;
	int result = put_sites(tree, sites, out);

	if (result == 0)
		result = gp_html_columns_open(&columns, out, stacks, 2 + GP_STACK_METRICS);
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < tree->node_count; i++) {
		uint64_t row[2 + GP_STACK_METRICS] = {
			tree->nodes[i].parent == GP_NONE ? 0 : (uint64_t)tree->nodes[i].parent + 1,
			tree->nodes[i].site};

		for (int measure = 0; measure < GP_STACK_METRICS; measure++)
			row[2 + measure] =
				gp_stack_profile_value(profile, i, (enum gp_stack_metric)measure);
		gp_html_columns_add(&columns, row);
	}
	return gp_html_columns_close(&columns);
}
