#include "report/finish/output_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/memstream.h"
#include "report/model/process_name.h"

/*
 * Prints a value; slashes or dots in it must not lead to another folder, nor hide the file.  Without
 * a value, "%h/x" would be a path from the root on.
 */
static void put_value(FILE *out, const char *value)
{
	if (!value || *value == '\0')
		fputc('_', out);
	for (const char *at = value; at && *at; at++)
		fputc(*at == '/' || (*at == '.' && at == value) ? '_' : *at, out);
}

/*
 * Prints %q{NAME}. braces: the text from "{" on. Returns the text after it, or NULL if it is
 * malformed.
 */
static const char *put_variable(FILE *out, const char *braces)
{
	const char *end = *braces == '{' ? strchr(braces, '}') : NULL;
	char *name;

	if (!end)
		return NULL;
	name = strndup(braces + 1, (size_t)(end - braces) - 1);
	put_value(out, getenv(name));
	free(name);
	return end + 1;
}

/*
 * Prints one % part. part: the text after "%". Returns the text after the part, or NULL if there is
 * no such part.
 */
static const char *put_part(FILE *out, const char *part, const struct gp_model *model)
{
	uint32_t rank;

	switch (*part) {
	case 'p':
		fprintf(out, "%u", model->pid);
		return part + 1;
	case 'n':
		put_value(out, model->info[GP_INFO_PROGRAM]);
		return part + 1;
	case 'h':
		put_value(out, model->info[GP_INFO_HOST]);
		return part + 1;
	case 'r':
		rank = gp_model_rank(model);
		fprintf(out, rank == GP_NONE ? "%u" : "%05u", rank == GP_NONE ? model->pid : rank);
		return part + 1;
	case 'q':
		return put_variable(out, part + 1);
	case '%':
		fputc('%', out);
		return part + 1;
	default:
		return NULL;
	}
}

char *gp_output_name(const char *template, const struct gp_model *model)
{
	char *name = NULL;
	size_t length;
	FILE *out = open_memstream(&name, &length);

	while (*template) {
		const char *next = *template == '%' ? put_part(out, template + 1, model) : NULL;

		if (!next)
			fputc(*template, out);
		template = next ? next : template + 1;
	}
	gp_memstream_close(out, &name);
	return name;
}
