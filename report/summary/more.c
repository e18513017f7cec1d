#include "report/summary/part.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/queue.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/base/tally.h"

/* Share of the time from which overhead, and loading and compiling code, are worth a line. */
#define LEAST_SHARE 0.01

/* Launches from which on it is worth a line how they went. */
#define MANY_LAUNCHES 100

/* One line: a word of --by, and what it has a table of. */
struct line {
	struct gp_paragraph paragraph;
	char lead[16];
};

static void begin(struct line *line, const struct gp_summary *summary, const char *word)
{
	snprintf(line->lead, sizeof(line->lead), "%-9s ", word);
	line->paragraph = (struct gp_paragraph){.out = summary->out,
						.columns = gp_summary_columns(summary),
						.lead = line->lead,
						.separator = ","};
}

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	char text[128];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	gp_paragraph_add(&line->paragraph, text);
}

static void end(struct line *line)
{
	gp_paragraph_end(&line->paragraph);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- what there is ---- */

/* CUPTI's kinds of synchronization. */
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT, SYNC_STREAM, SYNC_CONTEXT, SYNC_KINDS };

struct kinds {
	uint64_t syncs[SYNC_KINDS], sync_ns;
	uint64_t events, host_functions, graph_launches; /* calls */
	uint64_t host_runs, host_ns;                     /* of functions of the host, as they ran */
	uint64_t graphs, graph_ops, graph_ns;
	uint64_t host_copies, host_copy_ns; /* from host to host */
	uint64_t streams, contexts;
	uint64_t unified[GP_UNIFIED_KINDS]; /* bytes or faults */
	uint64_t compiled, compile_ns, cache_ns, loaded, load_ns;
	uint64_t overheads, overhead_ns;
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
		uint64_t within_ns = gp_summary_overhead_within_ns(model, overhead, window);

		*(loads ? &kinds->load_ns : &kinds->overhead_ns) += within_ns;
		*(loads ? &kinds->loaded : &kinds->overheads) += within_ns > 0;
	}
}

/* ---- the lines ---- */

/* What the launches of all streams come to. */
static int count_queues(struct kinds *kinds, const struct gp_model *model)
{
	int result = 0;

	for (uint32_t first = 0, next; result == 0 && first < model->op_count; first = next) {
		struct gp_queue queue;

		next = gp_model_stream_end(model, first);
		result = gp_queue_of(&queue, model, first, next, NULL, NULL);
		kinds->launched += queue.launched;
		kinds->late += queue.late;
		kinds->brief += queue.brief;
		kinds->blocked += queue.blocked;
		kinds->blocked_ns += queue.blocked_ns;
	}
	return result;
}

/* Not of a few launches, nor where nearly all is well. */
static bool have_queues(const struct kinds *kinds)
{
	return kinds->launched >= MANY_LAUNCHES &&
	       (kinds->blocked > 0 || kinds->late * 10 > kinds->launched ||
		kinds->brief * 10 > kinds->launched);
}

static void print_queues(const struct gp_summary *summary, const struct kinds *kinds)
{
	struct line line;

	if (!have_queues(kinds))
		return;
	begin(&line, summary, "queue");
	add(&line, "of %s launched operations %s came late: their stream had nothing left to do",
	    gp_format_count(kinds->launched).text, gp_format_count(kinds->late).text);
	add(&line, "%s took less time than their launch", gp_format_count(kinds->brief).text);
	if (kinds->blocked > 0)
		add(&line, "%s call%s waited in full queues: %s",
		    gp_format_count(kinds->blocked).text, plural(kinds->blocked),
		    gp_format_ns(kinds->blocked_ns).text);
	end(&line);
}

static void print_host_copies(const struct gp_summary *summary, const struct kinds *kinds)
{
	struct line line;

	if (kinds->host_copies == 0)
		return;
	begin(&line, summary, "copy");
	add(&line, "%s from host to host took %s, on the host: they are no work of a GPU",
	    gp_format_count(kinds->host_copies).text, gp_format_ns(kinds->host_copy_ns).text);
	end(&line);
}

static void print_syncs(const struct gp_summary *summary, const struct kinds *kinds)
{
	static const char *const names[SYNC_KINDS] = {
		[SYNC_EVENT] = "event", [SYNC_STREAM] = "stream", [SYNC_CONTEXT] = "context"};
	uint64_t waits = kinds->syncs[SYNC_STREAM_WAIT];
	struct line line;

	begin(&line, summary, "sync");
	if (kinds->sync_ns > 0)
		add(&line, "the host waited %s (copies apart)", gp_format_ns(kinds->sync_ns).text);
	for (size_t i = 0; i < SYNC_KINDS; i++)
		if (names[i] && kinds->syncs[i] > 0)
			add(&line, "%s x for %s %s", gp_format_count(kinds->syncs[i]).text,
			    i == SYNC_EVENT ? "an" : "a", names[i]);
	if (waits > 0)
		add(&line, "streams waited for events %s x", gp_format_count(waits).text);
	if (kinds->events > 0)
		add(&line, "%s event%s recorded", gp_format_count(kinds->events).text,
		    plural(kinds->events));
	end(&line);
}

