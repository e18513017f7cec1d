#include "report/finish/keep_links.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/finish/chunk_add.h"
#include "report/model/load_options.h"
#include "report/model/nvml_links.h"
#include "report/base/monotonic.h"
#include "report/model/sums/totals.h"
#include "report/base/spill_memory.h"
#include "report/base/io.h"
#include "report/base/worker_process.h"

/* An idle GPU may take a second or two to answer; the summary waits no longer than this. */
#define PATIENCE_NS UINT64_C(3000000000)
#define PROGRESS_MS 100

/* A killed child ends soon, unless it hangs in a driver, where no signal reaches it. */
#define END_LOOKS    100
#define END_PAUSE_NS 1000000

/* Fewer copied bytes say nothing about a link. */
#define LEAST_BYTES (UINT64_C(1) << 20)

#define MOST_LINKS (GP_DEVICE_LIMIT * GP_LINKS_OF_DEVICE)

static bool leaves_device(const struct gp_op *op)
{
	return op->kind == GP_OP_COPY &&
	       ((op->copy_kind >= GP_COPY_HTOD && op->copy_kind <= GP_COPY_ATOH) ||
		op->copy_kind == GP_COPY_PTOP);
}

/* NCCL's kernels use the links between GPUs. */
static bool communicates(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->name_count; i++)
		if (strstr(model->names[i], "nccl"))
			return true;
	return false;
}

static bool wants_links(const struct gp_model *model)
{
	const struct gp_sums *sums = &gp_totals_of(model)->sums;
	uint64_t bytes = 0;

	if (model->link_count > 0 || model->losses.live)
		return false;
	if (communicates(model))
		return true;
	for (uint32_t i = 0; i < model->op_count && bytes < LEAST_BYTES; i++)
		if (leaves_device(&model->ops[i]))
			bytes += model->ops[i].bytes;
	for (uint32_t i = 0; i < sums->count; i++) {
		struct gp_op op = gp_totals_op(sums->sums[i]);

		if (leaves_device(&op))
			bytes += op.bytes;
	}
	return bytes >= LEAST_BYTES;
}

/* ---- the child ---- */

static void answer(const struct gp_model *model, int out)
{
	struct gp_record_link links[GP_LINKS_OF_DEVICE];

	for (uint32_t i = 0; i < model->device_count; i++) {
		size_t count = gp_link_facts(model->devices[i].uuid, links);

		for (size_t j = 0; j < count; j++)
			links[j].device_id = model->devices[i].device_id;
		if (gp_write_all(out, links, count * sizeof(*links)) != 0)
			return;
	}
}

/* ---- the parent ---- */

/* A child did not answer in time, so later children would not, either. */
static bool is_silent;

/*
 * Reads the records that arrive before the child ends or the time is up, and reports progress
 * meanwhile. Returns their number.
 */
static size_t listen_to(int in, const struct gp_load_options *options,
			struct gp_record_link links[MOST_LINKS])
{
	uint64_t end_ns = gp_monotonic_ns() + PATIENCE_NS;
	struct pollfd ready = {.fd = in, .events = POLLIN};
	size_t bytes = 0;
	ssize_t taken = 1;

	while (taken > 0 && bytes < MOST_LINKS * sizeof(*links) && gp_monotonic_ns() < end_ns) {
		if (options->progress)
			options->progress(options->progress_context);
		if (poll(&ready, 1, PROGRESS_MS) <= 0)
			continue;
		taken = read(in, (char *)links + bytes, MOST_LINKS * sizeof(*links) - bytes);
		bytes += taken > 0 ? (size_t)taken : 0;
	}
	is_silent = gp_monotonic_ns() >= end_ns;
	return bytes / sizeof(*links);
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	for (int i = 0; i < END_LOOKS && waitpid(child, NULL, WNOHANG) == 0; i++)
		nanosleep(&(struct timespec){0, END_PAUSE_NS}, NULL);
}

static size_t ask(const struct gp_model *model, const struct gp_load_options *options,
		  struct gp_record_link links[MOST_LINKS])
{
	size_t count = 0;
	int ends[2];
	pid_t asker = getpid(), child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 0;
	child = fork();
	if (child == 0) {
		if (gp_isolate_child(asker, ends[1], -1))
			answer(model, GP_CHILD_FILE);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0) {
		count = listen_to(ends[0], options, links);
		end(child);
	}
	close(ends[0]);
	return count;
}

static void append(int trace, struct gp_model *model)
{
	struct gp_chunk_writer writer;

	gp_chunk_begin(&writer, trace, model);
	for (uint32_t i = 0; i < model->link_count; i++) {
		struct gp_record_link record = model->links[i];

		record.kind = GP_RECORD_LINK;
		record.slots = sizeof(record) / GP_SLOT_BYTES;
		gp_chunk_put(&writer, (const struct gp_record *)&record);
	}
	gp_chunk_end(&writer);
}

void gp_keep_links(struct gp_model *model, const struct gp_load_options *options)
{
	struct gp_record_link *links;
	size_t count;

	if (is_silent || !wants_links(model))
		return;
	links = gp_spill_take(MOST_LINKS * sizeof(*links));
	count = ask(model, options, links);
	if (count == 0) {
		gp_spill_free(links);
		return;
	}
	gp_spill_free(model->links);
	model->links = links;
	model->link_count = (uint32_t)count;
	if (options->save_to >= 0)
		append(options->save_to, model);
}
