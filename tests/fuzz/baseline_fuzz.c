/*
 * baseline_fuzz: any text as a baseline, and any as thresholds, must give one or a message; a
 * baseline that is one can be compared with itself, and what is written of it is one again.
 *
 *	make fuzz FUZZ_SECONDS=30
 *
 * The input is split at its first @: the baseline, the thresholds.  tests/fuzz/baseline has some to
 * begin with.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/baseline.h"
#include "report/diff/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPLIT '@'

/*
 * Expressions may take as much memory and time as they like, as whoever writes them finds out:
 * repetitions are taken out.
 */
static void tame(char *thresholds)
{
	for (char *c = thresholds; *c; c++)
		if (strchr("{*+?\\", *c))
			*c = '.';
}

static void write_and_read(const struct gp_run_set *set)
{
	char *text = NULL, message[512];
	struct gp_run_set again;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out || gp_baseline_write(out, set) != 0 || fclose(out) != 0)
		abort();
	if (gp_baseline_parse(&again, "again", text, message, sizeof(message)) != 0 ||
	    again.count != set->count)
		abort();
	gp_run_set_free(&again);
	free(text);
}

static void judge(const struct gp_run_set *set, const char *text)
{
	struct gp_thresholds thresholds;
	struct gp_check check;
	char message[512];

	gp_thresholds_open(&thresholds);
	(void)gp_thresholds_parse(&thresholds, "thresholds", text, message, sizeof(message));
	gp_check_judge(set, set, &thresholds, &check);
	if (check.verdict == GP_VERDICT_REGRESSION)
		abort();
	gp_check_close(&check);
	gp_thresholds_close(&thresholds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2), *thresholds, message[512];
	struct gp_run_set set;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	thresholds = strchr(text, SPLIT);
	if (thresholds)
		*thresholds++ = '\0';
	else
		thresholds = text + strlen(text);
	tame(thresholds);
	if (gp_baseline_parse(&set, "baseline", text, message, sizeof(message)) == 0) {
		write_and_read(&set);
		judge(&set, thresholds);
	}
	gp_run_set_free(&set);
	free(text);
	return 0;
}
