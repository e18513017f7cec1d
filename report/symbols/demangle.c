#include "report/symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "report/base/memstream.h"
#include "report/base/big_stack.h"

/* The library's callback interface allocates nothing, so a longjmp() out of it leaks nothing. */
struct output {
	jmp_buf too_long;
	size_t length;
	char text[GP_DEMANGLED_MAX_BYTES + 1];
};

static void append(const char *text, size_t length, void *context)
{
	struct output *output = context;

	if (length > GP_DEMANGLED_MAX_BYTES - output->length)
		longjmp(output->too_long, 1);
	memcpy(output->text + output->length, text, length);
	output->length += length;
}

/* Twice the stack that the library uses per byte of a C++ name, in the most deeply nested case. */
#define STACK_PER_BYTE 384u

/*
 * Without DMGL_NO_RECURSE_LIMIT the library rejects names of more than 1,024 bytes, which CUTLASS
 * has. Rust names may be cyclic, so they keep the limit.
 */
static bool has_room_for(const char *mangled)
{
	return strlen(mangled) < GP_STACK_BYTES / STACK_PER_BYTE;
}

static int demangle_into(struct output *output, const char *mangled)
{
	const int style = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(output->too_long) != 0)
		return 0;
	if (rust_demangle_callback(mangled, style, append, output) != 0)
		return 1;
	output->length = 0; /* it may have written before it failed */
	return cplus_demangle_v3_callback(
		       mangled, style | (has_room_for(mangled) ? DMGL_NO_RECURSE_LIMIT : 0), append,
		       output) != 0;
}

/*
 * nvcc puts the file's name and numbers before the name of a static kernel: "__nv_static_36_", 36
 * bytes, "_", the name. Returns NULL if there is no such prefix.
 */
static const char *file_of(const char *mangled, size_t *length)
{
	static const char before[] = "__nv_static_";
	char *end;

	if (strncmp(mangled, before, sizeof(before) - 1) != 0)
		return NULL;
	*length = strtoul(mangled + sizeof(before) - 1, &end, 10);
	if (*end != '_' || *length >= strlen(end + 1) || end[1 + *length] != '_')
		return NULL;
	return end + 1;
}

static const char *name_in_file(const char *mangled)
{
	size_t length;
	const char *file = file_of(mangled, &length);

	return file ? file + length + 1 : mangled;
}

/*
 * Finds the file in the prefix: "_", a number, "_9_jacobi_cu_", more numbers. Returns the begin of
 * the file's length, with its name and end; NULL if there is none.
 */
static const char *find_file(const char *text, size_t bytes, const char **name, const char **end)
{
	const char *number = bytes > 1 && text[0] == '_' ? memchr(text + 1, '_', bytes - 1) : NULL;
	char *behind;
	size_t length;

	if (!number || number[1] < '1' || number[1] > '9')
		return NULL;
	length = strtoul(number + 1, &behind, 10);
	if (*behind != '_' || behind + 1 >= text + bytes ||
	    length > (size_t)(text + bytes - (behind + 1)))
		return NULL;
	*name = behind + 1;
	*end = behind + 1 + length;
	return number + 1;
}

char *gp_demangle_file(const char *mangled)
{
	size_t bytes;
	const char *text = file_of(mangled, &bytes), *name, *end;
	char *file, *dot;

	if (!text || !find_file(text, bytes, &name, &end))
		return NULL;
	file = strndup(name, (size_t)(end - name));
	dot = file ? strrchr(file, '_') : NULL;
	if (dot && dot > file)
		*dot = '.';
	return file;
}

/* ---- parts of names that change with every build ---- */

/*
 * For a part such as "47_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_32677" returns its end; else
 * NULL.
 */
static const char *unnamed_part(const char *text, const char **file, const char **file_end)
{
	static const char before[] = "_GLOBAL__N_";
	const char *name;
	char *part;
	size_t length;

	if (text[0] < '1' || text[0] > '9')
		return NULL;
	length = strtoul(text, &part, 10);
	if (length < sizeof(before) || length > strlen(part) ||
	    strncmp(part, before, sizeof(before) - 1) != 0)
		return NULL;
	*file = find_file(part + sizeof(before) - 1, length - (sizeof(before) - 1), &name,
			  file_end);
	return *file ? part + length : NULL;
}

static void put_part(FILE *out, const char *before, const char *file, const char *end)
{
	size_t length = (size_t)(end - file);

	fprintf(out, "%zu%s%.*s", strlen(before) + length, before, (int)length, file);
}

/* Prints a name without its file prefix. */
static void put_stable(FILE *out, const char *name)
{
	const char *file, *file_end, *end;

	for (const char *at = name; *at;) {
		bool begins = at == name || at[-1] < '0' || at[-1] > '9';

		end = begins ? unnamed_part(at, &file, &file_end) : NULL;
		if (end)
			put_part(out, "_GLOBAL__N__", file, file_end);
		else
			fputc(*at, out);
		at = end ? end : at + 1;
	}
}

char *gp_demangle_stable(const char *mangled)
{
	size_t bytes, length;
	const char *text = file_of(mangled, &bytes), *name, *end, *file;
	char *stable = NULL;
	FILE *out = open_memstream(&stable, &length);

	file = text ? find_file(text, bytes, &name, &end) : NULL;
	if (file)
		fprintf(out, "__nv_static_%zu__0_%.*s_", (size_t)(end - file) + 3,
			(int)(end - file), file);
	put_stable(out, file ? text + bytes + 1 : mangled);
	fclose(out);
	return stable;
}

char *gp_demangle(const char *mangled)
{
	const char *name = name_in_file(mangled);
	struct output *output;
	char *copy = NULL;

	if (name != mangled && name[0] != '_')
		return strdup(name); /* a C name */
	if (name[0] != '_')
		return NULL;
	output = malloc(sizeof(*output));
	output->length = 0;
	if (demangle_into(output, name))
		copy = strndup(output->text, output->length);
	free(output);
	return copy;
}

/*
 * Takes the length of the next part of a nested name, and moves *at after it. Returns 0 if there is
 * none.
 */
static size_t take_part(const char **at)
{
	char *end;
	unsigned long length;

	if (**at < '1' || **at > '9')
		return 0;
	length = strtoul(*at, &end, 10);
	if (length > strlen(end))
		return 0;
	*at = end + length;
	return length;
}

char *gp_demangle_beginning(const char *mangled)
{
	const char *name = name_in_file(mangled), *at, *separator = "";
	bool is_inside;
	char *text = NULL;
	size_t bytes, length;
	FILE *out;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	at = name + 2;
	is_inside = *at == 'Z';
	at += strspn(at, "Z");
	if (*at++ != 'N')
		return NULL;
	at += strspn(at, "rVKRO"); /* qualifiers of a member function */
	out = open_memstream(&text, &bytes);
	while ((length = take_part(&at)) > 0) {
		fprintf(out, "%s%.*s", separator, (int)length, at - length);
		separator = "::";
	}
	fputs(is_inside ? "<...>::..." : "<...>", out);
	if (gp_memstream_close(out, &text) == 0 && *separator && *at == 'I')
		return text;
	free(text);
	return NULL;
}
