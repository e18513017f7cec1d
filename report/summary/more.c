/* The other kinds of events in the trace: a row for each, with the --by table that details it. */
#include "report/summary/part.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/queue.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/base/tally.h"

/* Overhead, and loading and compiling code, are shown from this share of the time on. */
#define LEAST_SHARE 0.01

/* Queue figures are shown from this number of launches on. */
#define MANY_LAUNCHES 100

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- counting ---- */

/* CUPTI's kinds of synchronization. */
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT, SYNC_STREAM, SYNC_CONTEXT, SYNC_KINDS };

struct kinds {
	uint64_t syncs[SYNC_KINDS], sync_ns;
	uint64_t events, host_functions, graph_launches; /* calls */
	uint64_t host_runs, host_ns;                     /* host functions that ran */
	uint64_t graphs, graph_ops, graph_ns;
	uint64_t host_copies, host_copy_ns; /* from host to host */
	uint64_t streams, contexts;
	uint64_t unified[GP_UNIFIED_KINDS]; /* bytes or faults */
	uint64_t compiled, compile_ns, cache_ns, loaded, load_ns;
	uint64_t full_queues, full_queue_ns, overheads, overhead_ns;
	uint64_t launched, late, brief, blocked, blocked_ns; /* struct gp_queue */
};

static void count_syncs(struct kinds *kinds, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->sync_count; i++) {
		const struct gp_record_sync *sync = &model->syncs[i];

		kinds->syncs[sync->sync_kind < SYNC_KINDS ? sync->sync_kind : 0]++;
		if (sync->sync_kind != SYNC_STREAM_WAIT)
			kinds->sync_ns += sync->end_ns - sync->start_ns;
	}
}

static void count_calls(struct kinds *kinds, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		uint8_t class =
			call->status == 0 ? gp_model_api_class(model, call->api) : GP_API_OTHER;

		kinds->events += class == GP_API_EVENT;
		kinds->host_functions += class == GP_API_HOST;
		kinds->graph_launches += class == GP_API_GRAPH_LAUNCH;
	}
}

/* Whether that key was never seen before. */
static bool is_new(struct gp_tally *seen, uint64_t what, uint64_t process, uint64_t a, uint64_t b)
{
	return gp_tally_find(seen, (uint64_t[GP_TALLY_KEYS]){what, process, a, b})->count++ == 0;
}

static void count_place(struct kinds *kinds, struct gp_tally *seen, uint64_t process,
			const struct gp_op *op)
{
	enum { CONTEXTS, STREAMS };

	kinds->contexts += is_new(seen, CONTEXTS, process, op->context_id, 0);
	kinds->streams += is_new(seen, STREAMS, process, op->context_id, op->stream_id);
}

static void count_ops(struct kinds *kinds, struct gp_tally *seen, const struct gp_model *model,
		      uint64_t process)
{
	enum { GRAPHS = 2 };

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (i == 0 || !gp_ops_share_stream(op, op - 1))
			count_place(kinds, seen, process, op);
		if (gp_op_is_on_host(op)) {
			kinds->host_copies++;
			kinds->host_copy_ns += op->end_ns - op->start_ns;
		}
		if (op->graph_id == 0 && gp_model_detail(model, op)->graph_node_id == 0 &&
		    op->kind != GP_OP_GRAPH)
			continue;
		kinds->graphs += is_new(seen, GRAPHS, process, op->graph_id, 0);
		kinds->graph_ops++;
		kinds->graph_ns += op->end_ns - op->start_ns;
	}
}

static void count_host_functions(struct kinds *kinds, const struct gp_model *model)
{
	kinds->host_runs += model->host_function_count;
	for (uint32_t i = 0; i < model->host_function_count; i++)
		kinds->host_ns +=
			model->host_functions[i].end_ns - model->host_functions[i].start_ns;
}

static void count_unified(struct kinds *kinds, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->unified_count; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];
		uint16_t kind = event->counter_kind;

		if (kind < GP_UNIFIED_KINDS)
			kinds->unified[kind] += kind == GP_UNIFIED_CPU_FAULT ? 1 : event->value;
	}
}

uint64_t gp_summary_overhead_within_ns(struct gp_model *model, const struct gp_overhead *overhead,
				       struct gp_window window)
{
	uint64_t start_ns = window.start_unix_ns - model->base_unix_ns;
	uint64_t end_ns = window.end_unix_ns - model->base_unix_ns;

	if (!gp_overhead_holds_up(model, overhead))
		return 0;
	if (start_ns < overhead->start_ns)
		start_ns = overhead->start_ns;
	if (end_ns > overhead->end_ns)
		end_ns = overhead->end_ns;
	return start_ns < end_ns ? end_ns - start_ns : 0;
}

