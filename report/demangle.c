#include "report/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "report/memory_stream.h"
#include "report/stack_room.h"

/* The library's callback forms allocate nothing, so that a jump out of them leaks nothing. */
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

/* What the library puts on the stack for a byte of a C++ name is half of this where the name nests as deep as it can. */
#define STACK_PER_BYTE 384u

/*
 * The library gives up on names of more than 1,024 bytes, as CUTLASS has them, unless it is told not to count.  A name of Rust
 * may lead in circles: there it has to.
 */
static bool has_room_for(const char *mangled)
{
	return strlen(mangled) < GP_STACK_ROOM_BYTES / STACK_PER_BYTE;
}

static int demangle_into(struct output *output, const char *mangled)
{
	const int style = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(output->too_long) != 0)
		return 0;
	if (rust_demangle_callback(mangled, style, append, output) != 0)
		return 1;
	output->length = 0; /* it may have written before it gave up */
	return cplus_demangle_v3_callback(
		       mangled, style | (has_room_for(mangled) ? DMGL_NO_RECURSE_LIMIT : 0), append,
		       output) != 0;
}

/* nvcc puts a file's name and numbers before the name of a static kernel: "__nv_static_36_", 36 bytes of them, "_", the name.  NULL: that is none. */
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

/* Of these bytes: "_", a number, "_9_jacobi_cu_", more numbers. */
char *gp_demangle_file(const char *mangled)
{
	size_t all, length;
	const char *text = file_of(mangled, &all), *number;
	char *name, *end, *dot;

	if (!text || text[0] != '_')
		return NULL;
	number = memchr(text + 1, '_', all - 1);
	if (!number || number[1] < '1' || number[1] > '9')
		return NULL;
	length = strtoul(number + 1, &end, 10);
	if (*end != '_' || end + 1 >= text + all || length > (size_t)(text + all - (end + 1)))
		return NULL;
	name = strndup(end + 1, length);
	dot = name ? strrchr(name, '_') : NULL;
	if (dot && dot > name)
		*dot = '.';
	return name;
}

char *gp_demangle(const char *mangled)
{
	const char *name = name_in_file(mangled);
	struct output *output;
	char *copy = NULL;

	if (name != mangled && name[0] != '_')
		return strdup(name); /* one of C */
	if (name[0] != '_')
		return NULL;
	output = malloc(sizeof(*output));
	if (!output)
		return NULL;
	output->length = 0;
	if (demangle_into(output, name))
		copy = strndup(output->text, output->length);
	free(output);
	return copy;
}

/* The next part of a nested name, behind its length in *at, which moves on; 0 = there is none. */
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
	at += strspn(at, "rVKRO"); /* of a function that is const, and the like */
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	while ((length = take_part(&at)) > 0) {
		fprintf(out, "%s%.*s", separator, (int)length, at - length);
		separator = "::";
	}
	fputs(is_inside ? "<...>::..." : "<...>", out);
	if (gp_memory_stream_close(out, &text) == 0 && *separator && *at == 'I')
		return text;
	free(text);
	return NULL;
}
