#include "report/diff/check_next.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/diff/check.h"
#include "report/diff/rank.h"
#include "report/base/text/text.h"

#define WORD_BYTES 4352

/* The names in docs/howto/ci.md. */
#define BASELINE "gpuprof-baseline.json"
#define FOLDER   "baseline-runs"

static void print_word(const char *path)
{
	char word[WORD_BYTES];

	gp_text_print(stderr, gp_shell_word(path, word, sizeof(word)));
}

static void say_wrote(const char *path, uint32_t runs)
{
	fputs("gpuprof: check: wrote ", stderr);
	print_word(path);
	fprintf(stderr, " from %u run%s; next: ", runs, runs == 1 ? "" : "s");
}

/* The commands that record enough runs and write the file from them. */
static void say_enough(const char *option, const char *path)
{
	fprintf(stderr, "type: gpuprof-run --runs %u -o " FOLDER " -- PROGRAM && gpuprof check %s ",
		GP_CHECK_GOOD_BASELINE, option);
	print_word(path);
	fputs(" " FOLDER "/*\n", stderr);
}

/* ---- a baseline ---- */

/*
 * Whether a baseline of that many runs is too small for the usual number of runs to show a
 * regression of a time, if as many times as possible are judged.
 */
static bool are_few(uint32_t runs)
{
	uint32_t times = GP_CHECK_KERNELS;

	for (int i = 0; i < GP_METRICS; i++)
		times += gp_metric_rows[i].gated && gp_metric_rows[i].kind == GP_METRIC_TIME;
	return gp_rank_least(GP_CHECK_GOOD_RUNS, runs) > GP_CHECK_ALARMS / times;
}

void gp_check_next_to_baseline(const char *path, uint32_t runs)
{
	say_wrote(path, runs);
	fprintf(stderr, "gpuprof-run --runs %u --check ", GP_CHECK_GOOD_RUNS);
	print_word(path);
	fputs(" -- PROGRAM\n", stderr);
	if (!are_few(runs))
		return;
	fprintf(stderr,
		"gpuprof: check: %u run%s enough for counts and bytes, but too few to judge times: %u are enough; ",
		runs, runs == 1 ? " is" : "s are", GP_CHECK_GOOD_BASELINE);
	say_enough("--write-baseline", path);
}

/* ---- thresholds ---- */

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static size_t count_entries(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_shown, NULL);

	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return count < 0 ? 0 : (size_t)count;
}

/* The folder that contains these runs and nothing else, or NULL. */
static char *folder_of(char *const *runs, size_t run_count)
{
	const char *slash = strrchr(runs[0], '/');
	size_t length = slash ? (size_t)(slash - runs[0]) : 0;
	char *folder = strndup(runs[0], length);
	bool is_one = length > 0;

	for (size_t i = 0; is_one && i < run_count; i++)
		is_one = strncmp(runs[i], folder, length) == 0 && runs[i][length] == '/' &&
			 runs[i][length + 1] && !strchr(runs[i] + length + 1, '/');
	if (is_one && count_entries(folder) == run_count)
		return folder;
	free(folder);
	return NULL;
}

static void print_runs(char *const *runs, size_t run_count)
{
	char *folder = folder_of(runs, run_count);

	for (size_t i = 0; !folder && i < run_count; i++) {
		fputs(" ", stderr);
		print_word(runs[i]);
	}
	if (folder) {
		fputs(" ", stderr);
		print_word(folder);
		fputs("/*", stderr);
	}
	free(folder);
}

void gp_check_next_to_thresholds(const char *path, char *const *runs, size_t run_count)
{
	say_wrote(path, (uint32_t)run_count);
	if (access(BASELINE, F_OK) != 0) {
		fputs("gpuprof check --write-baseline " BASELINE, stderr);
		print_runs(runs, run_count);
		fputs(" && ", stderr);
	}
	fprintf(stderr, "gpuprof-run --runs %u --check " BASELINE " --thresholds ",
		GP_CHECK_GOOD_RUNS);
	print_word(path);
	fputs(" -- PROGRAM\n", stderr);
}

void gp_check_next_to_regression(char *const *runs, size_t run_count)
{
	if (count_entries(FOLDER) == 0)
		return;
	fputs("gpuprof: check: to see which lines and phases changed: gpuprof diff " FOLDER "/* --",
	      stderr);
	print_runs(runs, run_count);
	fputs("\n", stderr);
}

void gp_check_next_to_few(const char *path, uint32_t least)
{
	fprintf(stderr, "gpuprof: check: noise needs at least %u runs; ", least);
	say_enough("--calibrate", path);
}
