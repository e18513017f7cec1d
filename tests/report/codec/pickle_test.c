#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "report/codec/pickle.h"
#include "tests/unit.h"

#define PICKLE(text) (text), sizeof(text) - 1

/*
 * {'a': [1, -2, 70000, True, None, 1.5, 2**40], 'b': ('x', 'x'), 'c': {}} by protocol 4, written
 * out.
 */
static const char sample[] =
	"\x80\x04\x95\x40\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1J\xfe\xff\xff\xffJ\x70\x11\1\0\x88NG\x3f\xf8\0\0\0\0\0\0\x8a\6\0\0\0\0\0\1e\x8c\1b\x94\x8c\1x\x94h\4\x86\x94\x8c\1c\x94}\x94u.";

static int read_text(struct gp_pickle *pickle, const char *bytes, size_t count)
{
	const char *problem;
	int result = gp_pickle_read(pickle, bytes, count, &problem);

	if (result == -EPROTO)
		assert_true(problem[0] != '\0');
	return result;
}

static void assert_refused(const char *bytes, size_t count)
{
	struct gp_pickle pickle;

	assert_int_equal(read_text(&pickle, bytes, count), -EPROTO);
	gp_pickle_free(&pickle);
}

static void data_is_read(void **state)
{
	static const int64_t numbers[] = {1, -2, 70000, 1};
	const struct gp_pickle_value *root, *list, *pair;
	struct gp_pickle pickle;

	assert_int_equal(read_text(&pickle, PICKLE(sample)), 0);
	root = gp_pickle_root(&pickle);
	list = gp_pickle_get(&pickle, root, "a");
	assert_int_equal(list->count, 7);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(gp_pickle_at(&pickle, list, i)->whole, numbers[i]);
	assert_int_equal(gp_pickle_at(&pickle, list, 4)->kind, GP_PICKLE_NONE);
	assert_true(gp_pickle_at(&pickle, list, 5)->real == 1.5);
	assert_int_equal(gp_pickle_number(gp_pickle_at(&pickle, list, 6)), 1ll << 40);
	pair = gp_pickle_get(&pickle, root, "b");
	assert_int_equal(pair->count, 2);
	assert_true(gp_pickle_is(gp_pickle_at(&pickle, pair, 0), "x"));
	assert_ptr_equal(gp_pickle_at(&pickle, pair, 0), gp_pickle_at(&pickle, pair, 1));
	assert_int_equal(gp_pickle_get(&pickle, root, "c")->kind, GP_PICKLE_DICT);
	assert_int_equal(gp_pickle_get(&pickle, root, "d")->kind, GP_PICKLE_NONE);
	assert_int_equal(gp_pickle_number(gp_pickle_at(&pickle, list, 1)), 0);
	gp_pickle_free(&pickle);
}

/* What a value is not may be asked, too. */
static void every_value_may_be_asked_everything(void **state)
{
	struct gp_pickle pickle;

	assert_int_equal(read_text(&pickle, PICKLE("\x80\2K\7.")), 0);
	assert_int_equal(gp_pickle_at(&pickle, gp_pickle_root(&pickle), 0)->kind, GP_PICKLE_NONE);
	assert_int_equal(gp_pickle_get(&pickle, gp_pickle_root(&pickle), "a")->kind,
			 GP_PICKLE_NONE);
	assert_false(gp_pickle_is(gp_pickle_root(&pickle), "a"));
	gp_pickle_free(&pickle);
}

static void what_would_run_is_refused(void **state)
{
	assert_refused(PICKLE("cos\nsystem\n(S'true'\ntR.")); /* GLOBAL, REDUCE */
	assert_refused(PICKLE("\x80\4\x8c\2os\x8c\6system\x93\x8c\4true\x85R.")); /* STACK_GLOBAL */
	assert_refused(PICKLE("\x80\2}\x81."));                                   /* NEWOBJ */
	assert_refused(PICKLE("\x80\2}}b."));                                     /* BUILD */
}

static void nonsense_is_refused(void **state)
{
	assert_refused(PICKLE(""));
	assert_refused(PICKLE("."));    /* nothing to give */
	assert_refused(PICKLE("NN."));  /* two values */
	assert_refused(PICKLE("]a."));  /* the list is not there */
	assert_refused(PICKLE("NNa.")); /* no list */
	assert_refused(PICKLE("](N."));
	assert_refused(PICKLE("}(Nu."));      /* a key without a value */
	assert_refused(PICKLE("e."));         /* no mark */
	assert_refused(PICKLE("](Na."));      /* beyond the mark */
	assert_refused(PICKLE("h\0."));       /* nothing is remembered */
	assert_refused(PICKLE("Nq\5."));      /* a gap */
	assert_refused(PICKLE("\x94."));      /* nothing to remember */
	assert_refused(PICKLE("\x87."));      /* a tuple of nothing */
	assert_refused(PICKLE("\x8c\xffxx")); /* cut text */
	assert_refused(PICKLE("X\xff\xff\xff\xffx."));
	assert_refused(PICKLE("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."));
	assert_refused(PICKLE("\x8b\xff\xff\xff\xff"));
	assert_refused(PICKLE("J\1"));
}

/* A list that holds itself is no trouble: nobody follows it to its end. */
static void circles_are_read(void **state)
{
	const struct gp_pickle_value *list;
	struct gp_pickle pickle;

	assert_int_equal(read_text(&pickle, PICKLE("]q\0h\0a.")), 0);
	list = gp_pickle_root(&pickle);
	assert_ptr_equal(gp_pickle_at(&pickle, list, 0), list);
	gp_pickle_free(&pickle);
}

/* Whatever happens to a byte, it is read or refused. */
static void damaged_bytes_do_no_harm(void **state)
{
	char bytes[sizeof(sample) - 1], *exact;
	struct gp_pickle pickle;

	for (size_t length = 0; length < sizeof(bytes); length++) {
		exact = malloc(length + 1); /* so that a sanitizer sees what is read beyond */
		assert_non_null(exact);
		memcpy(exact + 1, sample, length);
		assert_refused(exact + 1, length);
		free(exact);
	}
	for (size_t at = 0; at < sizeof(bytes); at++)
		for (int value = 0; value < 256; value++) {
			int result;

			memcpy(bytes, sample, sizeof(bytes));
			bytes[at] = (char)value;
			result = read_text(&pickle, bytes, sizeof(bytes));
			assert_true(result == 0 || result == -EPROTO);
			gp_pickle_free(&pickle);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_read),
		cmocka_unit_test(every_value_may_be_asked_everything),
		cmocka_unit_test(what_would_run_is_refused),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(circles_are_read),
		cmocka_unit_test(damaged_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
