/*
 * format: figures as people read them.
 *
 * One convention everywhere: four significant digits and the largest unit that leaves one digit
 * before the point; no space before the unit. Times: ns, us, ms, s. Sizes: B, KiB, MiB, GiB, TiB
 * (1024). Rates: GB/s (10^9). Whole ns below 1000 and B below 1024 stand as they are. Counts have
 * separators: 12,345.  Moments of lists alone have all their digits.
 */
#ifndef REPORT_BASE_TEXT_FORMAT_H
#define REPORT_BASE_TEXT_FORMAT_H

#include <stdint.h>

/* A figure by value: gp_format_ns(x).text lives until the end of the full expression. */
struct gp_figure {
	char text[32];
};

struct gp_figure gp_format_ns(uint64_t ns);
struct gp_figure gp_format_ns_mean(double ns);  /* an average: may be a fraction of a ns */
struct gp_figure gp_format_ns_about(double ns); /* an estimate, in whole ns; any double */
struct gp_figure gp_format_bytes(uint64_t bytes);
struct gp_figure gp_format_count(uint64_t count);

/* part of whole as "12.3", without the sign; "<0.1" for what would round to nothing, ">99.9"
 * to all; "-" of nothing. */
struct gp_figure gp_format_percent(double part, double whole);

/*
 * A change in percent, without the sign: "-12.3"; "<0.1" or ">-0.1" for what would round to
 * nothing; from 1000 % on how many times as much there is: "x124".
 */
struct gp_figure gp_format_change(double percent);

/* GB/s as a number; bytes in ns as such, "-" where no time passed. */
struct gp_figure gp_format_rate(double gb_per_s);
struct gp_figure gp_format_gb_per_s(uint64_t bytes, uint64_t ns);

/* A moment, counted from another: "+1.234s", "-56ns" where it came before. */
struct gp_figure gp_format_moment(int64_t ns);

/*
 * ... with all its digits, in seconds: "0.327912345s".  So moments a few ns apart can be told
 * apart, and lined up.
 */
struct gp_figure gp_format_moment_exactly(uint64_t ns);

/* Unix time in ns as "2026-11-21 09:15:17 UTC". */
struct gp_figure gp_format_clock(uint64_t unix_ns);

/* What cuDriverGetVersion() says, 13000 as "13.0"; "?" for what it never says. */
struct gp_figure gp_format_cuda_version(unsigned long version);

/* What cuptiGetVersion() says: 18 as "11.8", 130001 as "13.0.1". */
struct gp_figure gp_format_cupti_version(unsigned long version);

#endif
