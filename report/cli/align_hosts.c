#include "report/cli/align_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/base/message.h"
#include "report/load/load_model.h"
#include "report/tables/by/host_clocks.h"

static bool are_of_several_hosts(struct gp_model *const *models, size_t count)
{
	const char *first = count > 0 ? models[0]->info[GP_INFO_BOOT_ID] : NULL;

	for (size_t i = 1; first && i < count; i++)
		if (models[i]->info[GP_INFO_BOOT_ID] &&
		    strcmp(models[i]->info[GP_INFO_BOOT_ID], first) != 0)
			return true;
	return false;
}

/* Of a file that cannot be read any more, the model keeps its wall clock. */
static int load_again(struct gp_model **model, const struct gp_host_clocks *clocks)
{
	const struct gp_load_options options = {.save_to = -1, .clocks = clocks};
	char message[GP_MESSAGE_BYTES];
	struct gp_model *aligned;
	int result =
		gp_model_load_with((*model)->path, &options, &aligned, message, sizeof(message));

	if (result == -ENOMEM)
		return result;
	if (result != 0) {
		fprintf(stderr, "gpuprof: its times are not aligned with other hosts: %s\n",
			message);
		return 0;
	}
	aligned->shares_rank = (*model)->shares_rank;
	gp_model_free(*model);
	*model = aligned;
	return 0;
}

int gp_align_hosts(struct gp_model **models, size_t count)
{
	struct gp_clock_fit fit = {0};
	int result = 0;

	if (!are_of_several_hosts(models, count))
		return 0;
	for (size_t i = 0; i < count && result == 0; i++)
		result = gp_clock_fit_add(&fit, models[i]);
	if (result == 0)
		result = gp_clock_fit_solve(&fit);
	for (size_t i = 0; i < count && result == 0; i++) {
		const struct gp_host_clock *clock =
			gp_host_clock_find(&fit.clocks, models[i]->info[GP_INFO_BOOT_ID]);

		if (clock && clock->is_known && clock->operations > 0)
			result = load_again(&models[i], &fit.clocks);
		else if (clock)
			models[i]->clock = *clock;
	}
	gp_clock_fit_free(&fit);
	return result;
}
