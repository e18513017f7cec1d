#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "gpuprof/version.h"
#include "report/model/peak_bandwidth.h"
#include "report/export/sqlite/sqlite_names.h"
#include "report/export/sqlite/sqlite_writer.h"
#include "report/model/losses.h"
#include "report/model/nsys_numbers.h"
#include "report/model/recorded.h"

/* ---- the process ---- */

static void put_process(struct gp_sqlite_export *e)
{
	const char *program = e->model->info[GP_INFO_PROGRAM];
	const struct gp_value values[] = {
		gp_sqlite_process(e),
		gp_value_whole(e->model->pid),
		gp_value_text(program ? program : "program"),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_PROCESSES, values);
}

static void put_threads(struct gp_sqlite_export *e)
{
	for (uint32_t i = 0; i < e->model->thread_count; i++) {
		const struct gp_thread *thread = &e->model->threads[i];
		const struct gp_value values[] = {
			gp_sqlite_string(e->db, thread->name),
			gp_value_none(),
			gp_sqlite_thread(e, thread->id),
		};

		GP_SQLITE_PUT(e, GP_SQLITE_THREADS, values);
	}
}

/* ---- devices, contexts, streams ---- */

struct uuid {
	char text[40];
};

static struct uuid uuid_of(const struct gp_record_device *device)
{
	const uint8_t *u = device->uuid;
	struct uuid uuid;

	snprintf(uuid.text, sizeof(uuid.text),
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
		 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
		 u[15]);
	return uuid;
}

/* Values in the order of the columns of TARGET_INFO_GPU; unknown ones are NULL. */
static void put_gpu(struct gp_sqlite_export *e, const struct gp_record_device *device,
		    const char *name, uint32_t number)
{
	const struct uuid uuid = uuid_of(device);
	const struct gp_value values[] = {
		[0] = gp_value_whole(0),
		[1] = gp_value_whole(number),
		[2] = gp_value_text(name),
		[5] = gp_sqlite_if_any(device->l2_bytes),
		[6] = gp_value_whole(device->memory_bytes),
		[7] = gp_sqlite_if_any(device->memory_bandwidth_kbytes_per_s * 1000),
		[8] = gp_sqlite_if_any((uint64_t)device->core_clock_khz * 1000),
		[9] = gp_value_whole(device->multiprocessors),
		[11] = gp_value_text(uuid.text),
		[14] = gp_value_whole(device->device_id),
		[21] = gp_sqlite_if_any(device->registers_per_block),
		[22] = gp_sqlite_if_any(device->shared_per_block_bytes),
		[23] = gp_sqlite_if_any(device->shared_per_block_optin_bytes),
		[24] = gp_sqlite_if_any(device->shared_per_multiprocessor_bytes),
		[25] = gp_sqlite_if_any(device->registers_per_multiprocessor),
		[26] = gp_sqlite_if_any(device->warp_threads),
		[28] = gp_sqlite_if_any(device->max_warps_per_multiprocessor),
		[29] = gp_sqlite_if_any(device->max_blocks_per_multiprocessor),
		[30] = gp_sqlite_if_any(device->max_threads_per_block),
		[37] = gp_value_whole(device->compute_major),
		[38] = gp_value_whole(device->compute_minor),
		[39] = gp_value_whole(device->compute_major),
		[40] = gp_value_whole(device->compute_minor),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_GPU, values);
}

static void put_devices(struct gp_sqlite_export *e)
{
	const struct gp_model *model = e->model;

	for (uint32_t i = 0; i < model->device_count; i++) {
		const struct gp_record_device *device = &model->devices[i];
		const struct uuid uuid = uuid_of(device);
		bool is_new;
		uint32_t number = gp_gpu_numbers_find(&e->gpus, model, device->device_id, &is_new);
		const struct gp_value values[] = {
			gp_value_whole(number),
			gp_value_whole(device->device_id),
			gp_value_whole(model->pid),
			gp_value_text(uuid.text),
			gp_value_whole(device->multiprocessors),
		};

		if (is_new)
			put_gpu(e, device, model->device_names[i] ? model->device_names[i] : "",
				number);
		GP_SQLITE_PUT(e, GP_SQLITE_CUDA_DEVICE, values);
	}
}

