/*
 * format: numbers as people read them.
 *
 * One convention everywhere: four significant digits, and the largest unit that leaves one digit
 * before the point; no space before the unit. Times: ns, us, ms, s. Sizes: B, KiB, MiB, GiB, TiB
 * (1024). Energy: uJ, mJ, J, kJ, MJ. Rates: GB/s (10^9). Whole ns below 1000 and B below 1024 stand as they are. Counts have
 * separators: 12,345. Only moments in lists have all their digits.
 */
#ifndef REPORT_BASE_TEXT_FORMAT_H
#define REPORT_BASE_TEXT_FORMAT_H

#include <stdint.h>

/* Returned by value: gp_format_ns(x).text lives until the end of the full expression. */
struct gp_figure {
	char text[32];
};

struct gp_figure gp_format_ns(uint64_t ns);
struct gp_figure gp_format_ns_mean(double ns);  /* an average, which may be a fraction of a ns */
struct gp_figure gp_format_ns_about(double ns); /* an estimate, in whole ns; any double */
struct gp_figure gp_format_bytes(uint64_t bytes);
struct gp_figure gp_format_joules(double joules);
struct gp_figure gp_format_count(uint64_t count);

/*
 * part of whole as "12.3", without the percent sign; "<0.1" and ">99.9" where it would round to 0
 * or 100; "-" if whole is 0.
 */
struct gp_figure gp_format_percent(double part, double whole);

/*
 * A change in percent, without the percent sign: "-12.3"; "<0.1" or ">-0.1" where it would round to
 * 0; from 1000 % on the ratio: "x124".
 */
struct gp_figure gp_format_change(double percent);

/* GB/s as a number, or computed from bytes and ns; "-" if ns is 0. */
struct gp_figure gp_format_rate(double gb_per_s);
struct gp_figure gp_format_gb_per_s(uint64_t bytes, uint64_t ns);

/* A moment relative to another: "+1.234s", "-56ns" if it is earlier. */
struct gp_figure gp_format_moment(int64_t ns);

/*
 * A moment in seconds with all its digits: "0.327912345s". Moments a few ns apart differ and line
 * up.
 */
struct gp_figure gp_format_moment_exactly(uint64_t ns);

/* Unix time in ns as "2026-11-21 09:15:17 UTC". */
struct gp_figure gp_format_clock(uint64_t unix_ns);

/* A version of cuDriverGetVersion(): 13000 as "13.0"; "?" for an impossible one. */
struct gp_figure gp_format_cuda_version(unsigned long version);

/* A version of cuptiGetVersion(): 18 as "11.8", 130001 as "13.0.1". */
struct gp_figure gp_format_cupti_version(unsigned long version);

#endif
