#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

#define UNKNOWN_DOMAIN "(unknown domain)"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- texts and domains: equal ones have one index ---- */

/* The definitions of one kind, which are neighbors in model.texts, by id. */
struct section {
	const struct gp_text *texts;
	uint32_t count;
	uint32_t *indices; /* of each, among the different ones */
};

static struct section find_section(const struct gp_model *m, enum gp_string_space space)
{
	struct section section = {.texts = m->texts};

	for (uint32_t i = 0; i < m->text_count; i++) {
		if (m->texts[i].space < space)
			section.texts++;
		section.count += m->texts[i].space == space;
	}
	return section;
}

static int compare_bytes(const void *a, const void *b, const void *context)
{
	(void)context;
	return strcmp(((const struct gp_text *)a)->bytes, ((const struct gp_text *)b)->bytes);
}

/* Fill section->indices and *unique, which begins with `first` if there is one. */
static int number_texts(struct section *section, const char ***unique, uint32_t *count,
			const char *first)
{
	uint32_t *order = gp_array_order(section->texts, section->count, sizeof(*section->texts),
					 compare_bytes, NULL);

	section->indices = calloc((size_t)section->count + 1, sizeof(*section->indices));
	*unique = calloc((size_t)section->count + 2, sizeof(**unique));
	if (!order || !section->indices || !*unique) {
		gp_spill_free(order);
		return -ENOMEM;
	}
	if (first)
		(*unique)[(*count)++] = first;
	for (uint32_t i = 0; i < section->count; i++) {
		const char *bytes = section->texts[order[i]].bytes;

		if (*count == 0 || strcmp((*unique)[*count - 1], bytes) != 0)
			(*unique)[(*count)++] = bytes;
		section->indices[order[i]] = *count - 1;
	}
	gp_spill_free(order);
	return 0;
}

static bool has_lower_id(const void *element, const void *id)
{
	return ((const struct gp_text *)element)->id < *(const uint32_t *)id;
}

/* GP_NONE: no such id. */
static uint32_t index_of(const struct section *section, uint32_t id)
{
	uint32_t at = gp_array_lower_bound(section->texts, section->count, sizeof(*section->texts),
					   has_lower_id, &id);

	return at < section->count && section->texts[at].id == id ? section->indices[at] : GP_NONE;
}

/* ---- making ranges ---- */

struct making {
	struct gp_model_builder *builder;
	struct section texts, domains;
	uint32_t unknown_domain; /* its index in model.domains, once it is needed */

	/* The domain ids that push and pop, sorted; the innermost open range of each. */
	uint32_t *stack_ids;
	uint32_t *tops;
	uint32_t *top_threads; /* the thread whose ranges tops[] holds */
	uint32_t stack_count;
};

static uint32_t find_domain(struct making *making, uint32_t id)
{
	struct gp_model *m = making->builder->model;
	uint32_t index = id == 0 ? 0 : index_of(&making->domains, id);

	if (index != GP_NONE)
		return index;
	m->losses.unknown_records++;
	if (making->unknown_domain == 0) {
		making->unknown_domain = m->domain_count;
		m->domains[m->domain_count++] = UNKNOWN_DOMAIN;
	}
	return making->unknown_domain;
}

static uint32_t find_text(struct making *making, uint32_t id)
{
	uint32_t index = id == 0 ? GP_NONE : index_of(&making->texts, id);

	if (id != 0 && index == GP_NONE)
		making->builder->model->losses.unknown_records++;
	return index;
}

static uint32_t find_payload(struct making *making, uint32_t id)
{
	const struct gp_model *m = making->builder->model;
	const struct gp_text *text = id ? gp_model_text(m, GP_STRING_PAYLOAD, 0, id) : NULL;

	return text ? (uint32_t)(text - m->texts) : GP_NONE;
}

static int add_range(struct making *making, const struct gp_range_point *point, uint8_t style)
{
	struct gp_model_builder *b = making->builder;
	struct gp_model *m = b->model;

	if (GP_MODEL_GROW(b, m->ranges, m->range_count, ranges) != 0)
		return -ENOMEM;
	m->ranges[m->range_count++] = (struct gp_range){
		.start_ns = point->time_ns,
		.end_ns = point->time_ns,
		.payload = point->payload,
		.thread_id = point->thread_id,
		.end_thread_id = point->thread_id,
		.parent = GP_NONE,
		.text = find_text(making, point->text_id),
		.domain = find_domain(making, point->domain_id),
		.category = point->category,
		.color_argb = point->color_argb,
		.extended_payload = find_payload(making, point->payload_id),
		.style = style,
		.payload_kind = point->payload_kind,
		.open = style != GP_STYLE_MARK,
	};
	return 0;
}

