#include "report/diff/moved_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/model.h"

/* What a pair is worth, and a change of the shift costs. */
#define PAIR   4
#define CHANGE 3

/* Less than any sum. */
#define NEVER (INT32_MIN / 2)

#define LAST_LINE (1u << 20) /* files with more lines are not compared */

/* b's lines that the best ways pair with one of a's; if there are none, first is above last. */
struct range {
	int64_t first, last;
};

struct matching {
	const struct gp_code_line *a, *b;
	uint32_t a_count, b_count;
	/* for each pair: the best sum of the pairs up to it, and from it on; 0: no pair */
	int32_t *upto, *from;
	int32_t *by_shift; /* the best sum so far with that last shift, from the least one on */
	struct range *ranges;
	int32_t *before; /* by b's line: the best sum of pairs before it and before a's line */
};

static bool is_same_function(const struct gp_code_line *a, const struct gp_code_line *b)
{
	return a->length == b->length && memcmp(a->function, b->function, a->length) == 0;
}

int gp_code_line_compare(const struct gp_code_line *a, const struct gp_code_line *b)
{
	size_t common = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->function, b->function, common);

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

/* Backward, the first shift costs nothing: forward it costs the change from 0, as of a file. */
static int32_t sum_of(struct matching *m, uint32_t i, uint32_t j, int32_t before, bool backward)
{
	int32_t shift = (int32_t)m->b[j].line - (int32_t)m->a[i].line;
	int32_t *same = &m->by_shift[shift + (int32_t)m->a[m->a_count - 1].line];
	int32_t sum = backward || shift == 0 ? 0 : -CHANGE;

	if (!is_same_function(&m->a[i], &m->b[j]))
		return 0;
	sum = PAIR + larger(sum, larger(before - CHANGE, *same));
	*same = larger(*same, sum);
	return sum;
}

/* Of shifts, from the one of a's last line to line 0. */
static size_t shift_count(const struct matching *m)
{
	return (size_t)m->a[m->a_count - 1].line + m->b[m->b_count - 1].line + 1;
}

static void fill(int32_t *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sums[i] = NEVER;
}

static void add_up(struct matching *m, int32_t *sums, bool backward)
{
	fill(m->by_shift, shift_count(m));
	fill(m->before, (size_t)m->b_count + 1);
	for (uint32_t k = 0; k < m->a_count; k++) {
		uint32_t i = backward ? m->a_count - 1 - k : k;
		int32_t *row = sums + (size_t)i * m->b_count;

		for (uint32_t l = 0; l < m->b_count; l++) {
			uint32_t j = backward ? m->b_count - 1 - l : l;

			row[j] = sum_of(m, i, j, m->before[l], backward);
		}
		for (uint32_t l = 0; l < m->b_count; l++) {
			int32_t sum = row[backward ? m->b_count - 1 - l : l];

			m->before[l + 1] = larger(larger(m->before[l + 1], m->before[l]),
						  sum != 0 ? sum : NEVER);
		}
	}
}

/* ---- the pairs of the best ways ---- */

static bool is_best(const struct matching *m, uint32_t i, uint32_t j, int32_t best)
{
	size_t pair = (size_t)i * m->b_count + j;

	return is_same_function(&m->a[i], &m->b[j]) && m->upto[pair] + m->from[pair] - PAIR == best;
}

static int32_t best_sum(const struct matching *m)
{
	int32_t best = 1;

	for (size_t i = 0; i < (size_t)m->a_count * m->b_count; i++)
		best = larger(best, m->upto[i]);
	return best;
}

static struct range range_of(const struct matching *m, uint32_t i, int32_t best)
{
	struct range range = {INT64_MAX, -1};

	for (uint32_t j = 0; j < m->b_count; j++) {
		if (!is_best(m, i, j, best))
			continue;
		range.first = range.last < 0 ? j : range.first;
		range.last = j;
	}
	return range;
}

/* A pair is certain if it is in order with those of all best ways. */
static void find_certain(struct matching *m, uint32_t *found)
{
	int64_t highest = -1, lowest = INT64_MAX;
	int32_t best = best_sum(m);

	for (uint32_t i = 0; i < m->a_count; i++) {
		struct range *range = &m->ranges[i];

		*range = range_of(m, i, best);
		if (range->first == range->last && range->first > highest)
			found[i] = (uint32_t)range->first;
		highest = range->last > highest ? range->last : highest;
	}
	for (uint32_t i = m->a_count; i-- > 0;) {
		if (m->ranges[i].last >= lowest)
			found[i] = GP_NONE;
		lowest = m->ranges[i].first < lowest ? m->ranges[i].first : lowest;
	}
}

static void find_equal(const struct matching *m, uint32_t *found)
{
	for (uint32_t i = 0, j = 0; i < m->a_count; i++) {
		while (j < m->b_count && gp_code_line_compare(&m->b[j], &m->a[i]) < 0)
			j++;
		if (j < m->b_count && gp_code_line_compare(&m->b[j], &m->a[i]) == 0)
			found[i] = j;
	}
}

static bool is_too_large(const struct matching *m)
{
	return (uint64_t)m->a_count * m->b_count > GP_MOVED_LINES_PAIRS ||
	       m->a[m->a_count - 1].line > LAST_LINE || m->b[m->b_count - 1].line > LAST_LINE;
}

static void match(struct matching *m, uint32_t *found)
{
	add_up(m, m->upto, false);
	add_up(m, m->from, true);
	find_certain(m, found);
}

void gp_moved_lines_match(const struct gp_code_line *a, uint32_t a_count,
			  const struct gp_code_line *b, uint32_t b_count, uint32_t *found)
{
	struct matching m = {.a = a, .b = b, .a_count = a_count, .b_count = b_count};
	size_t pairs = (size_t)a_count * b_count;

	for (uint32_t i = 0; i < a_count; i++)
		found[i] = GP_NONE;
	if (pairs == 0)
		return;
	if (is_too_large(&m)) {
		find_equal(&m, found);
		return;
	}
	m.upto = calloc(pairs, sizeof(*m.upto));
	m.from = calloc(pairs, sizeof(*m.from));
	m.by_shift = calloc(shift_count(&m), sizeof(*m.by_shift));
	m.before = calloc((size_t)b_count + 1, sizeof(*m.before));
	m.ranges = calloc(a_count, sizeof(*m.ranges));
	match(&m, found);
	free(m.upto);
	free(m.from);
	free(m.by_shift);
	free(m.before);
	free(m.ranges);
}