/* The peak bandwidth of links, in bytes per second. */
static void put_links(struct gp_sqlite_export *e)
{
	static const char *const kinds[] = {
		"", [GP_LINK_PCIE] = "PCIe", [GP_LINK_NVLINK] = "NVLink"};
	const struct gp_model *model = e->model;

	for (uint32_t i = 0; i < model->link_count; i++) {
		const struct gp_record_link *link = &model->links[i];
		double peak = gp_link_peak(link);
		const struct gp_value values[] = {
			gp_value_whole(gp_gpu_numbers_find(&e->gpus, model, link->device_id, NULL)),
			gp_value_whole(link->device_id),
			gp_value_whole(model->pid),
			link->link_kind < sizeof(kinds) / sizeof(kinds[0])
				? gp_value_text(kinds[link->link_kind])
				: gp_value_none(),
			gp_sqlite_if_any(link->generation),
			gp_value_whole(link->lanes),
			gp_sqlite_if_any(peak < 1e18 ? (uint64_t)peak : 0),
		};

		GP_SQLITE_PUT(e, GP_SQLITE_LINK, values);
	}
}

static void put_contexts(struct gp_sqlite_export *e)
{
	for (uint32_t i = 0; i < e->model->context_count; i++) {
		const struct gp_record_context *context = &e->model->contexts[i];
		const struct gp_value values[] = {
			gp_value_whole(context->null_stream_id),
			gp_value_whole(0),
			gp_value_whole(0),
			gp_value_whole(e->model->pid),
			gp_value_whole(context->device_id),
			gp_value_whole(context->id),
			gp_sqlite_if_any(context->parent_id),
			gp_value_whole(context->parent_id != 0),
		};

		GP_SQLITE_PUT(e, GP_SQLITE_CONTEXT, values);
	}
}

static void put_stream_name(struct gp_sqlite_export *e, const struct gp_record_stream *stream)
{
	const char *name = gp_model_stream_name(e->model, stream->context_id, stream->id);
	const struct gp_value values[] = {
		gp_value_text(name),
		gp_value_whole(0),
		gp_value_whole(0),
		gp_value_whole(e->model->pid),
		gp_value_whole(gp_model_context_device(e->model, stream->context_id)),
		gp_value_whole(stream->context_id),
		gp_value_whole(stream->id),
	};

	if (*name)
		GP_SQLITE_PUT(e, GP_SQLITE_STREAM_NAME, values);
}

static void put_streams(struct gp_sqlite_export *e)
{
	for (uint32_t i = 0; i < e->model->stream_count; i++) {
		const struct gp_record_stream *stream = &e->model->streams[i];
		const struct gp_value values[] = {
			gp_value_whole(stream->id),
			gp_value_whole(0),
			gp_value_whole(0),
			gp_value_whole(e->model->pid),
			gp_value_whole(stream->context_id),
			gp_value_whole((uint64_t)(int64_t)stream->priority),
			gp_value_whole(stream->flags),
			gp_sqlite_if_any(stream->correlation_id),
		};

		GP_SQLITE_PUT(e, GP_SQLITE_STREAM, values);
		put_stream_name(e, stream);
	}
}

/* ---- missing data ---- */

void gp_sqlite_put_missing(void *context, const char *what, uint64_t count)
{
	struct gp_sqlite_export *e = context;
	char text[256];
	const struct gp_value values[] = {
		gp_sqlite_time(e, e->model->last_ns),
		gp_value_whole(GP_SQLITE_CLOCK_TARGET),
		gp_value_whole(GP_SQLITE_SOURCE_ANALYSIS),
		gp_value_whole(GP_SQLITE_WARNING),
		gp_value_text(text),
		gp_sqlite_process(e),
	};

	snprintf(text, sizeof(text), "%" PRIu64 " %s", count, what);
	GP_SQLITE_PUT(e, GP_SQLITE_DIAGNOSTIC, values);
}

