/*
 * Long idle times.  Speaks of those of 100 ms and more, by the call after them, that take 5 % of
 * the recorded time in all, where no other rule has said why: in less than that, the system may
 * have taken the processor from the host.
 */
#include "report/rules/rules.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/host_work.h"
#include "report/rules/advisor.h"
#include "report/rules/host_time.h"

#define LEAST_NS     100000000u
#define MOST_COMMAND 60 /* characters */
#define WORK_BYTES   1024

/*
 * In a case's cause_ns: what is known of the host in its longest one, how many end in an import, the cause's share of the
 * longest in 255ths, the text of its range, and what looks at Python found in it.
 */
enum { TOTAL, XLA, LOAD, COMPILER, MOMENTS, TUNER, IMPORTS, SHARE, RANGE, WORK, KEPT };
static_assert((int)KEPT <= (int)GP_IDLE_CAUSES, "a case has no room for it");

/* From which on the cause is the whole of it. */
#define WHOLE_SHARE 230u

static void keep_host_time(struct gp_advisor *advisor, struct gp_case *found,
			   const struct gp_host_time *host)
{
	found->cause_ns[TOTAL] = host->total_ns;
	found->cause_ns[XLA] = host->xla_ns;
	found->cause_ns[LOAD] = host->load_ns;
	found->cause_ns[COMPILER] = host->compiler;
	found->cause_ns[MOMENTS] = host->moments;
	found->cause_ns[TUNER] = host->tuner;
	found->cause_ns[RANGE] = gp_advisor_text(advisor, host->range ? host->range : "");
}

/* What is imported, is once: where most end so, the work itself is in an import. */
static bool works_in_import(const struct gp_case *found)
{
	return found->count > 1 && found->cause_ns[IMPORTS] * 2 > found->count;
}

static struct gp_host_time kept_host_time(const struct gp_advisor *advisor,
					  const struct gp_case *found)
{
	struct gp_host_time host = {
		.total_ns = found->cause_ns[TOTAL],
		.xla_ns = found->cause_ns[XLA],
		.load_ns = found->cause_ns[LOAD],
		.compiler = (enum gp_compiler)found->cause_ns[COMPILER],
		.moments = (unsigned)found->cause_ns[MOMENTS],
		.tuner = (enum gp_tuner)found->cause_ns[TUNER],
		.range = gp_advisor_text_of(advisor, found->cause_ns[RANGE]),
	};

	if (host.compiler == GP_COMPILER_IMPORT && works_in_import(found))
		host.compiler = GP_COMPILER_NONE;
	return host;
}

static const char *name_of(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return call ? gp_model_api(advisor->model, call->api).name : "";
}

static uint64_t since_base(const struct gp_model *model, uint64_t unix_ns)
{
	return unix_ns > model->base_unix_ns ? unix_ns - model->base_unix_ns : 0;
}

/* What it did there is said with a verb, a function without. */
static bool has_verb(const char *what)
{
	return strncmp(what, "importing", strlen("importing")) == 0 ||
	       strncmp(what, "compiling", strlen("compiling")) == 0;
}

/*
 * "importing torch._dynamo for 1.9s, from <module> (train.py:4); by 95 looks", "in load (data.py:7) for 1.9s; there in raw_decode (json/decoder.py);
 * by 95 looks": the last parts go first where there is no room.
 */
static void put_work(char *text, size_t bytes, const struct gp_host_places *places,
		     const struct gp_host_work *work)
{
	struct gp_host_place place = gp_host_places_at(places, work->place);
	bool has_both = *place.what && *place.own, is_verb = has_verb(place.what);
	const char *first = is_verb || !*place.own ? place.what : place.own;
	const char *second = is_verb ? place.own : place.what;

	snprintf(text, bytes, "%s%s for %s%s%s; by %s look%s", is_verb ? "" : "in ", first,
		 gp_format_ns_about(work->place_ns).text,
		 !has_both ? ""
		 : is_verb ? ", from "
			   : "; there in ",
		 has_both ? second : "", gp_format_count(work->looks).text,
		 work->looks == 1 ? "" : "s");
}

static uint64_t find_work(struct gp_advisor *advisor, const struct gp_lull_at *at)
{
	const struct gp_model *model = advisor->model;
	struct gp_host_places *places = gp_host_places_in(&advisor->scope);
	char text[WORK_BYTES] = "";

	if (places && at->call_after && model->sample_count > 0) {
		struct gp_host_work work = gp_host_work_of(places, model, at->call_after->thread_id,
							   since_base(model, at->lull->start_ns),
							   since_base(model, at->lull->end_ns));

		if (work.place != UINT32_MAX)
			put_work(text, sizeof(text), places, &work);
	}
	return gp_advisor_text(advisor, text);
}

static void take_lull(struct gp_advisor *advisor, const struct gp_lull_at *at)
{
	uint64_t idle_ns = gp_lull_ns(at->lull);
	uint64_t before = gp_advisor_text(advisor, name_of(advisor, at->call_before));
	uint64_t after = gp_advisor_text(advisor, name_of(advisor, at->call_after));
	uint32_t site = gp_advisor_site(advisor, at->call_after);
	struct gp_case *found = gp_advisor_case(advisor, site, after, at->lull->cause);

	gp_advisor_add(advisor, found, at->after->start_ns, idle_ns, idle_ns, at->lull);
	gp_advisor_show_lull(found, at->lull);
	found->cause_ns[IMPORTS] += gp_host_time_ends_in_import(advisor, at);
	if (idle_ns > found->longest_ns) {
		struct gp_host_time host = gp_host_time_of(advisor, at);

		keep_host_time(advisor, found, &host);
		found->cause_ns[WORK] = find_work(advisor, at);
		found->cause_ns[SHARE] = at->lull->cause_share[at->lull->cause];
		found->longest_ns = idle_ns;
		found->extra = before;
		found->other_site =
			at->call_before ? gp_advisor_site(advisor, at->call_before) : GP_NO_SITE;
	}
}

