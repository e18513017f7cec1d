/* option: the numbers, names and help of the options in gpuprof/option.def. */
#ifndef GPUPROF_OPTION_H
#define GPUPROF_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum gp_option_type {
	GP_OPTION_TEXT,
	GP_OPTION_NUMBER,   /* a whole number, within the row's bounds */
	GP_OPTION_SECONDS,  /* 0, 90 or 1.5 */
	GP_OPTION_SIZE,     /* bytes, within the row's bounds, or 0: 500M, 2G */
	GP_OPTION_INTERVAL, /* on, 0, or a time within the row's bounds in ns; --NAME alone is on */
	GP_OPTION_EXPONENT, /* on, 0, or a number within the row's bounds; --NAME alone is on */
	GP_OPTION_SHARE,    /* on, 0, or 0.5%, within the row's bounds; --NAME alone is on */
	GP_OPTION_METRICS,  /* a text; --NAME alone is on */
	GP_OPTION_FLAG,
	GP_OPTION_CHOICE, /* one of the words of the row's argument */
	GP_OPTION_LIST,   /* any of these words, separated by commas */
	GP_OPTION_RANKS,  /* 0,7,64-71, node, or empty */
};

enum gp_option {
#define GP_OPTION(NAME, ...) GP_OPTION_ID_##NAME,
#include "gpuprof/option.def"
#undef GP_OPTION
	GP_OPTIONS
};

struct gp_option_row {
	const char *variable; /* without the prefix GPUPROF_ */
	const char *long_name;
	char short_name; /* 0 = none */
	enum gp_option_type type;
	const char *value; /* default value */
	const char *argument;
	const char *help;
	uint64_t bounds[3]; /* by enum gp_option_bound */
};

enum gp_option_bound {
	GP_OPTION_LEAST,
	GP_OPTION_MOST, /* 0 = unbounded */
	GP_OPTION_ON,   /* of INTERVAL, EXPONENT and SHARE: the meaning of "on" */
};

static const struct gp_option_row gp_option_rows[] = {
#define GP_OPTION(NAME, long_name, short_name, TYPE, value, argument, help, ...)                   \
	{#NAME, long_name, short_name, GP_OPTION_##TYPE, value, argument, help, {__VA_ARGS__}},
#include "gpuprof/option.def"
#undef GP_OPTION
};

/* Whether `words`, separated by `separator`, contains this word. */
static inline bool gp_option_among(const char *words, char separator, const char *value,
				   size_t length)
{
	for (const char *word = words; word != NULL; word = strchr(word, separator)) {
		word += *word == separator;
		if (strncmp(word, value, length) == 0 && memchr(word, separator, length) == NULL &&
		    (word[length] == separator || word[length] == '\0'))
			return length > 0;
	}
	return false;
}

/*
 * Whether a value is one of the words of a CHOICE option.  For "word:TEXT", any text may follow the
 * colon.
 */
static inline bool gp_option_has_choice(const struct gp_option_row *row, const char *value)
{
	const char *colon = strchr(value, ':'), *word = row->argument;
	size_t length = colon != NULL ? (size_t)(colon - value) + 1 : 0;

	if (colon == NULL)
		return gp_option_among(row->argument, '|', value, strlen(value));
	while (word != NULL && strncmp(word + (*word == '|'), value, length) != 0)
		word = strchr(word + 1, '|');
	return word != NULL && colon[1] != '\0';
}

/* Whether a value is a list of words of a LIST option. */
static inline bool gp_option_is_list(const struct gp_option_row *row, const char *value)
{
	for (;;) {
		size_t length = strcspn(value, ",");

		if (!gp_option_among(row->argument, '|', value, length))
			return false;
		if (value[length] == '\0')
			return true;
		value += length + 1;
	}
}

/* Whether the value of a LIST option contains this word. */
static inline bool gp_option_list_has(const char *list, const char *word)
{
	return gp_option_among(list, ',', word, strlen(word));
}

/*
 * Parse up to 18 decimal digits.  Returns the text after them; NULL if there are none or too many.
 */
static inline const char *gp_option_digits(const char *text, uint64_t *number)
{
	const char *end = text;

	for (*number = 0; *end >= '0' && *end <= '9' && end - text <= 18; end++)
		*number = *number * 10 + (uint64_t)(*end - '0');
	return end == text || end - text > 18 ? NULL : end;
}

/* Whether a value is a valid number for a NUMBER option. */
static inline bool gp_option_is_number(const struct gp_option_row *row, const char *value,
				       uint64_t *number)
{
	const char *end = gp_option_digits(value, number);

	if (end == NULL || *end != '\0')
		return false;
	return row->bounds[GP_OPTION_MOST] == 0 ||
	       (*number >= row->bounds[GP_OPTION_LEAST] && *number <= row->bounds[GP_OPTION_MOST]);
}

/*
 * Whether a value is a valid time for a SECONDS option, with or without an "s": at most a year;
 * digits below 1 ns count as 0.
 */
static inline bool gp_option_is_seconds(const char *value, uint64_t *duration_ns)
{
	uint64_t seconds, unit_ns = 100000000;
	const char *end = gp_option_digits(value, &seconds);

	if (end == NULL || seconds > 31536000)
		return false;
	*duration_ns = seconds * 1000000000u;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit_ns /= 10)
			*duration_ns += unit_ns * (uint64_t)(*end - '0');
	return *end == '\0' || strcmp(end, "s") == 0;
}