static void count_code(struct kinds *kinds, struct gp_model *model)
{
	struct gp_window window = gp_busy_window(&model, 1);

	for (uint32_t i = 0; i < model->jit_count; i++) {
		const struct gp_record_jit *jit = &model->jits[i];
		bool compiles = gp_jit_op_compiles(jit->op_kind);

		*(compiles ? &kinds->compile_ns : &kinds->cache_ns) += jit->end_ns - jit->start_ns;
		kinds->compiled += compiles;
	}
	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];
		bool loads = gp_overhead_is_of_loading(overhead->overhead_kind);
		bool waits = gp_overhead_is_of_queue(overhead->overhead_kind);
		uint64_t within_ns = gp_summary_overhead_within_ns(model, overhead, window);

		*(loads   ? &kinds->load_ns
		  : waits ? &kinds->full_queue_ns
			  : &kinds->overhead_ns) += within_ns;
		*(loads   ? &kinds->loaded
		  : waits ? &kinds->full_queues
			  : &kinds->overheads) += within_ns > 0;
	}
}

/* ---- the rows ---- */

/* Sum the queue figures of all streams. */
static void count_queues(struct kinds *kinds, const struct gp_model *model)
{
	for (uint32_t first = 0, next; first < model->op_count; first = next) {
		struct gp_queue queue;

		next = gp_model_stream_end(model, first);
		gp_queue_of(&queue, model, first, next, NULL, NULL);
		kinds->launched += queue.launched;
		kinds->late += queue.late;
		kinds->brief += queue.brief;
		kinds->blocked += queue.blocked;
		kinds->blocked_ns += queue.blocked_ns;
	}
}

/* Not for a few launches, nor if nearly all of them were fine. */
static bool have_queues(const struct kinds *kinds)
{
	return kinds->launched >= MANY_LAUNCHES &&
	       (kinds->blocked > 0 || kinds->late * 10 > kinds->launched ||
		kinds->brief * 10 > kinds->launched);
}

static bool matters(const struct gp_summary *summary, uint64_t ns)
{
	uint64_t window_ns = summary->window.end_unix_ns - summary->window.start_unix_ns;

	return ns > 0 && (double)ns >= LEAST_SHARE * (double)window_ns;
}

/*
 * Add a row with its sentence for the whole page, unless number is 0.  Returns whether it added
 * one.
 */
__attribute__((format(printf, 6, 7))) static bool add(struct gp_document *document,
						      const char *table, const char *id,
						      enum gp_unit unit, uint64_t number,
						      const char *format, ...)
{
	char text[128];
	va_list list;

	if (number == 0)
		return false;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	gp_document_add_row(document);
	gp_document_add_text(document, "id", id);
	gp_document_add_text(document, "table", table);
	gp_document_add_number(document,
			       unit == GP_UNIT_NS      ? "time_ns"
			       : unit == GP_UNIT_BYTES ? "bytes"
						       : "count",
			       unit, number);
	gp_document_add_text(document, "text", text);
	return true;
}

/* The short form of the last row, for one screen. */
#define add_brief(document, ...) gp_document_add_words(document, "brief", __VA_ARGS__)

static void add_places(const struct kinds *k, struct gp_document *document)
{
	if (add(document, "stream", "streams", GP_UNIT_COUNT, k->streams > 1 ? k->streams : 0,
		"operations in %s streams of %s context%s", gp_format_count(k->streams).text,
		gp_format_count(k->contexts).text, plural(k->contexts)))
		add_brief(document, "%s streams", gp_format_count(k->streams).text);
	if (add(document, "stream", "host-functions", GP_UNIT_COUNT, k->host_functions,
		"%s host function%s enqueued", gp_format_count(k->host_functions).text,
		plural(k->host_functions)))
		add_brief(document, "%s host function%s", gp_format_count(k->host_functions).text,
			  plural(k->host_functions));
	add(document, "stream", "host-function-runs", GP_UNIT_COUNT, k->host_runs,
	    "%s run%s of host functions: %s", gp_format_count(k->host_runs).text,
	    plural(k->host_runs), gp_format_ns(k->host_ns).text);
}

static void add_graphs(const struct kinds *k, struct gp_document *document)
{
	const char *es = k->graph_launches == 1 ? "" : "es";

	if (add(document, "graph", "graph-launches", GP_UNIT_COUNT, k->graph_launches,
		"%s graph launch%s", gp_format_count(k->graph_launches).text, es))
		add_brief(document, "%s graph launch%s", gp_format_count(k->graph_launches).text,
			  es);
	if (add(document, "graph", "graph-operations", GP_UNIT_COUNT, k->graph_ops,
		"%s operation%s of %s graph%s: %s", gp_format_count(k->graph_ops).text,
		plural(k->graph_ops), gp_format_count(k->graphs).text, plural(k->graphs),
		gp_format_ns(k->graph_ns).text))
		add_brief(document, "%s graph operation%s", gp_format_count(k->graph_ops).text,
			  plural(k->graph_ops));
}

