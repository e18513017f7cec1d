#include "report/analysis/memory/oom_snapshot.h"

#include <string.h>

#include "report/base/text/format.h"
#include "report/model/memory_stats.h"
#include "report/model/recorded.h"
#include "report/base/tally.h"

/* Of a row's sums. */
enum { BYTES };

/* Whether a failed call needed device memory, and tells of which device. */
static bool wants_device_memory(const struct gp_model *model, const struct gp_call *call)
{
	return call->status == GP_OUT_OF_MEMORY && call->context_id != 0 &&
	       !strstr(gp_model_api(model, call->api).name, "Host");
}

static bool is_held(const struct gp_model *model, const struct gp_memory_event *event,
		    uint16_t device_id, uint64_t time_ns)
{
	return event->op == GP_MEMORY_ALLOC && event->call != GP_NONE &&
	       event->device_id == device_id && gp_memory_is_of_device(event->memory_kind) &&
	       event->time_ns <= time_ns &&
	       (event->other == GP_NONE || model->memory[event->other].time_ns > time_ns);
}

static void add_all(struct gp_oom_snapshot *held, struct gp_tally *places,
		    const struct gp_model *model, const struct gp_call *call,
		    struct gp_call_sites *sites)
{
	uint16_t device_id = gp_model_context_device(model, call->context_id);

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		struct gp_tally_row *row;
		uint32_t site;

		if (!is_held(model, event, device_id, call->start_ns))
			continue;
		site = gp_call_sites_find(sites, model, &model->calls[event->call]);
		row = gp_tally_find(places, (uint64_t[GP_TALLY_KEYS]){site});
		row->sums[BYTES] += event->bytes;
		held->bytes += event->bytes;
		held->blocks++;
	}
}

/* One more place, in the order of bytes. */
static void put_place(struct gp_oom_snapshot *held, const struct gp_tally_row *row)
{
	uint32_t at = GP_OOM_SNAPSHOT_SITES;

	while (at > 0 && row->sums[BYTES] > held->site_bytes[at - 1])
		at--;
	for (uint32_t i = GP_OOM_SNAPSHOT_SITES - 1; i > at && at < GP_OOM_SNAPSHOT_SITES; i--) {
		held->sites[i] = held->sites[i - 1];
		held->site_bytes[i] = held->site_bytes[i - 1];
	}
	if (at == GP_OOM_SNAPSHOT_SITES)
		return;
	held->sites[at] = (uint32_t)row->key[0];
	held->site_bytes[at] = row->sums[BYTES];
}

static uint64_t memory_of_device(const struct gp_model *model, uint16_t device_id)
{
	for (uint32_t i = 0; i < model->device_count; i++)
		if (model->devices[i].device_id == device_id)
			return model->devices[i].memory_bytes;
	return 0;
}

void gp_oom_snapshot_at(struct gp_oom_snapshot *held, const struct gp_model *model,
			const struct gp_call *call, struct gp_call_sites *sites)
{
	struct gp_tally places = {0};

	*held = (struct gp_oom_snapshot){0};
	if (!wants_device_memory(model, call) || model->gate_count > 0 ||
	    gp_recorded_is_last_part(model) || !gp_recorded_kind(model, "memory"))
		return;
	add_all(held, &places, model, call, sites);
	for (uint32_t i = 0; i < places.count; i++)
		put_place(held, &places.rows[i]);
	held->place_count = places.count;
	held->total_bytes =
		memory_of_device(model, gp_model_context_device(model, call->context_id));
	held->is_known = 0 == 0;
	gp_tally_free(&places);
}

/* With the callers that distinguish it: "checked_malloc (a.cu:3) < load (a.cu:9)". */
static void print_site(FILE *out, const struct gp_call_sites *sites, uint32_t number)
{
	struct gp_call_site site = gp_call_sites_at(sites, number);
	size_t apart = *site.callers ? gp_call_sites_tell_apart(sites, number) : 0;

	fprintf(out, "%s%s%.*s", site.place, apart > 0 ? GP_SITE_SEPARATOR : "", (int)apart,
		site.callers);
}

void gp_oom_snapshot_tell_places(FILE *out, const struct gp_oom_snapshot *held,
				 const struct gp_call_sites *sites)
{
	uint64_t rest_bytes = held->bytes;
	uint32_t shown = held->place_count < GP_OOM_SNAPSHOT_SITES ? held->place_count
								   : GP_OOM_SNAPSHOT_SITES;

	for (uint32_t i = 0; i < shown; i++) {
		fprintf(out, "%s%s of ", i > 0 ? ", " : "",
			gp_format_bytes(held->site_bytes[i]).text);
		print_site(out, sites, held->sites[i]);
		rest_bytes -= held->site_bytes[i];
	}
	if (held->place_count > shown)
		fprintf(out, ", %s of %s other place%s", gp_format_bytes(rest_bytes).text,
			gp_format_count(held->place_count - shown).text,
			held->place_count - shown == 1 ? "" : "s");
}

void gp_oom_snapshot_tell(FILE *out, const struct gp_oom_snapshot *held,
			  const struct gp_call_sites *sites)
{
	fprintf(out, "the process held %s",
		held->bytes > 0 ? gp_format_bytes(held->bytes).text : "nothing");
	if (held->total_bytes > 0)
		fprintf(out, " of %s", gp_format_bytes(held->total_bytes).text);
	fputs(" then", out);
	if (held->blocks == 0)
		return;
	fprintf(out, ", in %s block%s: ", gp_format_count(held->blocks).text,
		held->blocks == 1 ? "" : "s");
	gp_oom_snapshot_tell_places(out, held, sites);
}
