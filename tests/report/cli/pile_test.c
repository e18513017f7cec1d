/* pile: processes of several files, one at a time: repeated and broken files, hosts of several boots. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/cli/pile.h"
#include "report/model/process_name.h"
#include "tests/report/expect.h"
#include "tests/report/trace_builder.h"

enum { PIDS = 3 };

/* A file with one launch, of a process on a host of that boot. */
static char *save(struct gp_builder *b, uint32_t pid, const char *boot_id)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", pid);
	gp_builder_begin(b, 100);
	gp_builder_call(b, GP_TEST_LAUNCH, 7, 1000 * (uint64_t)pid, 50);
	gp_builder_chunk(b, 0, 0);
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_RANK, 0, text);
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_BOOT_ID, 0, boot_id);
	gp_builder_end(b, 100000);
	return (char *)gp_builder_save(b);
}

/* Ranks 10, 11, ...; the second one may be of another host. */
static void save_all(struct gp_builder *builders, char **paths, const char *second_boot_id)
{
	for (uint32_t i = 0; i < PIDS; i++)
		paths[i] = save(&builders[i], 10 + i, i == 1 ? second_boot_id : "one boot");
}

static void free_all(struct gp_builder *builders)
{
	for (uint32_t i = 0; i < PIDS; i++)
		gp_builder_free(&builders[i]);
}

/* The rank of a process, which was made of its number. */
static void assert_rank(const struct gp_export_source *source, size_t index, uint32_t rank)
{
	const struct gp_model *model = source->get(source->context, index);

	assert_non_null(model);
	assert_int_equal(gp_model_rank(model), rank);
	assert_ptr_equal(source->get(source->context, index), model); /* is kept */
}

static void processes_come_in_order_and_once(void **state)
{
	struct gp_builder builders[PIDS];
	struct gp_pile pile = {0};
	struct gp_export_source source;
	char *paths[PIDS + 2];

	save_all(builders, paths, "one boot");
	paths[PIDS] = paths[1];
	paths[PIDS + 1] = paths[0];
	gp_pile_open(&pile, paths, PIDS + 2);
	assert_int_equal(pile.count, PIDS);
	assert_false(pile.any_failed);
	assert_null(pile.clocks); /* of one host there is nothing to align */
	assert_null(pile.model);
	source = gp_pile_source(&pile);
	assert_int_equal(source.count, PIDS);
	assert_rank(&source, 0, 10);
	assert_rank(&source, 2, 12);
	assert_rank(&source, 1, 11);
	assert_rank(&source, 0, 10);
	gp_pile_close(&pile);
	assert_int_equal(pile.count, 0);
	free_all(builders);
}

/* As after a restart of a job: the names of two processes with one rank have their pids. */
static void processes_that_share_a_rank_are_told_apart(void **state)
{
	struct gp_builder builders[PIDS];
	struct gp_pile pile = {0};
	struct gp_export_source source;
	char *paths[PIDS];

	for (uint32_t i = 0; i < PIDS; i++)
		paths[i] = save(&builders[i], 10 + i / 2, "one boot");
	gp_pile_open(&pile, paths, PIDS);
	source = gp_pile_source(&pile);
	for (uint32_t i = 0; i < PIDS; i++)
		assert_int_equal(source.get(source.context, i)->shares_rank, i < 2);
	gp_pile_close(&pile);
	free_all(builders);
}

/* A file that is missing, or breaks after it was found, fails once; the others go on. */
static void a_file_may_fail(void **state)
{
	struct gp_builder builders[PIDS];
	struct gp_pile pile = {0};
	struct gp_export_source source;
	char *paths[PIDS + 1];

	save_all(builders, paths, "one boot");
	paths[PIDS] = "/nowhere/none.gpuprof";
	gp_pile_open(&pile, paths, PIDS + 1);
	assert_int_equal(pile.count, PIDS + 1);
	source = gp_pile_source(&pile);
	assert_rank(&source, 0, 10);
	assert_false(pile.any_failed);
	assert_null(source.get(source.context, PIDS));
	assert_true(pile.any_failed);
	pile.any_failed = false;
	fclose(fopen(builders[1].path, "w"));
	assert_null(source.get(source.context, 1));
	assert_true(pile.any_failed);
	pile.any_failed = false;
	assert_null(source.get(source.context, 1));
	assert_false(pile.any_failed); /* was not tried again */
	assert_rank(&source, 2, 12);
	gp_pile_close(&pile);
	free_all(builders);
}

/* As gp_pile_open(), whose line on stderr goes to text. */
static void open_aloud(struct gp_pile *pile, char **paths, char *text, size_t bytes)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	size_t length;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	gp_pile_open(pile, paths, PIDS);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	length = fread(text, 1, bytes - 1, file);
	text[length] = '\0';
	fclose(file);
}

static void hosts_have_clocks(void **state)
{
	struct gp_builder builders[PIDS];
	struct gp_pile pile = {0};
	struct gp_export_source source;
	char *paths[PIDS], text[512];

	save_all(builders, paths, "another boot");
	open_aloud(&pile, paths, text, sizeof(text));
	expect(text, "gpuprof: 1 of 2 hosts ");
	assert_non_null(pile.clocks);
	assert_int_equal(pile.clocks->count, 2);
	assert_null(pile.model); /* those that were loaded for the clocks lack them */
	source = gp_pile_source(&pile);
	assert_rank(&source, 2, 12);
	gp_pile_close(&pile);
	free_all(builders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_come_in_order_and_once),
		cmocka_unit_test(processes_that_share_a_rank_are_told_apart),
		cmocka_unit_test(a_file_may_fail),
		cmocka_unit_test(hosts_have_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