static void print_places(const struct gp_summary *summary, const struct kinds *kinds)
{
	struct line line;

	begin(&line, summary, "stream");
	if (kinds->streams > 1)
		add(&line, "operations in %s stream%s of %s context%s",
		    gp_format_count(kinds->streams).text, plural(kinds->streams),
		    gp_format_count(kinds->contexts).text, plural(kinds->contexts));
	if (kinds->host_functions > 0)
		add(&line, "%s function%s of the host put in",
		    gp_format_count(kinds->host_functions).text, plural(kinds->host_functions));
	if (kinds->host_runs > 0)
		add(&line, "%s run%s of such functions: %s", gp_format_count(kinds->host_runs).text,
		    plural(kinds->host_runs), gp_format_ns(kinds->host_ns).text);
	end(&line);
}

static void print_graphs(const struct gp_summary *summary, const struct kinds *kinds)
{
	struct line line;

	begin(&line, summary, "graph");
	if (kinds->graph_launches > 0)
		add(&line, "%s launch%s of graphs", gp_format_count(kinds->graph_launches).text,
		    kinds->graph_launches == 1 ? "" : "es");
	if (kinds->graph_ops > 0)
		add(&line, "%s operation%s of %s graph%s: %s",
		    gp_format_count(kinds->graph_ops).text, plural(kinds->graph_ops),
		    gp_format_count(kinds->graphs).text, plural(kinds->graphs),
		    gp_format_ns(kinds->graph_ns).text);
	end(&line);
}

static void print_unified(const struct gp_summary *summary, const struct kinds *kinds)
{
	static const struct {
		int kind;
		const char *text;
	} moves[] = {{GP_UNIFIED_HTOD, "to GPUs"},
		     {GP_UNIFIED_DTOH, "to the host"},
		     {GP_UNIFIED_DTOD, "between GPUs"}};
	static const struct {
		int kind;
		const char *text;
	} faults[] = {{GP_UNIFIED_CPU_FAULT, "the CPU"}, {GP_UNIFIED_GPU_FAULT, "GPUs"}};
	struct line line;

	begin(&line, summary, "unified");
	for (size_t i = 0; i < COUNT(moves); i++)
		if (kinds->unified[moves[i].kind] > 0)
			add(&line, "%s moved %s",
			    gp_format_bytes(kinds->unified[moves[i].kind]).text, moves[i].text);
	for (size_t i = 0; i < COUNT(faults); i++)
		if (kinds->unified[faults[i].kind] > 0)
			add(&line, "%s page fault%s of %s",
			    gp_format_count(kinds->unified[faults[i].kind]).text,
			    plural(kinds->unified[faults[i].kind]), faults[i].text);
	end(&line);
}

static bool matters(const struct gp_summary *summary, uint64_t ns)
{
	uint64_t window_ns = summary->window.end_unix_ns - summary->window.start_unix_ns;

	return ns > 0 && (double)ns >= LEAST_SHARE * (double)window_ns;
}

static void print_code(const struct gp_summary *summary, const struct kinds *kinds)
{
	struct line line;

	begin(&line, summary, "module");
	if (matters(summary, kinds->compile_ns + kinds->cache_ns + kinds->load_ns)) {
		add(&line, "%s compiling (%s x)", gp_format_ns(kinds->compile_ns).text,
		    gp_format_count(kinds->compiled).text);
		add(&line, "%s in the compiler's cache", gp_format_ns(kinds->cache_ns).text);
		add(&line, "%s loading modules and functions (%s x)",
		    gp_format_ns(kinds->load_ns).text, gp_format_count(kinds->loaded).text);
	}
	end(&line);
	begin(&line, summary, "overhead");
	if (matters(summary, kinds->overhead_ns))
		add(&line, "%s that CUPTI and the driver say they took (%s x%s)",
		    gp_format_ns(kinds->overhead_ns).text, gp_format_count(kinds->overheads).text,
		    kinds->overheads > 1 ? ", of all kinds" : "");
	end(&line);
}

static bool are_any(const struct gp_summary *summary, const struct kinds *kinds)
{
	uint64_t things = kinds->events + kinds->host_functions + kinds->host_runs +
			  kinds->graph_launches + kinds->graph_ops + kinds->host_copies +
			  (kinds->streams > 1);

	for (size_t i = SYNC_EVENT; i < SYNC_KINDS; i++)
		things += kinds->syncs[i];
	for (size_t i = 0; i < GP_UNIFIED_KINDS; i++)
		things += kinds->unified[i];
	return things > 0 || have_queues(kinds) || matters(summary, kinds->overhead_ns) ||
	       matters(summary, kinds->compile_ns + kinds->cache_ns + kinds->load_ns);
}

