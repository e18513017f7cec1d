#include "report/html/rank_map.h"

#include <errno.h>
#include <stdlib.h>

#include "report/codec/json_write.h"
#include "report/html/pack.h"

/* Unix time of all ranks. */
struct extent {
	uint64_t start_ns, end_ns;
};

static struct extent extent_of(const struct gp_job *job)
{
	struct extent extent = {.start_ns = UINT64_MAX};

	for (uint32_t i = 0; i < job->count; i++) {
		const struct gp_rank_activity *activity = &job->activities[i];
		uint64_t base_ns = job->models[i]->base_unix_ns;

		if (activity->end_ns == activity->start_ns)
			continue;
		if (base_ns + activity->start_ns < extent.start_ns)
			extent.start_ns = base_ns + activity->start_ns;
		if (base_ns + activity->end_ns > extent.end_ns)
			extent.end_ns = base_ns + activity->end_ns;
	}
	return extent;
}

static int put_facts(FILE *out, const struct extent *extent)
{
	struct gp_json json;
	int result = gp_json_open(&json, NULL);

	gp_json_text(&json, "{\"parts\":");
	gp_json_unsigned(&json, GP_RANK_PARTS);
	gp_json_text(&json, ",\"most\":");
	gp_json_unsigned(&json, GP_RANK_SHARE_MOST);
	gp_json_text(&json, ",\"span_ns\":");
	gp_json_unsigned(&json, extent->end_ns - extent->start_ns);
	gp_json_text(&json, "}");
	if (result == 0)
		result = json.error;
	if (result == 0)
		result = gp_html_put_text(out, "ranks", json.buffer, json.used);
	gp_json_close(&json);
	return result;
}

static int put_parts(FILE *out, const struct gp_job *job, const struct extent *extent)
{
	uint32_t count = job->ranks.count;
	uint8_t(*shares)[GP_RANK_PARTS] =
		calloc((size_t)count * GP_RANK_WORKS + 1, sizeof(*shares));
	int result;

	for (uint32_t i = 0; i < count * GP_RANK_WORKS; i++) {
		size_t process = job->ranks.rows[i % count].process;

		gp_rank_activity_cut(
			&job->activities[process], (enum gp_rank_work)(i / count),
			(int64_t)(extent->start_ns - job->models[process]->base_unix_ns),
			extent->end_ns - extent->start_ns, shares[i]);
	}
	result = gp_html_put_text(out, "rankparts", (const char *)shares,
				  (size_t)count * sizeof(*shares) * GP_RANK_WORKS);
	free(shares);
	return result;
}

int gp_html_put_rank_map(FILE *out, const struct gp_job *job)
{
	struct extent extent = extent_of(job);
	int result;

	if (extent.end_ns <= extent.start_ns)
		return 0;
	result = put_facts(out, &extent);
	return result == 0 ? put_parts(out, job, &extent) : result;
}