/* The payload at the end counts if the start had none. */
static void close_range(struct making *making, struct gp_range *range,
			const struct gp_range_point *point)
{
	if (range->extended_payload == GP_NONE)
		range->extended_payload = find_payload(making, point->payload_id);
	else if (point->payload_id != 0)
		making->builder->model->counters[GP_COUNTER_CUT_PAYLOADS]++;
	range->end_ns = point->time_ns > range->start_ns ? point->time_ns : range->start_ns;
	range->end_thread_id = point->thread_id;
	range->open = false;
}

static void miss_opening(struct gp_model *m, const struct gp_range_point *point)
{
	if (gp_model_paused_before(m, point->time_ns))
		m->losses.range_ends_outside++;
	else
		m->losses.range_ends_unknown++;
}

/* ---- push and pop: a stack for each thread and domain ---- */

static int compare_ids(const void *a, const void *b)
{
	return compare_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int find_stacks(struct making *making)
{
	const struct gp_model_builder *b = making->builder;
	size_t room = (size_t)b->range_point_count + 1;
	uint32_t *ids = malloc(room * sizeof(*ids));
	uint32_t count = 0, kept = 0;

	making->stack_ids = ids;
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->range_point_count; i++)
		if (i == 0 || b->range_points[i].domain_id != ids[count - 1])
			ids[count++] = b->range_points[i].domain_id;
	qsort(ids, count, sizeof(*ids), compare_ids);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || ids[i] != ids[kept - 1])
			ids[kept++] = ids[i];
	making->stack_count = kept;
	making->tops = malloc(((size_t)kept + 1) * sizeof(*making->tops));
	making->top_threads = calloc((size_t)kept + 1, sizeof(*making->top_threads));
	return making->tops && making->top_threads ? 0 : -ENOMEM;
}

/* The top of the stack of a point's domain; thread: its number, counted from 1. */
static uint32_t *find_top(struct making *making, const struct gp_range_point *point,
			  uint32_t thread)
{
	const uint32_t *id = bsearch(&point->domain_id, making->stack_ids, making->stack_count,
				     sizeof(*making->stack_ids), compare_ids);
	size_t stack = (size_t)(id - making->stack_ids);

	if (making->top_threads[stack] != thread)
		making->tops[stack] = GP_NONE;
	making->top_threads[stack] = thread;
	return &making->tops[stack];
}

static int push(struct making *making, const struct gp_range_point *point, uint32_t *top)
{
	struct gp_model *m = making->builder->model;
	int result = add_range(making, point, GP_STYLE_PUSH_POP);
	struct gp_range *range;

	if (result != 0)
		return result;
	range = &m->ranges[m->range_count - 1];
	range->parent = *top;
	if (*top != GP_NONE && m->ranges[*top].level < UINT16_MAX)
		range->level = (uint16_t)(m->ranges[*top].level + 1);
	else if (*top != GP_NONE)
		range->level = UINT16_MAX;
	*top = m->range_count - 1;
	return 0;
}

static void pop(struct making *making, const struct gp_range_point *point, uint32_t *top)
{
	struct gp_model *m = making->builder->model;

	if (*top == GP_NONE) {
		miss_opening(m, point);
		return;
	}
	close_range(making, &m->ranges[*top], point);
	*top = m->ranges[*top].parent;
}

GP_COMPARE_BY_TWO(compare_by_thread, struct gp_range_point, thread_id, time_ns)

static int make_nested(struct making *making)
{
	struct gp_model_builder *b = making->builder;
	const struct gp_range_point *points = b->range_points;
	uint32_t thread = 1;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < b->range_point_count; i++) {
		thread += i > 0 && points[i].thread_id != points[i - 1].thread_id;
		if (points[i].op == GP_RANGE_PUSH)
			result = push(making, &points[i], find_top(making, &points[i], thread));
		else if (points[i].op == GP_RANGE_POP)
			pop(making, &points[i], find_top(making, &points[i], thread));
		else if (points[i].op == GP_RANGE_MARK)
			result = add_range(making, &points[i], GP_STYLE_MARK);
		else if (points[i].op != GP_RANGE_START && points[i].op != GP_RANGE_END)
			b->model->losses.unknown_records++;
	}
	return result;
}

/* ---- start and end: one id for both, on any threads ---- */

