#include "report/base/text/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct unit {
	double size;
	const char *name;
};

static const struct unit time_units[] = {
	{1, "ns"},
	{1e3, "us"},
	{1e6, "ms"},
	{1e9, "s"},
};

static const struct unit size_units[] = {
	{1, "B"},
	{1024.0, "KiB"},
	{1024.0 * 1024, "MiB"},
	{1024.0 * 1024 * 1024, "GiB"},
	{1024.0 * 1024 * 1024 * 1024, "TiB"},
};

static const struct unit energy_units[] = {
	{1, "uJ"}, {1e3, "mJ"}, {1e6, "J"}, {1e9, "kJ"}, {1e12, "MJ"},
};

#define UNITS(table) (sizeof(table) / sizeof((table)[0]))

/* Four significant digits below 1000, one decimal above. */
static int decimals(double value)
{
	return value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
}

/* The largest unit in which the rounded value is at least 1. */
static struct gp_figure scale(double value, const struct unit *units, size_t count)
{
	struct gp_figure figure;
	size_t i = 0;

	while (i + 1 < count && value / units[i].size >= 999.95 &&
	       value / units[i + 1].size >= 0.9995)
		i++;
	snprintf(figure.text, sizeof(figure.text), "%.*f%s", decimals(value / units[i].size),
		 value / units[i].size, units[i].name);
	return figure;
}

struct gp_figure gp_format_ns(uint64_t ns)
{
	struct gp_figure figure;

	if (ns >= 1000)
		return scale((double)ns, time_units, UNITS(time_units));
	snprintf(figure.text, sizeof(figure.text), "%" PRIu64 "ns", ns);
	return figure;
}

struct gp_figure gp_format_ns_mean(double ns)
{
	struct gp_figure figure;

	if (ns >= 999.95)
		return scale(ns, time_units, UNITS(time_units));
	snprintf(figure.text, sizeof(figure.text), "%.1fns", ns);
	return figure;
}

struct gp_figure gp_format_ns_about(double ns)
{
	if (!(ns > 0))
		return gp_format_ns(0);
	return gp_format_ns(ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX);
}

struct gp_figure gp_format_bytes(uint64_t bytes)
{
	struct gp_figure figure;

	if (bytes >= 1024)
		return scale((double)bytes, size_units, UNITS(size_units));
	snprintf(figure.text, sizeof(figure.text), "%" PRIu64 "B", bytes);
	return figure;
}

struct gp_figure gp_format_joules(double joules)
{
	return scale(joules * 1e6, energy_units, UNITS(energy_units));
}

struct gp_figure gp_format_count(uint64_t count)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	struct gp_figure figure;
	char *out = figure.text;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return figure;
}

struct gp_figure gp_format_percent(double part, double whole)
{
	struct gp_figure figure;
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (!(whole > 0))
		strcpy(figure.text, "-");
	else if (part > 0 && percent < 0.05)
		strcpy(figure.text, "<0.1");
	else if (part < whole && percent >= 99.95)
		strcpy(figure.text, ">99.9");
	else
		snprintf(figure.text, sizeof(figure.text), "%.1f", percent);
	return figure;
}

struct gp_figure gp_format_change(double percent)
{
	struct gp_figure figure;
	double times = percent / 100 + 1;

	if (percent == 0)
		strcpy(figure.text, "0.0");
	else if (fabs(percent) < 0.05)
		strcpy(figure.text, percent < 0 ? ">-0.1" : "<0.1");
	else if (percent >= 1000)
		snprintf(figure.text, sizeof(figure.text), "x%.28s",
			 gp_format_count((uint64_t)fmin(times + 0.5, 1e18)).text);
	else
		snprintf(figure.text, sizeof(figure.text), "%.1f", percent);
	return figure;
}

struct gp_figure gp_format_rate(double gb_per_s)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.*f", decimals(gb_per_s), gb_per_s);
	return figure;
}

struct gp_figure gp_format_gb_per_s(uint64_t bytes, uint64_t ns)
{
	return ns > 0 ? gp_format_rate((double)bytes / (double)ns) : (struct gp_figure){"-"};
}

struct gp_figure gp_format_moment(int64_t ns)
{
	uint64_t distance_ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%c%.30s", ns < 0 ? '-' : '+',
		 gp_format_ns(distance_ns).text);
	return figure;
}

struct gp_figure gp_format_moment_exactly(uint64_t ns)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000u,
		 ns % 1000000000u);
	return figure;
}

/* CUDA appeared in 2007: an earlier time is not a date. */
#define FIRST_CLOCK_NS (UINT64_C(1167609600) * 1000000000)

struct gp_figure gp_format_clock(uint64_t unix_ns)
{
	struct gp_figure figure = {"?"};
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct tm utc;

	if (unix_ns < FIRST_CLOCK_NS)
		return (struct gp_figure){"date not known"};
	if (gmtime_r(&seconds, &utc))
		strftime(figure.text, sizeof(figure.text), "%Y-%m-%d %H:%M:%S UTC", &utc);
	return figure;
}

struct gp_figure gp_format_cuda_version(unsigned long version)
{
	struct gp_figure figure = {"?"};

	if (version >= 1000)
		snprintf(figure.text, sizeof(figure.text), "%lu.%lu", version / 1000,
			 version % 1000 / 10);
	return figure;
}

/* CUPTI had version numbers of its own until it took CUDA's: 130001 is 13.0 update 1. */
struct gp_figure gp_format_cupti_version(unsigned long version)
{
	static const char *const numbered[] = {
		[18] = "11.8", [19] = "12.0", [20] = "12.2", [21] = "12.3", [22] = "12.4",
		[23] = "12.5", [24] = "12.6", [26] = "12.8", [27] = "12.9", [28] = "12.9.1",
	};
	struct gp_figure figure;
	size_t bytes = sizeof(figure.text);

	if (version < sizeof(numbered) / sizeof(numbered[0]) && numbered[version])
		snprintf(figure.text, bytes, "%s", numbered[version]);
	else if (version >= 100000 && version % 100 > 0)
		snprintf(figure.text, bytes, "%lu.%lu.%lu", version / 10000, version % 10000 / 100,
			 version % 100);
	else if (version >= 100000)
		snprintf(figure.text, bytes, "%lu.%lu", version / 10000, version % 10000 / 100);
	else
		snprintf(figure.text, bytes, "version %lu", version);
	return figure;
}
