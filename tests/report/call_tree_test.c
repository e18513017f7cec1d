/* Stacks of several processes in one tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/call_tree.h"

#define FRAMES 3000u

/* A process whose frames are Python's: function f is called at line l where its code is "f" and l its first line. */
struct scene {
	struct gp_model model;
	struct gp_frame frames[FRAMES];
	struct gp_text texts[8];
	char code[8][32];
};

static void add_code(struct scene *s, char function, uint8_t line)
{
	uint32_t i = s->model.text_count++;
	int length = snprintf(s->code[i] + 8, sizeof(s->code[i]) - 8, "/src/a.py%c%c%c\x80", 0,
			      function, 0);

	memset(s->code[i], 0, 8);
	s->code[i][0] = (char)line;
	s->code[i][4] = 3;
	s->texts[i] = (struct gp_text){.space = GP_STRING_CODE,
				       .id = i + 1,
				       .length = 8 + (uint32_t)length,
				       .bytes = s->code[i]};
}

/* "a5 b6": the functions a and b in lines 5 and 6. */
static struct scene *make_scene(const char *functions)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->model.frames = s->frames;
	s->model.texts = s->texts;
	for (const char *at = functions; *at; at += at[2] ? 3 : 2)
		add_code(s, at[0], (uint8_t)(at[1] - '0'));
	return s;
}

static uint32_t add_frame(struct scene *s, uint32_t parent, uint32_t code)
{
	uint32_t i = s->model.frame_count++;

	s->frames[i] = (struct gp_frame){
		.id = i + 1, .parent = parent, .origin = code, .kind = GP_FRAME_PYTHON};
	return i;
}

/* "c (a.py:7) < b (a.py:6) < a (a.py:5)" */
static const char *path_of(const struct gp_call_tree *tree, uint32_t node)
{
	static char text[256];
	char label[GP_SITE_LABEL_BYTES];

	text[0] = '\0';
	for (; node != GP_NONE; node = tree->nodes[node].parent) {
		if (text[0])
			strcat(text, " < ");
		strcat(text, gp_site_label(gp_call_tree_site(tree, node), label));
	}
	return text;
}

static void test_equal_stacks_are_one_node(void **state)
{
	struct scene *s = make_scene("a5 b6 c7");
	struct gp_call_tree tree;
	uint32_t a = add_frame(s, GP_NONE, 0), b = add_frame(s, a, 1), c = add_frame(s, b, 2);
	uint32_t again = add_frame(s, add_frame(s, add_frame(s, GP_NONE, 0), 1), 2);

	(void)state;
	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, c)),
			    "c (a.py:7) < b (a.py:6) < a (a.py:5)");
	assert_int_equal(gp_call_tree_find(&tree, again), gp_call_tree_find(&tree, c));
	assert_int_equal(tree.nodes[gp_call_tree_find(&tree, c)].parent,
			 gp_call_tree_find(&tree, b));
	assert_int_equal(tree.node_count, 4); /* the one without a stack is there always */
	gp_call_tree_close(&tree);
	free(s);
}

static void test_lines_are_kept_apart_or_not(void **state)
{
	struct scene *s = make_scene("a5 a9");
	struct gp_call_tree tree;
	uint32_t five = add_frame(s, GP_NONE, 0), nine = add_frame(s, GP_NONE, 1);

	(void)state;
	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	assert_int_not_equal(gp_call_tree_find(&tree, five), gp_call_tree_find(&tree, nine));
	gp_call_tree_close(&tree);
	assert_int_equal(gp_call_tree_open(&tree, false), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	assert_int_equal(gp_call_tree_find(&tree, five), gp_call_tree_find(&tree, nine));
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, five)), "a (a.py)");
	gp_call_tree_close(&tree);
	free(s);
}

static void test_a_call_without_a_stack(void **state)
{
	struct scene *s = make_scene("a5");
	struct gp_call_tree tree;

	(void)state;
	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	assert_int_equal(gp_call_tree_find(&tree, GP_NONE), GP_CALL_TREE_NO_STACK);
	assert_string_equal(path_of(&tree, GP_CALL_TREE_NO_STACK), "(no call stack)");
	gp_call_tree_close(&tree);
	free(s);
}

static void test_models_may_go(void **state)
{
	struct gp_call_tree tree;
	uint32_t first = GP_NONE;

	(void)state;
	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	for (int i = 0; i < 3; i++) {
		struct scene *s = make_scene("b6 a5");
		uint32_t a = add_frame(s, GP_NONE, 1), b = add_frame(s, a, 0), node;

		assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
		node = gp_call_tree_find(&tree, b);
		first = i == 0 ? node : first;
		assert_int_equal(node, first);
		assert_int_equal(gp_call_tree_use(&tree, NULL), 0);
		free(s);
	}
	assert_string_equal(path_of(&tree, first), "b (a.py:6) < a (a.py:5)");
	gp_call_tree_close(&tree);
}

static void test_callers_that_are_missing_are_said(void **state)
{
	struct scene *s = make_scene("a5");
	struct gp_call_tree tree;
	uint32_t a = add_frame(s, GP_NONE, 0);

	(void)state;
	s->frames[a].has_no_root = true;
	assert_int_equal(gp_call_tree_open(&tree, false), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, a)),
			    "a (a.py) < (callers are missing in the trace)");
	gp_call_tree_close(&tree);
	free(s);
}

static void test_parents_come_before_their_children(void **state)
{
	struct scene *s = make_scene("a5 b6 c7");
	struct gp_call_tree tree;
	uint32_t frame = GP_NONE, depth = 0, node;

	(void)state;
	for (uint32_t i = 0; i < GP_FRAME_DEPTH; i++)
		frame = add_frame(s, frame, i % 3);
	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	assert_int_equal(gp_call_tree_use(&tree, &s->model), 0);
	for (node = gp_call_tree_find(&tree, frame); tree.nodes[node].parent != GP_NONE; depth++) {
		assert_true(tree.nodes[node].parent < node);
		node = tree.nodes[node].parent;
	}
	assert_int_equal(depth + 1, GP_FRAME_DEPTH);
	gp_call_tree_close(&tree);
	free(s);
}

static void test_labels(void **state)
{
	static const struct {
		struct gp_place place;
		const char *label;
	} cases[] = {
		{{"f", "", "", 0, GP_FRAME_NATIVE}, "f"},
		{{"f", "/x/f.c", "", 0, GP_FRAME_NATIVE}, "f"},
		{{"f", "/x/f.c", "", 12, GP_FRAME_NATIVE}, "f (f.c:12)"},
		{{"f", "f.py", "", 0, GP_FRAME_PYTHON}, "f (f.py)"},
		{{"f", "/x/f.py", "", 12, GP_FRAME_PYTHON}, "f (f.py:12)"},
	};
	char label[GP_SITE_LABEL_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(gp_site_label(&cases[i].place, label), cases[i].label);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_are_one_node),
		cmocka_unit_test(test_lines_are_kept_apart_or_not),
		cmocka_unit_test(test_a_call_without_a_stack),
		cmocka_unit_test(test_models_may_go),
		cmocka_unit_test(test_callers_that_are_missing_are_said),
		cmocka_unit_test(test_parents_come_before_their_children),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