static void add_queues(const struct kinds *k, struct gp_document *document)
{
	bool is_shown = have_queues(k);

	if (add(document, "queue", "late-operations", GP_UNIT_COUNT, is_shown ? k->late : 0,
		"of %s launched operations %s came late: their stream was already idle",
		gp_format_count(k->launched).text, gp_format_count(k->late).text))
		add_brief(document, "%s of %s operations launched into an idle stream",
			  gp_format_count(k->late).text, gp_format_count(k->launched).text);
	add(document, "queue", "brief-operations", GP_UNIT_COUNT, is_shown ? k->brief : 0,
	    "%s took less time than their launch call", gp_format_count(k->brief).text);
	if (add(document, "queue", "blocked-calls", GP_UNIT_NS, k->blocked_ns,
		"%s call%s blocked by a full queue: %s", gp_format_count(k->blocked).text,
		plural(k->blocked), gp_format_ns(k->blocked_ns).text))
		add_brief(document, "%s blocked by full queues", gp_format_ns(k->blocked_ns).text);
}

static void add_waits(const struct gp_summary *summary, const struct kinds *k,
		      struct gp_document *document)
{
	const uint64_t *syncs = k->syncs;

	if (add(document, "sync", "waits", GP_UNIT_NS, k->sync_ns,
		"the host waited %s (without copies)", gp_format_ns(k->sync_ns).text) &&
	    matters(summary, k->sync_ns))
		add_brief(document, "%s in synchronization", gp_format_ns(k->sync_ns).text);
	add(document, "sync", "event-waits", GP_UNIT_COUNT, syncs[SYNC_EVENT], "%s x for an event",
	    gp_format_count(syncs[SYNC_EVENT]).text);
	add(document, "sync", "stream-waits", GP_UNIT_COUNT, syncs[SYNC_STREAM],
	    "%s x for a stream", gp_format_count(syncs[SYNC_STREAM]).text);
	add(document, "sync", "context-waits", GP_UNIT_COUNT, syncs[SYNC_CONTEXT],
	    "%s x for a context", gp_format_count(syncs[SYNC_CONTEXT]).text);
	add(document, "sync", "waits-of-streams", GP_UNIT_COUNT, syncs[SYNC_STREAM_WAIT],
	    "%s x by a stream for an event", gp_format_count(syncs[SYNC_STREAM_WAIT]).text);
	add(document, "sync", "events", GP_UNIT_COUNT, k->events, "%s event%s recorded",
	    gp_format_count(k->events).text, plural(k->events));
}

static void add_unified(const struct kinds *k, struct gp_document *document)
{
	static const struct {
		int kind;
		const char *id, *where;
	} moves[] = {{GP_UNIFIED_HTOD, "migrated-to-gpus", "to GPUs"},
		     {GP_UNIFIED_DTOH, "migrated-to-host", "to the host"},
		     {GP_UNIFIED_DTOD, "migrated-between-gpus", "between GPUs"}};
	uint64_t cpu = k->unified[GP_UNIFIED_CPU_FAULT], gpu = k->unified[GP_UNIFIED_GPU_FAULT];

	for (size_t i = 0; i < COUNT(moves); i++) {
		struct gp_figure bytes = gp_format_bytes(k->unified[moves[i].kind]);

		if (add(document, "unified", moves[i].id, GP_UNIT_BYTES, k->unified[moves[i].kind],
			"%s migrated %s", bytes.text, moves[i].where))
			add_brief(document, "%s migrated %s", bytes.text, moves[i].where);
	}
	add(document, "unified", "cpu-page-faults", GP_UNIT_COUNT, cpu, "%s CPU page fault%s",
	    gp_format_count(cpu).text, plural(cpu));
	add(document, "unified", "gpu-page-faults", GP_UNIT_COUNT, gpu, "%s GPU page fault%s",
	    gp_format_count(gpu).text, plural(gpu));
	if (cpu + gpu > 0) /* in the last of the two rows */
		add_brief(document, "%s page fault%s", gp_format_count(cpu + gpu).text,
			  plural(cpu + gpu));
}

static void add_code(const struct gp_summary *summary, const struct kinds *k,
		     struct gp_document *document)
{
	bool is_shown = matters(summary, k->compile_ns + k->cache_ns + k->load_ns);

