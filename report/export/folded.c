/*
 * Folded stacks, the input of flamegraph.pl: a line for each stack, with the functions from the
 * outermost one, separated by semicolons, then a space and the value.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/stack_export.h"
#include "report/base/text/text.h"

/*
 * Writes hidden characters out, and replaces separators, and a # at the start: some readers take
 * that as a comment.
 */
static void put_function(FILE *out, const char *label, bool is_first)
{
	char *text = gp_text_escape(label);

	if (is_first && text[0] == '#')
		text[0] = '_';
	for (char *at = text; *at; at++)
		if (*at == ';')
			*at = ':';
	fputs(text[0] ? text : "(unnamed)", out);
	free(text);
}

static void write_stack(struct gp_call_tree *tree, uint32_t node, uint64_t value, FILE *out)
{
	char label[GP_SITE_LABEL_BYTES];
	uint32_t length;
	const uint32_t *path = gp_call_tree_path(tree, node, &length);

	for (uint32_t i = 0; i < length; i++) {
		if (i > 0)
			putc(';', out);
		put_function(out, gp_site_label(gp_call_tree_site(tree, path[i]), label), i == 0);
	}
	fprintf(out, " %llu\n", (unsigned long long)value);
}

static int write_stacks(const struct gp_export_source *source, struct gp_stack_profile *profile,
			enum gp_stack_metric chosen, FILE *out)
{
	enum gp_stack_metric measure = gp_stack_metric_chosen(chosen);

	(void)source;
	for (uint32_t node = 0; node < profile->tree.node_count; node++)
		if (gp_stack_profile_value(profile, node, measure) > 0)
			write_stack(&profile->tree, node,
				    gp_stack_profile_value(profile, node, measure), out);
	return (fflush(out) != 0 || ferror(out)) ? -EIO : 0;
}

static int write_folded(const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out)
{
	return gp_stack_export(source, options, false, write_stacks, out);
}

const struct gp_exporter gp_exporter_folded = {
	.name = "folded",
	.suffix = ".folded",
	.help = "call stacks with one value, one line each",
	.readers = "flamegraph.pl, inferno, speedscope, Perfetto",
	.heeds = GP_EXPORT_VALUE | GP_EXPORT_PART | GP_EXPORT_MEMORY,
	.write = write_folded,
};