/* ---- all in one line ---- */

static struct gp_figure late_of(const struct kinds *kinds)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.12s of %.12s",
		 gp_format_count(kinds->late).text, gp_format_count(kinds->launched).text);
	return figure;
}

/*
 * Of each kind what it comes to; what the host waited, compiled and the like is told where it
 * matters.
 */
static void print_in_brief(const struct gp_summary *summary, const struct kinds *kinds)
{
	const uint64_t *unified = kinds->unified;
	uint64_t faults = unified[GP_UNIFIED_CPU_FAULT] + unified[GP_UNIFIED_GPU_FAULT];
	const struct {
		uint64_t count;
		struct gp_figure figure;
		const char *meaning, *one; /* NULL = the same of one */
	} pieces[] = {
		{kinds->streams > 1 ? kinds->streams : 0, gp_format_count(kinds->streams),
		 "streams", "stream"},
		{kinds->host_functions, gp_format_count(kinds->host_functions), "host functions",
		 "host function"},
		{kinds->graph_launches, gp_format_count(kinds->graph_launches), "graph launches",
		 "graph launch"},
		{kinds->graph_ops, gp_format_count(kinds->graph_ops), "operations of graphs",
		 "operation of graphs"},
		{have_queues(kinds) ? kinds->late : 0, late_of(kinds),
		 "operations found their stream idle", NULL},
		{kinds->blocked_ns, gp_format_ns(kinds->blocked_ns), "in full queues", NULL},
		{kinds->host_copies, gp_format_count(kinds->host_copies),
		 "copies from host to host, no work of a GPU",
		 "copy from host to host, no work of a GPU"},
		{matters(summary, kinds->sync_ns), gp_format_ns(kinds->sync_ns),
		 "in synchronization", NULL},
		{unified[GP_UNIFIED_HTOD], gp_format_bytes(unified[GP_UNIFIED_HTOD]),
		 "migrated to GPUs", NULL},
		{unified[GP_UNIFIED_DTOH], gp_format_bytes(unified[GP_UNIFIED_DTOH]),
		 "migrated to the host", NULL},
		{unified[GP_UNIFIED_DTOD], gp_format_bytes(unified[GP_UNIFIED_DTOD]),
		 "migrated between GPUs", NULL},
		{faults, gp_format_count(faults), "page faults", "page fault"},
		{matters(summary, kinds->compile_ns), gp_format_ns(kinds->compile_ns), "compiling",
		 NULL},
		{matters(summary, kinds->load_ns), gp_format_ns(kinds->load_ns), "loading code",
		 NULL},
		{matters(summary, kinds->overhead_ns), gp_format_ns(kinds->overhead_ns),
		 "overhead by CUPTI and the driver", NULL},
	};
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary),
					 .lead = "besides: ",
					 .separator = ","};
	char text[96];

	for (size_t i = 0; i < COUNT(pieces); i++)
		if (pieces[i].count > 0) {
			snprintf(text, sizeof(text), "%s %s", pieces[i].figure.text,
				 pieces[i].count == 1 && pieces[i].one ? pieces[i].one
								       : pieces[i].meaning);
			gp_paragraph_add(&paragraph, text);
		}
	gp_paragraph_end(&paragraph);
}

int gp_summary_print_more(const struct gp_summary *summary)
{
	struct kinds kinds = {0};
	struct gp_tally seen = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < summary->model_count; i++) {
		result = count_queues(&kinds, summary->models[i]);
		count_syncs(&kinds, summary->models[i]);
		count_calls(&kinds, summary->models[i]);
		count_ops(&kinds, &seen, summary->models[i], i);
		count_host_functions(&kinds, summary->models[i]);
		count_unified(&kinds, summary->models[i]);
		count_code(&kinds, summary->models[i]);
	}
	if (result == 0)
		result = seen.error;
	gp_tally_free(&seen);
	if (result < 0 || !are_any(summary, &kinds))
		return result;
	if (summary->options->brief) {
		print_in_brief(summary, &kinds);
		return 0;
	}
	fputs("\nMore (`gpuprof summary --by WORD FILE` has a table for each of these words)\n",
	      summary->out);
	print_places(summary, &kinds);
	print_queues(summary, &kinds);
	print_host_copies(summary, &kinds);
	print_syncs(summary, &kinds);
	print_graphs(summary, &kinds);
	print_unified(summary, &kinds);
	print_code(summary, &kinds);
	return 0;
}
