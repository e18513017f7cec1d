#include "report/diff/thresholds.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/text/did_you_mean.h"
#include "report/codec/small_file.h"

#define FILE_BYTES  (1u << 20)
#define ORIGIN      "gpuprof check --calibrate writes one"
#define MOST_SHARE  1e4
#define MOST_AMOUNT 1e18

struct amount_unit {
	enum gp_unit unit;
	const char *name;
	double size;
};

static const struct amount_unit amount_units[] = {
	{GP_UNIT_NS, "ns", 1},
	{GP_UNIT_NS, "us", 1e3},
	{GP_UNIT_NS, "ms", 1e6},
	{GP_UNIT_NS, "s", 1e9},
	{GP_UNIT_BYTES, "", 1},
	{GP_UNIT_BYTES, "B", 1},
	{GP_UNIT_BYTES, "KiB", 1024},
	{GP_UNIT_BYTES, "MiB", 1024 * 1024},
	{GP_UNIT_BYTES, "GiB", 1024 * 1024 * 1024},
	{GP_UNIT_COUNT, "", 1},
	{GP_UNIT_PERCENT, "", 1},
	{GP_UNIT_JOULES, "mJ", 1e-3},
	{GP_UNIT_JOULES, "J", 1},
	{GP_UNIT_JOULES, "kJ", 1e3},
};

/* The line that is being read. */
struct reading {
	const char *name; /* of the file */
	unsigned line;
	char *rest; /* of the line */
	char *message;
	size_t message_bytes;
};

void gp_thresholds_open(struct gp_thresholds *thresholds)
{
	static const struct gp_threshold of_times = {.share = GP_THRESHOLD_SHARE,
						     .amount = GP_THRESHOLD_NS};

	*thresholds = (struct gp_thresholds){.kernel = of_times};
	for (int i = 0; i < GP_METRICS; i++) {
		if (gp_metric_rows[i].kind == GP_METRIC_TIME)
			thresholds->metrics[i].share = of_times.share;
		if (gp_metric_rows[i].unit == GP_UNIT_NS)
			thresholds->metrics[i].amount = of_times.amount;
		thresholds->metrics[i].off = !gp_metric_rows[i].gated;
	}
}

void gp_thresholds_close(struct gp_thresholds *thresholds)
{
	for (uint32_t i = 0; i < thresholds->kernel_count; i++) {
		regfree(&thresholds->kernels[i].pattern);
		free(thresholds->kernels[i].text);
	}
	free(thresholds->kernels);
	*thresholds = (struct gp_thresholds){0};
}

static int refuse(const struct reading *reading, const char *what, const char *word)
{
	snprintf(reading->message, reading->message_bytes, "%s, line %u: %s%s%.100s", reading->name,
		 reading->line, what, *word ? ": " : "", word);
	return -EINVAL;
}

/* The next word of the line; "" at its end. */
static const char *next_word(struct reading *reading)
{
	char *word = reading->rest + strspn(reading->rest, " \t");
	size_t length = strcspn(word, " \t");

	reading->rest = word + length + (word[length] != '\0');
	word[length] = '\0';
	return word;
}

static bool read_share(const char *word, double *share)
{
	char *end;
	double percent = strtod(word, &end);

	if (end == word || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100 * MOST_SHARE))
		return false;
	*share = percent / 100;
	return true;
}

static bool read_amount(const char *word, enum gp_unit unit, double *amount)
{
	char *end;
	double value = strtod(word, &end);

	for (size_t i = 0; end != word && i < COUNT(amount_units); i++)
		if (amount_units[i].unit == unit && strcmp(end, amount_units[i].name) == 0) {
			*amount = value * amount_units[i].size;
			return *amount >= 0 && *amount <= MOST_AMOUNT;
		}
	return false;
}