/*
 * Whether a value is a valid size for a SIZE option: 0, or within the row's bounds.  K, M, G and T
 * are powers of 1024.
 */
static inline bool gp_option_is_size(const struct gp_option_row *row, const char *value,
				     uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *end = gp_option_digits(value, bytes);
	const char *unit = end != NULL && *end != '\0' ? strchr(units, *end) : NULL;
	unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;

	if (end == NULL || (unit == NULL && *end != '\0') || (unit != NULL && end[1] != '\0') ||
	    *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return *bytes == 0 ||
	       (*bytes >= row->bounds[GP_OPTION_LEAST] && *bytes <= row->bounds[GP_OPTION_MOST]);
}

/* Parse "7" or "64-71".  Returns the text after it; NULL if it is neither. */
static inline const char *gp_option_rank_range(const char *text, uint64_t range[2])
{
	const char *end = gp_option_digits(text, &range[0]);

	range[1] = range[0];
	if (end != NULL && *end == '-')
		end = gp_option_digits(end + 1, &range[1]);
	if (end == NULL || range[0] > range[1] || (*end != ',' && *end != '\0'))
		return NULL;
	return end;
}

/* Whether a value is valid for a RANKS option. */
static inline bool gp_option_is_ranks(const char *value)
{
	uint64_t range[2];
	const char *end = value;

	if (*value == '\0' || strcmp(value, "node") == 0)
		return true;
	do
		end = gp_option_rank_range(end, range);
	while (end != NULL && *end++ == ',');
	return end != NULL;
}

/* Whether a list of ranks contains this rank; the list must not be "node". */
static inline bool gp_option_ranks_have(const char *list, uint64_t rank)
{
	uint64_t range[2];

	if (*list == '\0')
		return true;
	do {
		list = gp_option_rank_range(list, range);
		if (list != NULL && rank >= range[0] && rank <= range[1])
			return true;
	} while (list != NULL && *list++ == ',');
	return false;
}

/* Whether a value is valid for an INTERVAL option: 0, on, 1ms or 200us. */
static inline bool gp_option_is_interval(const struct gp_option_row *row, const char *value,
					 uint64_t *interval_ns)
{
	const char *end;

	*interval_ns = row->bounds[GP_OPTION_ON];
	if (strcmp(value, "on") == 0)
		return true;
	end = gp_option_digits(value, interval_ns);
	if (end == NULL || *interval_ns > row->bounds[GP_OPTION_MOST])
		return false;
	if (strcmp(end, "us") == 0)
		*interval_ns *= 1000;
	else if (strcmp(end, "ms") == 0)
		*interval_ns *= 1000000;
	else
		return *interval_ns == 0 && *end == '\0';
	return *interval_ns >= row->bounds[GP_OPTION_LEAST] &&
	       *interval_ns <= row->bounds[GP_OPTION_MOST];
}

/* Whether a value is valid for an EXPONENT option: 0, on, 16. */
static inline bool gp_option_is_exponent(const struct gp_option_row *row, const char *value,
					 uint64_t *exponent)
{
	*exponent = row->bounds[GP_OPTION_ON];
	if (strcmp(value, "on") == 0)
		return true;
	return strcmp(value, "0") == 0 ? (*exponent = 0, true)
				       : gp_option_is_number(row, value, exponent);
}

/* Whether a value is valid for a SHARE option: 0, on, 2%, 0.5%. */
static inline bool gp_option_is_share(const struct gp_option_row *row, const char *value,
				      uint64_t *millionths)
{
	uint64_t digit_millionths = 1000;
	const char *end;

	*millionths = row->bounds[GP_OPTION_ON];
	if (strcmp(value, "on") == 0)
		return true;
	end = gp_option_digits(value, millionths);
	if (end == NULL || *millionths > 100)
		return false;
	if (*millionths == 0 && *end == '\0')
		return true;
	*millionths *= 10000;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, digit_millionths /= 10)
			*millionths += digit_millionths * (uint64_t)(*end - '0');
	return strcmp(end, "%") == 0 && *millionths >= row->bounds[GP_OPTION_LEAST] &&
	       *millionths <= row->bounds[GP_OPTION_MOST];
}

/* Whether the option may be given without a value, which is then "on". */
static inline bool gp_option_may_be_alone(const struct gp_option_row *row)
{
	return row->type == GP_OPTION_INTERVAL || row->type == GP_OPTION_EXPONENT ||
	       row->type == GP_OPTION_SHARE || row->type == GP_OPTION_METRICS;
}

/* The options that need a GPU's performance counters for themselves: a run has one of them. */
static const enum gp_option gp_option_collectors[] = {
	GP_OPTION_ID_HW_TIMELINE,
	GP_OPTION_ID_STALLS,
	GP_OPTION_ID_COUNTERS,
	GP_OPTION_ID_ROOFLINE,
};

