/* Nodes of a backward pass and the operators that made them: bounds of the places, lines. */
#include "tests/unit.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/backward/match.h"
#include "report/model/model.h"

#define MOST 16

/* Operators as kind and line, "a1b2"; an upper case kind is not known. */
static uint32_t read_ops(const char *text, struct gp_forward_op ops[MOST])
{
	uint32_t count = 0;

	for (; *text; text += 2)
		ops[count++] = (struct gp_forward_op){.kind = (uint32_t)(text[0] | 0x20) - 'a',
						      .line = (uint32_t)text[1] - '0',
						      .is_known = text[0] >= 'a'};
	return count;
}

/* The lines of the nodes: "." for one of several, "!" if they do not fit. */
static void assert_lines(const char *forward, const char *backward, bool any_unknown,
			 const char *expected)
{
	struct gp_forward_op ops[MOST];
	struct gp_match matches[MOST];
	uint32_t kinds[MOST], last[26], run_ends[MOST], next[MOST];
	uint32_t count = read_ops(forward, ops), nodes = (uint32_t)strlen(backward);
	char found[MOST + 1] = "!";

	for (uint32_t i = 0; i < nodes; i++)
		kinds[i] = (uint32_t)(backward[i] - 'a');
	gp_match_find_runs(ops, count, COUNT(last), last, run_ends, next);
	if (gp_match_nodes(ops, count, any_unknown, kinds, nodes, matches)) {
		for (uint32_t i = 0; i < nodes; i++)
			found[i] = gp_match_has_line(&matches[i], run_ends, next)
					   ? (char)('0' + ops[matches[i].last].line)
					   : '.';
		found[nodes] = '\0';
	}
	assert_string_equal(found, expected);
}

static void nodes_have_lines(void **state)
{
	static const struct {
		const char *forward, *backward, *lines;
	} cases[] = {
		{"a1", "a", "1"},
		{"a1b2a3", "aba", "321"},
		{"a1a2a3", "aaa", "321"},
		/* one of the two made no node */
		{"a1a2", "a", "."},
		{"a1b2a3", "ab", "32"},
		{"a1b2a3", "ba", "21"},
		{"a1b2a3", "a", "."},
		/* the same line twice */
		{"a1a1b2", "ba", "21"},
		{"a1b2a1b2", "ba", "21"},
		/* operators that others do not separate */
		{"a1a2b3a4", "aba", "43."},
		{"a1", "b", "!"},
		{"a1b2", "ab", "!"},
		{"", "a", "!"},
		{"a1", "", ""},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_lines(cases[i].forward, cases[i].backward, false, cases[i].lines);
}

static void unknown_operators_may_be_any(void **state)
{
	struct gp_forward_op ops[MOST];
	struct gp_match matches[2];
	const uint32_t kinds[] = {1, 0};

	assert_false(gp_match_nodes(ops, read_ops("a1C2", ops), false, kinds, 2, matches));
	assert_true(gp_match_nodes(ops, read_ops("a1C2", ops), true, kinds, 2, matches));
	assert_int_equal(matches[0].first, 1);
	assert_int_equal(matches[0].last, 1);
	assert_true(gp_match_nodes(ops, read_ops("a1C2b3", ops), true, kinds, 2, matches));
	assert_int_equal(matches[0].first, 1);
	assert_int_equal(matches[0].last, 2);
	assert_int_equal(matches[1].first, 0);
	assert_int_equal(matches[1].last, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_lines),
		cmocka_unit_test(unknown_operators_may_be_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
