/* The lines of a training in the summary: its text, and the section of its document. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/summary/part.h"
#include "report/summary/summary_document.h"
#include "tests/report/training_builder.h"

#define ADDMM "Model.forward (model.py:10)"

/* Three launches of 10 ns at a line, two of the backward pass, one of which is communication. */
static struct gp_model *build_training(void)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 10, "addmm");
	training_node(&t, "AddmmBackward0", 1);
	training_engine(&t, "c10d::Reducer::autograd_hook > at::_ops::copy_::call");
	return training_end(&t);
}

static void the_document_has_lines(void **state)
{
	struct gp_model *model = build_training();
	struct gp_document document = {0};
	struct gp_summary summary;
	const struct gp_section *lines;

	assert_int_equal(gp_summary_open(&summary, &model, 1, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	lines = gp_document_section(&document, "lines");
	assert_non_null(lines);
	assert_int_equal(lines->count, 2);
	assert_string_equal(gp_fields_text(&lines->rows[0], "line"), ADDMM);
	assert_int_equal(gp_fields_value(&lines->rows[0], "pid")->whole, 1);
	assert_int_equal(gp_fields_value(&lines->rows[0], "launched_ns")->whole, 20);
	assert_int_equal(gp_fields_value(&lines->rows[0], "backward_ns")->whole, 10);
	assert_true(gp_fields_value(&lines->rows[0], "likely_share")->real == 0);
	assert_int_equal(gp_fields_value(&lines->rows[1], "launched_ns")->whole, 0);
	assert_int_equal(gp_fields_value(&lines->rows[1], "backward_ns")->whole, 10);
	gp_document_free(&document);
	gp_summary_close(&summary);
	gp_model_free(model);
}

static void the_text_has_a_row_for_each(void **state)
{
	const struct gp_summary_options options = {.brief = true, .row_limit = 12};
	struct gp_model *model = build_training();
	char *text = NULL, *lines;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, &model, 1, &options), 0);
	fclose(out);
	lines = strstr(text, "\n  lines ");
	assert_non_null(lines);
	assert_non_null(strstr(lines, "   75.0      20ns      10ns  " ADDMM));
	free(text);
	gp_model_free(model);
}

/* A program that trains nothing has none. */
static void other_programs_have_none(void **state)
{
	struct build b = build_begin(1);
	struct gp_document document = {0};
	struct gp_summary summary;
	struct gp_model *model;

	build_call(&b, 1, BUILD_LAUNCH, 5, 5, 1);
	build_op(&b, GP_OP_KERNEL, 7, 20, 30, 1);
	model = build_end(&b);
	assert_int_equal(gp_summary_open(&summary, &model, 1, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	assert_null(gp_document_section(&document, "lines"));
	gp_document_free(&document);
	gp_summary_close(&summary);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_has_lines),
		cmocka_unit_test(the_text_has_a_row_for_each),
		cmocka_unit_test(other_programs_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
