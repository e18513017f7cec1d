#include "report/advice/rules/largest_line.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/op_function.h"
#include "report/base/group_by.h"

#define LEAST_PART 4 /* of the GPU time: a line with less is not where the time goes */

/* Store the time by site of what the steps launch; returns the time of all their operations. */
static uint64_t gather(struct gp_advisor *advisor, struct gp_launch_places *places)
{
	const struct gp_steps *loop = advisor->loops[advisor->process];
	const struct gp_model *model = advisor->model;
	struct gp_op_functions functions = {0};
	uint64_t all_ns = 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		struct gp_op_function at;

		if (op->untimed || !loop->recurs[gp_steps_part_at(loop, op->start_ns)])
			continue;
		all_ns += gp_op_gpu_ns(op);
		at = gp_op_function_of(advisor, &functions, i);
		if (at.text != GP_NO_FUNCTION)
			gp_launch_places_add(places, at.site, gp_op_gpu_ns(op));
	}
	gp_op_functions_free(&functions);
	return all_ns;
}

void gp_largest_line_find(struct gp_advisor *advisor, struct gp_advice *advice)
{
	struct gp_launch_places places = {0};
	struct gp_groups lines = {0};
	const struct gp_group *most = NULL;
	uint64_t all_ns;

	all_ns = gather(advisor, &places);
	for (uint32_t i = 0; i < places.count; i++)
		if (places.site_ns[i] > 0)
			gp_groups_add(
				&lines,
				gp_groups_find(&lines, gp_call_sites_at(advisor->sites, i).place),
				places.site_ns[i]);
	for (uint32_t i = 0; i < lines.count; i++)
		if (!most || lines.rows[i].total_ns > most->total_ns)
			most = &lines.rows[i];
	if (most && most->total_ns * LEAST_PART >= all_ns)
		advice->largest = (struct gp_largest){
			.place = strdup(most->key), .ns = most->total_ns, .of_ns = all_ns};
	gp_groups_free(&lines);
	gp_launch_places_free(&places);
}
