#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/loop/sequences.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

/*
 * A stream of kernels, one for each letter: each runs for 10 ns, 5 ns after the one before; its
 * call took 3 ns.
 */
static struct gp_model *build_stream(const char *letters, size_t count)
{
	struct build b = build_begin(1);

	for (char letter = 'a'; letter <= 'z'; letter++)
		build_name(&b, (char[]){letter, '\0'});
	for (size_t i = 0; i < count; i++) {
		uint64_t start = 100 + i * 15;
		uint32_t id = (uint32_t)i + 1;

		build_call(&b, 1, BUILD_LAUNCH, start - 50, 3, id);
		build_op(&b, GP_OP_KERNEL, 7, start, start + 10, id)->name =
			(uint32_t)(letters[i] - 'a');
	}
	return build_end(&b);
}

static char *repeat(const char *text, size_t times)
{
	char *out = malloc(strlen(text) * times + 1);

	assert_non_null(out);
	out[0] = '\0';
	for (size_t i = 0; i < times; i++)
		strcpy(out + i * strlen(text), text);
	return out;
}

/* The row of exactly these kernels, or NULL. */
static const struct gp_sequence *find(const struct gp_sequences *found, const char *letters)
{
	for (uint32_t i = 0; i < found->count; i++) {
		const struct gp_sequence *row = &found->rows[i];
		uint32_t same = 0;

		while (row->length == strlen(letters) && same < row->length &&
		       found->elements[row->first + same].symbol == (uint32_t)(letters[same] - 'a'))
			same++;
		if (same == strlen(letters))
			return row;
	}
	return NULL;
}

static void a_loop_is_found_at_its_length(void **state)
{
	char *loop = repeat("abc", 100), letters[400];
	const struct gp_sequence *row;
	struct gp_sequences found;
	struct gp_model *model;

	snprintf(letters, sizeof(letters), "xyz%sq", loop);
	model = build_stream(letters, strlen(letters));
	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	assert_int_equal(found.count, 1);
	row = find(&found, "abc");
	assert_non_null(row);
	assert_int_equal(row->first, 3);
	assert_int_equal(row->count, 100);
	assert_int_equal(row->gpu_ns, 100 * 30);
	assert_int_equal(row->gap_ns, 100 * 10);
	assert_int_equal(row->call_ns, 100 * 9);
	assert_int_equal(row->span_ns, 100 * 40);
	gp_sequences_free(&found);
	gp_model_free(model);
	free(loop);
}

/* 30 steps of 12 layers and what comes before and after them. */
static void loops_in_loops_are_found(void **state)
{
	char *layers = repeat("mnop", 12), step[64], *letters;
	struct gp_sequences found;
	struct gp_model *model;

	snprintf(step, sizeof(step), "ab%scd", layers);
	letters = repeat(step, 30);
	model = build_stream(letters, strlen(letters));
	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	assert_non_null(find(&found, step));
	assert_int_equal(find(&found, step)->count, 30);
	assert_ptr_equal(find(&found, step), &found.rows[0]);
	assert_non_null(find(&found, "mnop"));
	assert_int_equal(find(&found, "mnop")->count, 30 * 12);
	gp_sequences_free(&found);
	gp_model_free(model);
	free(letters);
	free(layers);
}

static void nothing_repeats_in_what_is_all_different(void **state)
{
	struct gp_model *model = build_stream("abcdefghijklmnopqrstuvwxyz", 26);
	struct gp_sequences found;

	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	assert_int_equal(found.count, 0);
	gp_sequences_free(&found);
	assert_int_equal(gp_sequences_of(&found, model, NULL, 5, 5), 0);
	assert_int_equal(found.count, 0);
	gp_sequences_free(&found);
	gp_model_free(model);
}

static void a_graph_launch_is_one_operation(void **state)
{
	struct build b = build_begin(1);
	struct gp_sequences found;
	struct gp_model *model;

	build_name(&b, "node");
	build_name(&b, "after");
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t start = 100 + i * 100;

		build_call(&b, 1, BUILD_GRAPH_LAUNCH, start - 50, 3, 2 * i + 1);
		build_call(&b, 1, BUILD_LAUNCH, start - 40, 3, 2 * i + 2);
		for (uint32_t node = 0; node < 3; node++) {
			struct gp_op *op = build_op(&b, GP_OP_KERNEL, 7, start + node * 10,
						    start + node * 10 + 5, 2 * i + 1);

			op->graph_id = 9;
			op->name = 0;
		}
		build_op(&b, GP_OP_KERNEL, 7, start + 40, start + 50, 2 * i + 2)->name = 1;
	}
	model = build_end(&b);
	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	assert_int_equal(found.element_count, 20);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.rows[0].length, 2);
	assert_int_equal(found.rows[0].count, 10);
	assert_int_equal(found.rows[0].call_ns, 10 * 6);
	assert_int_equal(found.rows[0].gap_ns, 10 * (5 + 5 + 15));
	gp_sequences_free(&found);
	gp_model_free(model);
}