static const char *expected_words(enum gp_unit unit)
{
	switch (unit) {
	case GP_UNIT_NS:
		return "after the name, write a share such as 5%, a time such as 100us, both, or off; found";
	case GP_UNIT_BYTES:
		return "after the name, write a share such as 5%, a size such as 1MiB, both, or off; found";
	case GP_UNIT_JOULES:
		return "after the name, write a share such as 5%, an energy such as 2J, both, or off; found";
	default:
		return "after the name, write a share such as 5%, a number, both, or off; found";
	}
}

/* "5%", "100us", "5% 100us" or "off". */
static int read_threshold(struct reading *reading, enum gp_unit unit,
			  struct gp_threshold *threshold)
{
	const char *word = next_word(reading);

	*threshold = (struct gp_threshold){.given = true};
	if (strcmp(word, "off") == 0) {
		threshold->off = true;
		word = next_word(reading);
	} else {
		bool has_share = read_share(word, &threshold->share);

		if (has_share)
			word = next_word(reading);
		if (read_amount(word, unit, &threshold->amount))
			word = next_word(reading);
		else if (!has_share)
			return refuse(reading, expected_words(unit), *word ? word : "nothing");
	}
	return *word ? refuse(reading, expected_words(unit), word) : 0;
}

/*
 * The pattern in "/.../", in which \/ stands for a slash; valid as long as the line.  NULL: it has no
 * end.
 */
static const char *next_pattern(struct reading *reading)
{
	char *text = reading->rest + 1, *in = text, *out = text;

	while (*in && *in != '/') {
		if (in[0] == '\\' && in[1] == '/')
			in++;
		else if (in[0] == '\\' && in[1])
			*out++ = *in++;
		*out++ = *in++;
	}
	if (!*in)
		return NULL;
	reading->rest = in + 1;
	*out = '\0';
	return text;
}

static int compile(const struct reading *reading, struct gp_kernel_threshold *kernel,
		   const char *pattern)
{
	char why[128];
	int error = regcomp(&kernel->pattern, pattern, REG_EXTENDED | REG_NOSUB);

	if (error == 0) {
		kernel->text = strdup(pattern);
		return 0;
	}
	regerror(error, &kernel->pattern, why, sizeof(why));
	return refuse(reading, "invalid regular expression", why);
}

static int read_kernel(struct reading *reading, struct gp_thresholds *thresholds,
		       uint32_t *capacity)
{
	const char *pattern = next_pattern(reading);
	struct gp_kernel_threshold *kernel;
	int result = gp_array_grow(&thresholds->kernels, capacity, thresholds->kernel_count,
				   sizeof(*thresholds->kernels));

	if (result < 0)
		return result;
	if (!pattern)
		return refuse(reading, "the regular expression has no / at its end", "");
	kernel = &thresholds->kernels[thresholds->kernel_count];
	result = read_threshold(reading, GP_UNIT_NS, &kernel->threshold);
	if (result == 0)
		result = compile(reading, kernel, pattern);
	if (result == 0)
		thresholds->kernel_count++;
	return result;
}

static int refuse_metric(const struct reading *reading, const char *word)
{
	struct gp_did_you_mean nearest = {.word = word};
	char what[128] = "unknown metric (gpuprof check --list lists them; kernel is for kernels)";

	for (int i = 0; i < GP_METRICS; i++)
		gp_did_you_mean_try(&nearest, gp_metric_rows[i].name);
	gp_did_you_mean_try(&nearest, "kernel");
	if (nearest.found)
		snprintf(what, sizeof(what), "unknown metric (did you mean %s?)", nearest.found);
	return refuse(reading, what, word);
}

static int read_line(struct reading *reading, struct gp_thresholds *thresholds, uint32_t *capacity)
{
	const char *word = next_word(reading);
	enum gp_metric metric = gp_metric_find(word);

	if (!*word)
		return 0;
	if (metric < GP_METRICS)
		return read_threshold(reading, gp_metric_rows[metric].unit,
				      &thresholds->metrics[metric]);
	if (strcmp(word, "kernel") != 0)
		return refuse_metric(reading, word);
	reading->rest += strspn(reading->rest, " \t");
	if (*reading->rest == '/')
		return read_kernel(reading, thresholds, capacity);
	return read_threshold(reading, GP_UNIT_NS, &thresholds->kernel);
}