static void look(struct gp_advisor *advisor)
{
	gp_advisor_lulls(advisor, LEAST_NS, NULL, take_lull);
}

/* Where the cause is another, that call says more. */
static const char *work_of(const struct gp_advisor *advisor, const struct gp_case *found)
{
	return found->other_detail == GP_IDLE_HOST
		       ? gp_advisor_text_of(advisor, found->cause_ns[WORK])
		       : "";
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const char *before = gp_advisor_text_of(advisor, found->extra);
	enum gp_idle_cause cause = (enum gp_idle_cause)found->other_detail;
	struct gp_host_time host = kept_host_time(advisor, found);

	if (found->count > 1)
		fprintf(out, "%s times the GPU has nothing to do, for %s the longest",
			gp_format_count(found->count).text, gp_format_ns(found->longest_ns).text);
	else
		fprintf(out, "the GPU has nothing to do for %s",
			gp_format_ns(found->longest_ns).text);
	fprintf(out, ": %s%s", found->cause_ns[SHARE] < WHOLE_SHARE ? "mostly " : "",
		gp_idle_cause_name(cause));
	gp_host_time_tell(&host, out);
	if (*work_of(advisor, found))
		fprintf(out, "; the host was %s", work_of(advisor, found));
	if (*before)
		fprintf(out, "; from %s", before);
	if (*before && gp_advisor_knows(advisor, found->other_site))
		fprintf(out, " at %s", gp_call_sites_at(advisor->sites, found->other_site).place);
	fprintf(out, "%s to %s", *before ? "" : ";", gp_advisor_text_of(advisor, found->detail));
}

static bool is_python(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].kind == GP_FRAME_PYTHON)
			return true;
	return false;
}

/* Characters that are seen, and nothing at which the text that it is put into would be cut or marked. */
static bool can_be_shown(const char *command)
{
	static const char *const ends[] = {"`", "; ", ": ", "  "};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strstr(command, ends[i]))
			return false;
	for (; *command != '\0'; command++)
		if (*command < ' ' || *command > '~')
			return false;
	return true;
}

/* What can be typed again as it is; else what stands for it. */
static const char *command_of(const struct gp_model *model)
{
	const char *command = model->info[GP_INFO_COMMAND];

	if (!command || *command == '\0' || strlen(command) > MOST_COMMAND ||
	    !can_be_shown(command))
		return "PROGRAM";
	return command;
}

/* Where nothing is known of the host, somebody else has to be asked. */
static void advise_to_sample(const struct gp_model *model, FILE *out)
{
	fprintf(out,
		"gpuprof records calls of CUDA, not what the host computes between them: `%s -- "
		"%s` tells; what can be elsewhere goes before the first launch, behind the "
		"last, or into another thread",
		is_python(model) ? "py-spy record -o host.svg" : "perf record -g",
		command_of(model));
}

static const char *const changes[GP_IDLE_CAUSES] = {
	[GP_IDLE_LAUNCH] = "launch ahead of the GPU",
	[GP_IDLE_SYNC] = "do not wait where the host reads no result",
	[GP_IDLE_COPY] = "copy ahead, asynchronously, from page-locked memory",
	[GP_IDLE_ALLOC] = "allocate before the work begins",
	[GP_IDLE_SETUP] =
		"make streams, graphs and libraries, and load code, before the work begins",
	[GP_IDLE_DEPENDENCY] =
		"look what the operation waits for: an event, a host function, another "
		"device",
	[GP_IDLE_PROFILER] = "nothing: without a profiler that time is not there",
	[GP_IDLE_UNKNOWN] = "look at the timeline: gpuprof export FILE",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	struct gp_host_time host = kept_host_time(advisor, found);

	if (gp_host_time_advise(&host, out))
		return;
	if (changes[found->other_detail])
		fputs(changes[found->other_detail], out);
	else if (*work_of(advisor, found))
		fputs("do it before the first launch, behind the last, or in another thread; look "
		      "by look: gpuprof trace host FILE",
		      out);
	else
		advise_to_sample(advisor->scope.models[found->process], out);
}

const struct gp_rule gp_rule_gpu_gaps = {
	.id = "gpu-gaps",
	.title = "the GPU has nothing to do for long",
	.meaning =
		"Between two operations the GPU was idle for 100 ms or more, and none of the other "
		"rules says why. The cause is what the host did most of that time, as `gpuprof "
		"summary --by gap` has it for every gap. Which compiler was at work then is told "
		"by "
		"the stacks of calls (it compiled, or loaded what it had compiled before), XLA's "
		"by "
		"its ranges; of all ranges the innermost in which the thread was nearly all of the "
		"time is named. What Python did in the longest of them is told by looks at its "
		"stacks (--host-samples): that with most of the time, and the line of the "
		"program's "
		"own. Else gpuprof does not know what the host computes.",
	.change = "By the cause: host-bound, the program computes something on the host, which can "
		  "go elsewhere, or run while the GPU works: where there were no looks, a sampling "
		  "profiler tells what it is (py-spy record, perf record). A compiler: call each "
		  "function once for each shape "
		  "before the work, and let its cache stay. Set-up: what is made there can be made "
		  "before.",
	.ignore = "It is the program's start or end, or it waits for something that is not in it.",
	.threshold = {.saves_percent = 5, .saves_ns = LEAST_NS, .count = 1},
	.look = look,
	.tell = tell,
	.advise = advise,
};