	if (add(document, "module", "compiling", GP_UNIT_NS, is_shown ? k->compile_ns : 0,
		"%s compiling (%s x)", gp_format_ns(k->compile_ns).text,
		gp_format_count(k->compiled).text) &&
	    matters(summary, k->compile_ns))
		add_brief(document, "%s compiling", gp_format_ns(k->compile_ns).text);
	add(document, "module", "compiler-cache", GP_UNIT_NS, is_shown ? k->cache_ns : 0,
	    "%s in the compiler cache", gp_format_ns(k->cache_ns).text);
	if (add(document, "module", "loading", GP_UNIT_NS, is_shown ? k->load_ns : 0,
		"%s loading modules and functions (%s x)", gp_format_ns(k->load_ns).text,
		gp_format_count(k->loaded).text) &&
	    matters(summary, k->load_ns))
		add_brief(document, "%s loading code", gp_format_ns(k->load_ns).text);
	if (add(document, "overhead", "full-queue", GP_UNIT_NS,
		matters(summary, k->full_queue_ns) ? k->full_queue_ns : 0,
		"%s waited for space in the driver's full queue (%s x): the host is far ahead of the GPU",
		gp_format_ns(k->full_queue_ns).text, gp_format_count(k->full_queues).text))
		add_brief(document, "%s waited for space in a full launch queue",
			  gp_format_ns(k->full_queue_ns).text);
	if (add(document, "overhead", "overhead", GP_UNIT_NS,
		matters(summary, k->overhead_ns) ? k->overhead_ns : 0,
		"%s of the profiler and the driver (%s x%s)", gp_format_ns(k->overhead_ns).text,
		gp_format_count(k->overheads).text, k->overheads > 1 ? ", of all kinds" : ""))
		add_brief(document, "%s overhead of the profiler and the driver",
			  gp_format_ns(k->overhead_ns).text);
}

static void count_all(const struct gp_summary *summary, struct kinds *kinds)
{
	struct gp_tally seen = {0};

	for (size_t i = 0; i < summary->model_count; i++) {
		count_queues(kinds, summary->models[i]);
		count_syncs(kinds, summary->models[i]);
		count_calls(kinds, summary->models[i]);
		count_ops(kinds, &seen, summary->models[i], i);
		count_host_functions(kinds, summary->models[i]);
		count_unified(kinds, summary->models[i]);
		count_code(kinds, summary->models[i]);
	}
	gp_tally_free(&seen);
}

int gp_summary_add_more(const struct gp_summary *summary, struct gp_document *document)
{
	struct kinds kinds = {0};

	count_all(summary, &kinds);
	gp_document_add_section(document, "more");
	add_places(&kinds, document);
	add_graphs(&kinds, document);
	add_queues(&kinds, document);
	if (add(document, "copy", "host-copies", GP_UNIT_COUNT, kinds.host_copies,
		"%s from host to host took %s on the CPU: they are not GPU work",
		gp_format_count(kinds.host_copies).text, gp_format_ns(kinds.host_copy_ns).text))
		add_brief(document, "%s cop%s from host to host, not GPU work",
			  gp_format_count(kinds.host_copies).text,
			  kinds.host_copies == 1 ? "y" : "ies");
	add_waits(summary, &kinds, document);
	add_unified(&kinds, document);
	add_code(summary, &kinds, document);
	return 0;
}

/* ---- the lines ---- */

/* One line: that field of the rows of a table (NULL = of all rows). */
static void print_line(const struct gp_summary *summary, const struct gp_section *rows,
		       const char *lead, const char *table, const char *field)
{
	struct gp_paragraph line = {.out = summary->out,
				    .columns = gp_summary_columns(summary),
				    .lead = lead,
				    .separator = ","};

	for (uint32_t i = 0; i < rows->count; i++) {
		const char *text = gp_fields_text(&rows->rows[i], field);

		if (*text &&
		    (!table || strcmp(gp_fields_text(&rows->rows[i], "table"), table) == 0))
			gp_paragraph_add(&line, text);
	}
	gp_paragraph_end(&line);
}

static void print_tables(const struct gp_summary *summary, const struct gp_section *rows)
{
	static const char *const tables[] = {"stream", "queue",   "copy",   "sync",
					     "graph",  "unified", "module", "overhead"};
	char lead[16];

	fputs("\nMore (`gpuprof summary --by WORD FILE` prints a table for each word in the first column)\n",
	      summary->out);
	for (size_t i = 0; i < COUNT(tables); i++) {
		snprintf(lead, sizeof(lead), "%-9s ", tables[i]);
		print_line(summary, rows, lead, tables[i], "text");
	}
}

int gp_summary_print_more(const struct gp_summary *summary)
{
	struct gp_document document = {0};
	const struct gp_section *rows;

	gp_summary_add_more(summary, &document);
	rows = gp_document_section(&document, "more");
	if (rows->count > 0 && summary->options->brief)
		print_line(summary, rows, "also: ", NULL, "brief");
	else if (rows->count > 0)
		print_tables(summary, rows);
	gp_document_free(&document);
	return 0;
}