/* A # at the start of a line or after a space begins a comment, except inside a pattern. */
static void cut_comment(char *line)
{
	bool inside = false;

	for (char *c = line; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (*c == '/')
			inside = !inside;
		else if (*c == '#' && !inside && (c == line || isspace((unsigned char)c[-1]))) {
			*c = '\0';
			return;
		}
	}
}

int gp_thresholds_parse(struct gp_thresholds *thresholds, const char *name, const char *text,
			char *message, size_t message_bytes)
{
	struct reading reading = {.name = name, .message = message, .message_bytes = message_bytes};
	char *copy = strdup(text), *next = copy, *line;
	uint32_t capacity = thresholds->kernel_count;
	int result = 0;

	while (result == 0 && (line = strsep(&next, "\n")) != NULL) {
		line[strcspn(line, "\r")] = '\0';
		cut_comment(line);
		reading.line++;
		reading.rest = line;
		result = read_line(&reading, thresholds, &capacity);
	}
	free(copy);
	return result;
}

int gp_thresholds_read(struct gp_thresholds *thresholds, const char *path, char *message,
		       size_t message_bytes)
{
	char *text;
	int result = gp_small_file_read(path, FILE_BYTES, ORIGIN, &text, message, message_bytes);

	if (result == 0)
		result = gp_thresholds_parse(thresholds, path, text, message, message_bytes);
	free(text);
	return result;
}

bool gp_kernel_threshold_fits(const struct gp_kernel_threshold *kernel, const char *full_name)
{
	return regexec(&kernel->pattern, full_name, 0, NULL, 0) == 0;
}

const struct gp_threshold *gp_thresholds_of_kernel(const struct gp_thresholds *thresholds,
						   const char *full_name)
{
	for (uint32_t i = 0; i < thresholds->kernel_count; i++)
		if (gp_kernel_threshold_fits(&thresholds->kernels[i], full_name))
			return &thresholds->kernels[i].threshold;
	return &thresholds->kernel;
}

double gp_threshold_margin(const struct gp_threshold *threshold, double median)
{
	return fmax(threshold->share * median, threshold->amount);
}

/* ---- writing ---- */

/* Print it in the largest unit that gives a whole number. */
static void print_amount(FILE *out, enum gp_unit unit, double amount)
{
	const struct amount_unit *best = NULL;

	for (size_t i = 0; i < COUNT(amount_units); i++) {
		const struct amount_unit *one = &amount_units[i];

		if (one->unit == unit && (!best || fmod(amount, one->size) == 0))
			best = one;
	}
	if (amount > 0 && best)
		fprintf(out, " %.0f%s", amount / best->size, best->name);
}

static void print_threshold(FILE *out, enum gp_unit unit, double share, double amount)
{
	if (share > 0)
		fprintf(out, " %.2f%%", ceil(share * 1e4) / 100);
	else if (!(amount > 0))
		fputs(" 0%", out);
	print_amount(out, unit, ceil(amount));
	fputc('\n', out);
}

void gp_thresholds_print_kernel(FILE *out, const char *full_name, double share, double amount_ns)
{
	fputs("kernel /^", out);
	for (const char *c = full_name; *c; c++) {
		if (strchr("\\/.[](){}*+?|^$", *c))
			fputc('\\', out);
		fputc(*c, out);
	}
	fputs("$/", out);
	print_threshold(out, GP_UNIT_NS, share, amount_ns);
}

void gp_thresholds_print(FILE *out, enum gp_metric metric, double share, double amount)
{
	fputs(gp_metric_rows[metric].name, out);
	print_threshold(out, gp_metric_rows[metric].unit, share, amount);
}
