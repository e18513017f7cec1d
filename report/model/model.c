#include "report/model/model.h"
#include "report/model/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/trace/api_name.h"
#include "report/trace/api_table.h"
#include "report/base/array.h"
#include "report/model/sums/totals.h"
#include "report/base/spill_memory.h"

static void free_texts(char **texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++)
		free(texts[i]);
	gp_spill_free(texts);
}

static void free_arrays(struct gp_model *m)
{
	void *const spilled[] = {
#define GP_MODEL_ARRAY(element, array, count) m->array,
#include "report/model/array.def"
	};
	void *const others[] = {m->path,
				m->totals,
				m->frame_names.bytes,
				m->contradictions,
				m->stream_calls,
				(void *)m->range_texts,
				(void *)m->domains,
				m->private};

	for (size_t i = 0; i < COUNT(spilled); i++)
		gp_spill_free(spilled[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		free(others[i]);
}

/* Few, and of use without the events. */
static bool is_kept(const void *array, const struct gp_model *m)
{
	const void *const kept[] = {m->devices, m->links,   m->contexts, m->streams,
				    m->threads, m->modules, m->gates,    m->texts};

	for (size_t i = 0; i < COUNT(kept); i++)
		if (array == kept[i])
			return true;
	return false;
}

void gp_model_shrink(struct gp_model *m)
{
	const struct {
		void **array;
		uint32_t *count;
	} arrays[] = {
#define GP_MODEL_ARRAY(element, array, count) {(void **)&m->array, &m->count},
#include "report/model/array.def"
	};

	for (size_t i = 0; i < COUNT(arrays); i++) {
		if (is_kept(*arrays[i].array, m))
			continue;
		gp_spill_free(*arrays[i].array);
		*arrays[i].array = NULL;
		*arrays[i].count = 0;
	}
	for (uint32_t i = 0; i < m->text_count; i++)
		free(m->texts[i].bytes);
	gp_spill_free(m->texts);
	m->texts = NULL;
	m->text_count = 0;
	gp_api_table_clear(m->private);
	free(m->private);
	m->private = NULL;
}

void gp_model_free(struct gp_model *m)
{
	if (!m)
		return;
	if (m->totals)
		gp_totals_free(m->totals);
	for (size_t i = 0; i < GP_INFO_LIMIT; i++)
		free(m->info[i]);
	free_texts(m->notes, m->note_count);
	free_texts(m->counter_texts, m->counter_text_count);
	free_texts(m->names, m->name_count);
	free_texts(m->device_names, m->device_count);
	for (uint32_t i = 0; i < m->thread_count; i++)
		free((char *)m->threads[i].name);
	for (uint32_t i = 0; i < m->text_count; i++)
		free(m->texts[i].bytes);
	if (m->private)
		gp_api_table_clear(m->private);
	free_arrays(m);
	free(m);
}

struct gp_api gp_model_api(const struct gp_model *model, uint16_t api)
{
	struct gp_api_entry found = gp_api_table_find(model->private, api);

	return (struct gp_api){found.name ? found.name : "(unknown call)", found.class};
}

const char *gp_model_kernel_name(const struct gp_model *model, const struct gp_op *op)
{
	return op->name < model->name_count ? model->names[op->name] : "(unknown kernel)";
}

bool gp_model_may_have_managed_memory(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->memory_count; i++)
		if (model->memory[i].op == GP_MEMORY_ALLOC &&
		    model->memory[i].memory_kind == GP_MEMORY_MANAGED)
			return true;
	return model->memory_count == 0;
}

bool gp_model_uses_one_gpu(const struct gp_model *model)
{
	for (uint32_t i = 1; i < model->op_count; i++)
		if (model->ops[i].device_id != model->ops[0].device_id)
			return false;
	return true;
}

bool gp_model_calls_api(const struct gp_model *model, const char *name)
{
	return gp_api_table_has(model->private, name, gp_api_name_length(name, strlen(name)));
}

bool gp_model_range_is_next(const struct gp_model *model, uint32_t call, uint32_t range)
{
	const struct gp_call *next_call;
	const struct gp_range *next_range;

	if (range == model->range_count || call == model->call_count)
		return range < model->range_count;
	next_call = &model->calls[call];
	next_range = &model->ranges[range];
	if (next_range->thread_id != next_call->thread_id)
		return next_range->thread_id < next_call->thread_id;
	return next_range->start_ns <= next_call->start_ns;
}

static bool is_of_lower_op(const void *contradiction, const void *op)
{
	return ((const struct gp_contradiction *)contradiction)->op < *(const uint32_t *)op;
}

const struct gp_op *gp_model_stated(const struct gp_model *model, const struct gp_op *op)
{
	uint32_t index = (uint32_t)(op - model->ops);
	uint32_t at = gp_array_lower_bound(model->contradictions, model->contradiction_count,
					   sizeof(*model->contradictions), is_of_lower_op, &index);

	if (at < model->contradiction_count && model->contradictions[at].op == index)
		return &model->contradictions[at].stated;
	return op->untimed ? NULL : op;
}

bool gp_model_has_place(const struct gp_model *model, const struct gp_op *op)
{
	return !op->untimed || gp_model_stated(model, op) != NULL;
}

const struct gp_op_detail *gp_model_detail(const struct gp_model *model, const struct gp_op *op)
{
	static const struct gp_op_detail none = {.capture_call = GP_NONE};

	return op->detail != 0 ? &model->details[op->detail - 1] : &none;
}

const struct gp_call *gp_model_op_cause(const struct gp_model *model, const struct gp_op *op)
{
	uint32_t capture_call = gp_model_detail(model, op)->capture_call;
	uint32_t index = capture_call != GP_NONE ? capture_call : op->call;

	return index != GP_NONE ? &model->calls[index] : NULL;
}

uint8_t gp_model_launch_type(const struct gp_model *model, const struct gp_op *op)
{
	enum { REGULAR, COOPERATIVE };
	const struct gp_call *cause = gp_model_op_cause(model, op);
	uint8_t type = op->shape < model->shape_count ? model->shapes[op->shape].launch_type : 0;
	bool is_known =
		cause && !model->recorder && gp_model_api_class(model, cause->api) == GP_API_LAUNCH;

	return type == COOPERATIVE && is_known && !cause->cooperative ? REGULAR : type;
}

const struct gp_call *gp_model_op_stack_call(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *cause = gp_model_op_cause(model, op);

	if (cause && cause->stack == GP_NONE && op->call != GP_NONE)
		cause = &model->calls[op->call];
	return cause;
}

uint32_t gp_model_op_stack(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *call = gp_model_op_stack_call(model, op);

	return call ? call->stack : GP_NONE;
}

GP_COMPARE_BY(compare_threads, struct gp_thread, id)
GP_COMPARE_BY(compare_devices, struct gp_record_device, device_id)
GP_COMPARE_BY_TWO(compare_links, struct gp_record_link, device_id, link_kind)
GP_COMPARE_BY(compare_contexts, struct gp_record_context, id)
GP_COMPARE_BY_TWO(compare_streams, struct gp_record_stream, context_id, id)

#define FIND(model, array, count, compare, ...)                                                    \
	gp_array_find((model)->array, (model)->count, sizeof(*(model)->array), compare,            \
		      &(const __typeof__(*(model)->array)){__VA_ARGS__})

const struct gp_thread *gp_model_thread(const struct gp_model *model, uint32_t id)
{
	return FIND(model, threads, thread_count, compare_threads, .id = id);
}

const char *gp_model_thread_name(const struct gp_model *model, uint32_t id)
{
	const struct gp_thread *thread = gp_model_thread(model, id);

	return thread ? thread->name : "";
}

uint64_t gp_model_end_ns(const struct gp_model *model)
{
	return model->end_ns > model->last_ns ? model->end_ns : model->last_ns;
}

const struct gp_record_device *gp_model_device(const struct gp_model *model, uint16_t device_id)
{
	return FIND(model, devices, device_count, compare_devices, .device_id = device_id);
}

const struct gp_record_link *gp_model_link(const struct gp_model *model, uint16_t device_id,
					   enum gp_link_kind kind)
{
	return FIND(model, links, link_count, compare_links, .device_id = device_id,
		    .link_kind = (uint16_t)kind);
}

static const struct gp_record_context *find_context(const struct gp_model *model, uint32_t id)
{
	return FIND(model, contexts, context_count, compare_contexts, .id = id);
}

uint16_t gp_model_context_device(const struct gp_model *model, uint32_t context_id)
{
	const struct gp_record_context *context = find_context(model, context_id);

	return context ? context->device_id : 0;
}

bool gp_model_context_is_green(const struct gp_model *model, uint32_t context_id)
{
	const struct gp_record_context *context = find_context(model, context_id);

	return context && context->parent_id != 0;
}

const struct gp_record_stream *gp_model_stream(const struct gp_model *model, uint32_t context_id,
					       uint32_t stream_id)
{
	return FIND(model, streams, stream_count, compare_streams, .context_id = context_id,
		    .id = stream_id);
}

bool gp_ops_share_stream(const struct gp_op *a, const struct gp_op *b)
{
	return a->device_id == b->device_id && a->context_id == b->context_id &&
	       a->stream_id == b->stream_id;
}

static bool shares_stream(const void *op, const void *first)
{
	return gp_ops_share_stream(op, first);
}

uint32_t gp_model_stream_end(const struct gp_model *model, uint32_t op)
{
	const struct gp_op *first = &model->ops[op];

	return op + gp_array_lower_bound(first, model->op_count - op, sizeof(*first), shares_stream,
					 first);
}

bool gp_model_is_null_stream(const struct gp_model *model, uint32_t context_id, uint32_t stream_id)
{
	const struct gp_record_context *context = find_context(model, context_id);

	return context && context->null_stream_id == stream_id;
}

uint32_t gp_model_stream_call(const struct gp_model *model, const struct gp_record_stream *stream)
{
	return stream && model->stream_calls ? model->stream_calls[stream - model->streams]
					     : GP_NONE;
}

uint32_t gp_model_context_call(const struct gp_model *model, uint32_t context_id)
{
	const struct gp_record_context *context = find_context(model, context_id);

	if (!context)
		return GP_NONE;
	return gp_model_stream_call(model,
				    gp_model_stream(model, context_id, context->null_stream_id));
}

uint32_t gp_unified_device(const struct gp_record_unified *event)
{
	uint32_t device_id = event->source_device_id;

	if (event->counter_kind == GP_UNIFIED_CPU_FAULT)
		return GP_NONE;
	if (event->counter_kind == GP_UNIFIED_HTOD || event->counter_kind == GP_UNIFIED_DTOD)
		device_id = event->destination_device_id;
	if (event->counter_kind == GP_UNIFIED_THRASHING) /* one bit for each */
		device_id = device_id != 0 ? (uint32_t)__builtin_ctz(device_id) : GP_NONE;
	return device_id < GP_DEVICE_LIMIT ? device_id : GP_NONE;
}

bool gp_unified_counts_bytes(uint16_t counter_kind)
{
	return counter_kind == GP_UNIFIED_HTOD || counter_kind == GP_UNIFIED_DTOH ||
	       counter_kind == GP_UNIFIED_DTOD || counter_kind == GP_UNIFIED_THRASHING ||
	       counter_kind == GP_UNIFIED_REMOTE;
}

/* ---- definitions ---- */

/* The numbers of streams and categories count within `value`. */
static uint32_t key_value(const struct gp_text *text)
{
	return text->space == GP_STRING_STREAM || text->space == GP_STRING_CATEGORY ? text->value
										    : 0;
}

int gp_text_compare(const void *a, const void *b, const void *context)
{
	const struct gp_text *first = a, *second = b;
	uint32_t left = key_value(first), right = key_value(second);

	(void)context;
	if (first->space != second->space)
		return first->space < second->space ? -1 : 1;
	if (left != right)
		return left < right ? -1 : 1;
	return (first->id > second->id) - (first->id < second->id);
}

const struct gp_text *gp_model_text(const struct gp_model *model, enum gp_string_space space,
				    uint32_t value, uint32_t id)
{
	return FIND(model, texts, text_count, gp_text_compare, .space = (uint16_t)space, .id = id,
		    .value = value);
}

static const char *bytes_of(const struct gp_text *text)
{
	return text ? text->bytes : "";
}

const char *gp_model_range_text(const struct gp_model *model, const struct gp_range *range)
{
	return range->text < model->range_text_count ? model->range_texts[range->text] : "";
}

const char *gp_model_category(const struct gp_model *model, uint32_t domain, uint32_t category)
{
	return bytes_of(gp_model_text(model, GP_STRING_CATEGORY, domain, category));
}

const char *gp_model_stream_name(const struct gp_model *model, uint32_t context_id,
				 uint32_t stream_id)
{
	return bytes_of(gp_model_text(model, GP_STRING_STREAM, context_id, stream_id));
}

const char *gp_model_context_name(const struct gp_model *model, uint32_t context_id)
{
	return bytes_of(gp_model_text(model, GP_STRING_CONTEXT, 0, context_id));
}

const char *gp_model_module_path(const struct gp_model *model,
				 const struct gp_record_module *module)
{
	return bytes_of(gp_model_text(model, GP_STRING_MODULE, 0, module->id));
}

/* ---- when recording was on ---- */

static bool is_gate_until(const void *element, const void *time_ns)
{
	return ((const struct gp_gate *)element)->time_ns <= *(const uint64_t *)time_ns;
}

uint32_t gp_model_gates_until(const struct gp_model *model, uint64_t time_ns)
{
	return gp_array_lower_bound(model->gates, model->gate_count, sizeof(*model->gates),
				    is_gate_until, &time_ns);
}

static bool is_on_at_first(const struct gp_model *model)
{
	const struct gp_gate *first = model->gates;

	if (model->gate_count == 0)
		return true;
	return first->reason == GP_GATE_START ? first->on : !first->on;
}

bool gp_model_records_at(const struct gp_model *model, uint64_t time_ns)
{
	uint32_t gates = gp_model_gates_until(model, time_ns);

	return gates > 0 ? model->gates[gates - 1].on : is_on_at_first(model);
}

static bool is_of_lower_call(const void *refusal, const void *call)
{
	return ((const struct gp_refusal *)refusal)->call < *(const uint32_t *)call;
}

bool gp_model_asked_bytes(const struct gp_model *model, const struct gp_call *call, uint64_t *bytes)
{
	uint32_t index = (uint32_t)(call - model->calls);
	uint32_t at = gp_array_lower_bound(model->refusals, model->refusal_count,
					   sizeof(*model->refusals), is_of_lower_call, &index);

	if (at == model->refusal_count || model->refusals[at].call != index)
		return false;
	*bytes = model->refusals[at].bytes;
	return true;
}

bool gp_model_has_no_op(const struct gp_model *model, const struct gp_call *call)
{
	return call->first_op == GP_NONE && call->status == 0 && !call->captured &&
	       call->correlation_id != model->losses.stuck_number &&
	       gp_model_records_at(model, call->start_ns) &&
	       gp_model_records_at(model, gp_call_end_ns(call));
}

bool gp_model_lacks_kernel(const struct gp_model *model, const struct gp_call *call)
{
	return gp_model_api_class(model, call->api) == GP_API_LAUNCH &&
	       gp_model_has_no_op(model, call);
}

bool gp_model_lacks_graph(const struct gp_model *model, const struct gp_call *call)
{
	return gp_recorded_by_another(model) &&
	       gp_model_api_class(model, call->api) == GP_API_GRAPH_LAUNCH &&
	       gp_model_has_no_op(model, call);
}

/* Gates alternate: the first one that closes is one of the first two. */
bool gp_model_paused_before(const struct gp_model *model, uint64_t time_ns)
{
	for (uint32_t i = 0; i < model->gate_count && i < 2; i++)
		if (!model->gates[i].on && model->gates[i].time_ns < time_ns)
			return true;
	return !is_on_at_first(model);
}