static void put_export(struct gp_sqlite_export *e, const char *name, const char *value)
{
	const struct gp_value values[] = {gp_value_text(name), gp_value_text(value)};

	GP_SQLITE_PUT(e, GP_SQLITE_EXPORT, values);
}

static void put_capture(struct gp_sqlite_export *e, const char *name, const char *value)
{
	const struct gp_value values[] = {gp_value_text(name), gp_value_text(value),
					  gp_sqlite_process(e)};

	if (value)
		GP_SQLITE_PUT(e, GP_SQLITE_CAPTURE, values);
}

/* How the process was recorded. */
static void put_captures(struct gp_sqlite_export *e)
{
	const struct gp_model *model = e->model;

	for (size_t i = 0; i < GP_NSYS_CAPTURES; i++)
		put_capture(e, gp_nsys_captures[i].name, model->info[gp_nsys_captures[i].info]);
	for (uint32_t i = 0; i < model->note_count; i++)
		put_capture(e, GP_NSYS_NOTE, model->notes[i]);
}

static void put_loss(void *context, const struct gp_loss *loss, uint64_t count)
{
	char name[64], text[24];

	gp_sqlite_put_missing(context, loss->sentence, count);
	snprintf(name, sizeof(name), GP_LOSS_KEY "%s", loss->name);
	snprintf(text, sizeof(text), "%" PRIu64, count);
	put_capture(context, name, text);
}

void gp_sqlite_write_about(struct gp_sqlite_export *e)
{
	put_process(e);
	put_threads(e);
	put_devices(e);
	put_links(e);
	put_contexts(e);
	put_streams(e);
	put_captures(e);
	if ((e->model->unknown & GP_UNKNOWN_ORDER) != 0)
		put_export(e, GP_NSYS_NO_ORDER, "");
	if (e->model->recorder)
		put_export(e, GP_NSYS_RECORDER, e->model->recorder);
	if (!gp_recorded_is_whole(e->model))
		put_export(e, GP_NSYS_NO_END, gp_recorded_tell_no_end(e->model));
	gp_loss_each(e->model, put_loss, e);
	gp_loss_each_left_out(e->model, put_loss, e);
	gp_loss_each_of_part(e->model, put_loss, e);
}

/* ---- the session ---- */

struct date {
	char text[40];
};

static struct date date_of(uint64_t unix_ns, struct tm *(*convert)(const time_t *, struct tm *))
{
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct date date = {""};
	struct tm parts;

	if (convert(&seconds, &parts))
		strftime(date.text, sizeof(date.text), "%Y-%m-%dT%H:%M:%S", &parts);
	return date;
}

/* Called after all processes. */
void gp_sqlite_write_session(struct gp_sqlite_export *e)
{
	const struct date utc = date_of(e->base_unix_ns, gmtime_r);
	const struct date local = date_of(e->base_unix_ns, localtime_r);
	const struct gp_value session[] = {
		gp_value_whole(e->base_unix_ns),
		gp_value_text(utc.text),
		gp_value_text(local.text),
	};
	const struct gp_value details[] = {
		gp_value_whole(0),
		gp_value_whole(e->last_ns),
		gp_value_whole(0),
		gp_value_whole(e->last_ns),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_SESSION, session);
	GP_SQLITE_PUT(e, GP_SQLITE_DETAILS, details);
	put_export(e, "EXPORT_PRODUCT_NAME", "gpuprof");
	put_export(e, "EXPORT_PRODUCT_VERSION", GP_VERSION);
	put_export(e, "EXPORT_SCHEMA_VERSION", "3.16.1");
	put_export(e, "EXPORT_SCHEMA_VERSION_MAJOR", "3");
	put_export(e, "EXPORT_SCHEMA_VERSION_MINOR", "16");
	put_export(e, "EXPORT_SCHEMA_VERSION_MICRO", "1");
}
