/* A document keeps its values and their units, and its writers render them. */
#include "tests/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/document/document.h"

static struct gp_document made(void)
{
	struct gp_document document = {0};

	gp_document_add_number(&document, "span_ns", GP_UNIT_NS, 3000);
	gp_document_add_flag(&document, "partial", true);
	gp_document_add_text(&document, "doubt", NULL);
	gp_document_add_section(&document, "findings");
	gp_document_add_row(&document);
	gp_document_add_text(&document, "rule", "sync-in-loop");
	gp_document_add(&document, "saves_share", GP_UNIT_RATIO, gp_value_ratio(2, 3));
	gp_document_add_row(&document);
	gp_document_add_words(&document, "rule", "%s-%d", "\"x", 2);
	gp_document_add(&document, "at_ns", GP_UNIT_MOMENT, gp_value_moment(-5));
	gp_document_add_section(&document, "notes");
	assert_int_equal(document.error, 0);
	return document;
}

static void test_values_are_found_by_their_ids(void **state)
{
	struct gp_document document = made();
	const struct gp_section *findings = gp_document_section(&document, "findings");

	assert_int_equal(gp_fields_value(&document.facts, "span_ns")->whole, 3000);
	assert_null(gp_fields_value(&document.facts, "doubt"));
	assert_int_equal(findings->count, 2);
	assert_string_equal(gp_fields_text(&findings->rows[1], "rule"), "\"x-2");
	assert_string_equal(gp_fields_text(&findings->rows[1], "text"), "");
	assert_int_equal(gp_document_section(&document, "notes")->count, 0);
	assert_null(gp_document_section(&document, "none"));
	gp_document_free(&document);
}

static void test_json(void **state)
{
	struct gp_document document = made();
	struct gp_json json;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *read, *expected;

	assert_non_null(out);
	assert_int_equal(gp_json_open(&json, out), 0);
	gp_json_text(&json, "{");
	gp_document_write_json(&document, &json);
	gp_json_text(&json, "}");
	assert_int_equal(gp_json_close(&json), 0);
	fclose(out);
	read = json_loads(text, 0, NULL);
	expected = json_pack("{s:i, s:b, s:[{s:s, s:f}, {s:s, s:i}], s:[]}", "span_ns", 3000,
			     "partial", 1, "findings", "rule", "sync-in-loop", "saves_share",
			     0.666666, "rule", "\"x-2", "at_ns", -5, "notes");
	assert_true(json_equal(read, expected));
	json_decref(read);
	json_decref(expected);
	free(text);
	gp_document_free(&document);
}

/* A command stays in one piece: behind its sentence, or on a line of its own. */
static void test_sentences(void **state)
{
	struct gp_document document = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_document_add_section(&document, "notes");
	for (int i = 0; i < 2; i++) {
		gp_document_add_row(&document);
		gp_document_add_text(&document, "text", "calls failed");
		gp_document_add_text(&document, "command", i == 0 ? "a b" : "gpuprof summary");
	}
	gp_document_add_row(&document);
	gp_document_add_text(&document, "text", "a sentence of six short words");
	gp_document_print_text(gp_document_section(&document, "notes"), 20, out);
	gp_document_print_text(NULL, 20, out);
	fclose(out);
	assert_string_equal(text, "  calls failed: a b\n"
				  "  calls failed:\n    gpuprof summary\n"
				  "  a sentence of six\n    short words\n");
	free(text);
	gp_document_free(&document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_found_by_their_ids),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