/* Finds two of them that are both on, given the values of all options. */
static inline bool gp_option_collectors_clash(const char *const *values, enum gp_option clash[2])
{
	size_t found = 0;

	for (size_t i = 0; i < sizeof(gp_option_collectors) / sizeof(*gp_option_collectors); i++)
		if (found < 2 && strcmp(values[gp_option_collectors[i]], "0") != 0)
			clash[found++] = gp_option_collectors[i];
	return found == 2;
}

#define GP_OPTION_CLASH                                                                            \
	"--%s and --%s exclude each other: both need the performance counters of the GPU; give one of them"

/* Whether a value is invalid; `text` then describes a valid one. */
static inline bool gp_option_is_wrong(const struct gp_option_row *row, const char *value,
				      char *text, size_t text_bytes)
{
	uint64_t number;

	if (row->type == GP_OPTION_NUMBER && !gp_option_is_number(row, value, &number)) {
		if (row->bounds[GP_OPTION_MOST] == 0)
			snprintf(text, text_bytes, "a number of at most 18 digits");
		else
			snprintf(text, text_bytes, "a number from %llu to %llu",
				 (unsigned long long)row->bounds[GP_OPTION_LEAST],
				 (unsigned long long)row->bounds[GP_OPTION_MOST]);
		return true;
	}
	if (row->type == GP_OPTION_SECONDS && !gp_option_is_seconds(value, &number)) {
		snprintf(text, text_bytes, "a number of seconds (2 or 0.5s), at most 31536000");
		return true;
	}
	if (row->type == GP_OPTION_SIZE && !gp_option_is_size(row, value, &number)) {
		snprintf(text, text_bytes, "a size from %lluM to %lluG, such as 500M or 2G",
			 (unsigned long long)row->bounds[GP_OPTION_LEAST] >> 20,
			 (unsigned long long)row->bounds[GP_OPTION_MOST] >> 30);
		return true;
	}
	if (row->type == GP_OPTION_INTERVAL && !gp_option_is_interval(row, value, &number)) {
		snprintf(text, text_bytes, "a time from %lluus to %llums, such as %llums",
			 (unsigned long long)row->bounds[GP_OPTION_LEAST] / 1000,
			 (unsigned long long)row->bounds[GP_OPTION_MOST] / 1000000,
			 (unsigned long long)row->bounds[GP_OPTION_ON] / 1000000);
		return true;
	}
	if (row->type == GP_OPTION_EXPONENT && !gp_option_is_exponent(row, value, &number)) {
		snprintf(text, text_bytes, "on, or a number from %llu to %llu",
			 (unsigned long long)row->bounds[GP_OPTION_LEAST],
			 (unsigned long long)row->bounds[GP_OPTION_MOST]);
		return true;
	}
	if (row->type == GP_OPTION_SHARE && !gp_option_is_share(row, value, &number)) {
		snprintf(text, text_bytes, "a percentage from %g%% to %g%%, such as %g%%",
			 (double)row->bounds[GP_OPTION_LEAST] / 1e4,
			 (double)row->bounds[GP_OPTION_MOST] / 1e4,
			 (double)row->bounds[GP_OPTION_ON] / 1e4);
		return true;
	}
	if (row->type == GP_OPTION_CHOICE && !gp_option_has_choice(row, value)) {
		snprintf(text, text_bytes, "%s", row->argument);
		return true;
	}
	if (row->type == GP_OPTION_LIST && !gp_option_is_list(row, value)) {
		snprintf(text, text_bytes, "a list, with commas between, of the words %s",
			 row->argument);
		return true;
	}
	if (row->type == GP_OPTION_RANKS && !gp_option_is_ranks(value)) {
		snprintf(text, text_bytes, "ranks, such as 0,7,64-71, or node");
		return true;
	}
	return false;
}

#define GP_OPTION_PREFIX "GPUPROF_"

/*
 * gpuprof-run sets this variable for its children, besides the options.  It names a folder.  Each
 * process that opens a trace makes a symbolic link there, named PID-STARTTIME, to the absolute path
 * of the trace; leading zeros of STARTTIME distinguish the programs that one process ran by exec.
 * If that succeeds, and the folder still exists at the end, the library leaves the summary and the
 * Chrome trace to gpuprof-run.  The trace has the folder's name (GP_INFO_SESSION), by which
 * gpuprof-run finds the traces of processes that could not make the link.
 */
#define GP_SESSION_VARIABLE "GPUPROF_SESSION"

/* Links in that folder, without a target, that give gpuprof-run a reason for a missing trace. */
#define GP_SESSION_DRIVER   "driver"   /* a process initialized the CUDA driver */
#define GP_SESSION_LEFT_OUT "left-out" /* --processes or --ranks excludes such a process */
#define GP_SESSION_OTHER    "other"    /* a process started a gpuprof-run, which has the traces */
#define GP_SESSION_FAILED                                                                          \
	"failed" /* such a process could not be recorded, and has logged the reason */

/*
 * The prefix of links that name the GPUs of the processes, by UUID in 32 hexadecimal digits, with
 * --energy.
 */
#define GP_SESSION_DEVICE "device-"

#endif
