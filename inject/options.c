#include "inject/options.h"

#include <stdio.h>
#include <string.h>

#include "inject/log.h"

/*
 * Copies, because the program may change the strings of the environment.  Longer values are
 * refused.
 */
#define VALUE_BYTES    1024
#define VARIABLE_BYTES (VALUE_BYTES + 64) /* including the name */

static char variables[GP_OPTIONS][VARIABLE_BYTES]; /* "GPUPROF_NAME=VALUE" */
static bool is_set[GP_OPTIONS];
static char session[VALUE_BYTES];

/* The part of a variable between its prefix and '=', or NULL if it is not ours. */
static const char *own_name(const char *variable, size_t *length)
{
	size_t prefix = strlen(GP_OPTION_PREFIX);
	const char *equals = strchr(variable, '=');

	if (equals == NULL || strncmp(variable, GP_OPTION_PREFIX, prefix) != 0)
		return NULL;
	*length = (size_t)(equals - variable) - prefix;
	return variable + prefix;
}

static int find_option(const char *name, size_t length)
{
	for (int i = 0; i < GP_OPTIONS; i++)
		if (strlen(gp_option_rows[i].variable) == length &&
		    memcmp(gp_option_rows[i].variable, name, length) == 0)
			return i;
	return -1;
}

static const char *value_of(int option)
{
	return variables[option] + strlen(GP_OPTION_PREFIX) +
	       strlen(gp_option_rows[option].variable) + 1;
}

static bool copy(char *target, size_t bytes, const char *text)
{
	size_t length = strlen(text);

	if (length >= bytes)
		return false;
	memcpy(target, text, length + 1);
	return true;
}

static bool is_session(const char *name, size_t length)
{
	const char *session_name = &GP_SESSION_VARIABLE[strlen(GP_OPTION_PREFIX)];

	return strlen(session_name) == length && memcmp(session_name, name, length) == 0;
}

void gp_options_read(char *const *environment)
{
	memset(is_set, 0, sizeof(is_set));
	for (; environment != NULL && *environment != NULL; environment++) {
		size_t length;
		const char *name = own_name(*environment, &length);

		if (name == NULL)
			continue;
		int option = find_option(name, length);

		if (option >= 0)
			is_set[option] |= copy(variables[option], VARIABLE_BYTES, *environment);
		else if (is_session(name, length))
			copy(session, VALUE_BYTES, name + length + 1);
	}
}

static bool is_in_force(int option)
{
	return is_set[option] &&
	       !gp_option_is_wrong(&gp_option_rows[option], value_of(option), NULL, 0);
}

const char *gp_option_text(enum gp_option option)
{
	return is_in_force(option) ? value_of(option) : gp_option_rows[option].value;
}

const char *gp_option_variable(enum gp_option option)
{
	return is_set[option] ? variables[option] : NULL;
}

uint64_t gp_option_number(enum gp_option option)
{
	uint64_t number = 0;

	gp_option_is_number(&gp_option_rows[option], gp_option_text(option), &number);
	return number;
}

uint64_t gp_option_ns(enum gp_option option)
{
	uint64_t duration_ns = 0;

	gp_option_is_seconds(gp_option_text(option), &duration_ns);
	return duration_ns;
}

uint64_t gp_option_interval_ns(enum gp_option option)
{
	uint64_t interval_ns = 0;

	gp_option_is_interval(&gp_option_rows[option], gp_option_text(option), &interval_ns);
	return interval_ns;
}

uint64_t gp_option_exponent(enum gp_option option)
{
	uint64_t exponent = 0;

	gp_option_is_exponent(&gp_option_rows[option], gp_option_text(option), &exponent);
	return exponent;
}

uint64_t gp_option_share_millionths(enum gp_option option)
{
	uint64_t millionths = 0;

	gp_option_is_share(&gp_option_rows[option], gp_option_text(option), &millionths);
	return millionths;
}

uint64_t gp_option_bytes(enum gp_option option)
{
	uint64_t bytes = 0;

	gp_option_is_size(&gp_option_rows[option], gp_option_text(option), &bytes);
	return bytes;
}

bool gp_option_flag(enum gp_option option)
{
	const char *text = gp_option_text(option);

	return *text != '\0' && strcmp(text, "0") != 0;
}

bool gp_option_is(enum gp_option option, const char *text)
{
	return strcmp(gp_option_text(option), text) == 0;
}

const char *gp_option_session(void)
{
	return session;
}

static void log_wrong_value(int option)
{
	const struct gp_option_row *row = &gp_option_rows[option];
	char right[512];

	if (is_set[option] && gp_option_is_wrong(row, value_of(option), right, sizeof(right)))
		gp_log("%s is not %s; using %s", variables[option], right, row->value);
}

void gp_options_log_problems(char *const *environment)
{
	for (; environment != NULL && *environment != NULL; environment++) {
		size_t length;
		const char *name = own_name(*environment, &length);

		if (name == NULL || is_session(name, length))
			continue;
		int option = find_option(name, length);

		if (option >= 0)
			log_wrong_value(option);
		else
			gp_log("unknown variable %s%.*s is ignored; see gpuprof-run --help",
			       GP_OPTION_PREFIX, (int)length, name);
	}
}

size_t gp_options_describe(char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < GP_OPTIONS; i++) {
		if (!is_in_force(i) || strcmp(value_of(i), gp_option_rows[i].value) == 0)
			continue;
		int length = snprintf(text + used, text_bytes - used, "%s%s", used ? "\n" : "",
				      variables[i] + strlen(GP_OPTION_PREFIX));

		if (length < 0 || (size_t)length >= text_bytes - used) {
			text[used] = '\0';
			break;
		}
		used += (size_t)length;
	}
	return used;
}