/* Neither two graphs are equal, nor a graph and the kernel of that number. */
static void graphs_are_told_apart(void **state)
{
	struct build b = build_begin(1);
	struct gp_sequences found;
	struct gp_model *model;

	build_name(&b, "node");
	for (uint32_t i = 0; i < 30; i++) {
		struct gp_op *op;

		build_call(&b, 1, i % 3 == 2 ? BUILD_LAUNCH : BUILD_GRAPH_LAUNCH, 50 + i * 100, 3,
			   i + 1);
		op = build_op(&b, GP_OP_KERNEL, 7, 100 + i * 100, 150 + i * 100, i + 1);
		op->name = 0;
		op->graph_id = (uint32_t[]){8, 16, 0}[i % 3];
	}
	model = build_end(&b);
	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	assert_int_equal(found.element_count, 30);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.rows[0].length, 3);
	assert_int_equal(found.rows[0].count, 10);
	gp_sequences_free(&found);
	gp_model_free(model);
}

/* ---- whatever the stream ---- */

static uint64_t count_plainly(const char *letters, size_t count, uint32_t first, uint32_t length)
{
	uint64_t found = 0;

	for (size_t at = 0; at + length <= count;) {
		bool same = memcmp(letters + at, letters + first, length) == 0;

		found += same;
		at += same ? length : 1;
	}
	return found;
}

static void count_one(void *context, uint32_t element)
{
	(void)element;
	(*(uint64_t *)context)++;
}

static void check(const char *letters, size_t count)
{
	struct gp_model *model = build_stream(letters, count);
	struct gp_sequences found;

	assert_int_equal(gp_sequences_of(&found, model, NULL, 0, model->op_count), 0);
	for (uint32_t i = 0; i < found.count; i++) {
		const struct gp_sequence *row = &found.rows[i];
		uint64_t again = 0;

		assert_true(row->length >= 2 && row->count >= 3);
		assert_int_equal(row->count,
				 count_plainly(letters, count, row->first, row->length));
		gp_sequence_each(&found, row, count_one, &again);
		assert_int_equal(again, row->count);
		assert_int_equal(row->span_ns, row->gpu_ns + row->gap_ns);
	}
	gp_sequences_free(&found);
	gp_model_free(model);
}

static void counts_are_exact(void **state)
{
	char letters[500];

	srand(11);
	for (int round = 0; round < 300; round++) {
		size_t count = (size_t)rand() % sizeof(letters), kinds = 1 + (size_t)rand() % 5;

		for (size_t i = 0; i < count; i++) {
			size_t back = 1 + (size_t)rand() % 20;

			letters[i] = i >= back && rand() % 3 ? letters[i - back]
							     : (char)('a' + rand() % (int)kinds);
		}
		check(letters, count);
	}
}

/* Streams that take the square of their length where each place is compared with each other. */
static void long_streams_of_few_kernels_are_read(void **state)
{
	const size_t count = 300000;
	char *letters = malloc(count);

	assert_non_null(letters);
	memset(letters, 'a', count);
	check(letters, count);
	for (size_t i = 0; i < count; i++)
		letters[i] = __builtin_popcountl(i) % 2 ? 'a' : 'b';
	check(letters, count);
	for (size_t i = 0; i < count; i++)
		letters[i] = (i * i) % 977 ? 'a' : 'b';
	check(letters, count);
	free(letters);
}

static void one_kernel_again_and_again_is_told(void **state)
{
	static const struct {
		const char *letters;
		uint32_t end;
		bool is_one;
	} streams[] = {
		{"aaaaaa", 6, true}, {"aaaaab", 6, false}, {"aaaaab", 5, true}, {"ba", 2, false}};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct gp_model *model =
			build_stream(streams[i].letters, strlen(streams[i].letters));

		assert_int_equal(gp_sequences_are_of_one_kernel(model, 0, streams[i].end),
				 streams[i].is_one);
		if (streams[i].is_one)
			model->ops[streams[i].end - 1].kind = GP_OP_SET;
		assert_false(gp_sequences_are_of_one_kernel(model, 0, streams[i].end));
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_is_found_at_its_length),
		cmocka_unit_test(loops_in_loops_are_found),
		cmocka_unit_test(nothing_repeats_in_what_is_all_different),
		cmocka_unit_test(a_graph_launch_is_one_operation),
		cmocka_unit_test(graphs_are_told_apart),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(long_streams_of_few_kernels_are_read),
		cmocka_unit_test(one_kernel_again_and_again_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