static int compare_by_id(const void *a, const void *b, const void *context)
{
	const struct gp_range_point *left = a, *right = b;
	bool left_is_one = left->op == GP_RANGE_START || left->op == GP_RANGE_END;
	bool right_is_one = right->op == GP_RANGE_START || right->op == GP_RANGE_END;

	(void)context;
	if (left_is_one != right_is_one)
		return left_is_one ? -1 : 1;
	if (left->range_id != right->range_id)
		return compare_numbers(left->range_id, right->range_id);
	return compare_numbers(left->time_ns, right->time_ns);
}

static int make_free(struct making *making)
{
	struct gp_model_builder *b = making->builder;
	struct gp_model *m = b->model;
	const struct gp_range_point *points = b->range_points;
	int result = gp_array_sort(b->range_points, b->range_point_count, sizeof(*points),
				   compare_by_id, NULL);

	for (uint32_t i = 0; result == 0 && i < b->range_point_count; i++) {
		bool goes_on = i > 0 && points[i - 1].op == GP_RANGE_START &&
			       points[i - 1].range_id == points[i].range_id;

		if (points[i].op == GP_RANGE_START)
			result = add_range(making, &points[i], GP_STYLE_START_END);
		else if (points[i].op != GP_RANGE_END)
			break;
		else if (goes_on)
			close_range(making, &m->ranges[m->range_count - 1], &points[i]);
		else
			miss_opening(m, &points[i]);
	}
	return result;
}

/* ---- the whole ---- */

static int compare_ranges(const void *a, const void *b, const void *context)
{
	const struct gp_range *left = a, *right = b;

	(void)context;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return compare_numbers(right->end_ns, left->end_ns);
}

/* Sort, and let parents follow. */
static int order_ranges(struct gp_model *m)
{
	uint32_t *order =
		gp_array_order(m->ranges, m->range_count, sizeof(*m->ranges), compare_ranges, NULL);
	uint32_t *place = gp_spill_take(((size_t)m->range_count + 1) * sizeof(*place));
	int result = order && place ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < m->range_count; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; result == 0 && i < m->range_count; i++)
		if (m->ranges[i].parent != GP_NONE)
			m->ranges[i].parent = place[m->ranges[i].parent];
	if (result == 0)
		result = gp_array_sort(m->ranges, m->range_count, sizeof(*m->ranges),
				       compare_ranges, NULL);
	gp_spill_free(order);
	gp_spill_free(place);
	return result;
}

/* Ranges that were never closed last to the end of the trace. */
static void end_open(struct gp_model *m)
{
	uint64_t end_ns = gp_model_end_ns(m);

	for (uint32_t i = 0; i < m->range_count; i++)
		if (m->ranges[i].open && end_ns > m->ranges[i].start_ns)
			m->ranges[i].end_ns = end_ns;
}

/* Categories are defined with their domain's id, and looked up with its index. */
static int settle_categories(struct making *making)
{
	struct gp_model *m = making->builder->model;

	for (uint32_t i = 0; i < m->text_count; i++)
		if (m->texts[i].space == GP_STRING_CATEGORY)
			m->texts[i].value = find_domain(making, m->texts[i].value);
	return gp_array_sort(m->texts, m->text_count, sizeof(*m->texts), gp_text_compare, NULL);
}

static int make_ranges(struct making *making)
{
	struct gp_model_builder *b = making->builder;
	struct gp_model *m = b->model;

	making->texts = find_section(m, GP_STRING_RANGE);
	making->domains = find_section(m, GP_STRING_DOMAIN);
	if (number_texts(&making->texts, &m->range_texts, &m->range_text_count, NULL) != 0 ||
	    number_texts(&making->domains, &m->domains, &m->domain_count, "") != 0)
		return -ENOMEM;
	if (settle_categories(making) != 0 || find_stacks(making) != 0 ||
	    gp_array_sort(b->range_points, b->range_point_count, sizeof(*b->range_points),
			  compare_by_thread, NULL) != 0 ||
	    make_nested(making) != 0 || make_free(making) != 0)
		return -ENOMEM;
	end_open(m);
	return order_ranges(m);
}

int gp_join_ranges(struct gp_model_builder *b)
{
	struct making making = {.builder = b};
	int result = make_ranges(&making);

	free(making.texts.indices);
	free(making.domains.indices);
	free(making.stack_ids);
	free(making.tops);
	free(making.top_threads);
	gp_spill_free(b->range_points);
	b->range_points = NULL;
	b->range_point_count = 0;
	if (result == 0)
		result = gp_note_own_work(b);
	return result == 0 ? gp_project_ranges(b->model) : result;
}
