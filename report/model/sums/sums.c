#include "report/model/sums/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/model.h"

#define FIRST_SLOTS      256u
#define STATUS_NOT_READY 600

/*
 * A year: no operation takes longer, but a record of a layout that was taken for another may say
 * so.  When the recording ended, which bounds times for the model (report/model/build/times.c), is
 * known too late here.
 */
#define MOST_LENGTH_NS (UINT64_C(366) * 86400 * 1000000000)

/* Its own function, which saves no more registers than it needs. */
#define NOINLINE __attribute__((noinline))

void gp_sums_free(struct gp_sums *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->sums[i]);
	for (size_t i = 0; i < GP_SUM_KINDS; i++)
		free(s->others[i]);
	free(s->sums);
	free(s->slots);
	gp_cover_free(&s->cover);
	*s = (struct gp_sums){0};
}

/* ---- one sum for each thing: a table by key, open to the next free slot ---- */

/* Where it is, or would be. */
static inline struct gp_sum_slot *find_slot(const struct gp_sums *s, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t mask = s->slot_count - 1, at = (uint32_t)(hash >> 32) & mask;

	while (s->slots[at].key != key && s->slots[at].sum)
		at = (at + 1) & mask;
	return &s->slots[at];
}

/* At most half of the slots are taken. */
static int grow_table(struct gp_sums *s)
{
	uint32_t count = s->slot_count > 0 ? 2 * s->slot_count : FIRST_SLOTS;
	struct gp_sum_slot *slots;

	if (2 * (s->count + 1) <= s->slot_count)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->slot_count = count;
	for (uint32_t i = 0; i < s->count; i++)
		*find_slot(s, s->sums[i]->key) = (struct gp_sum_slot){s->sums[i]->key, s->sums[i]};
	return 0;
}

static struct gp_sum *new_sum(const struct gp_sums *s, uint8_t kind, uint64_t key,
			      const union gp_any_record *first)
{
	struct gp_sum *sum =
		calloc(1, s->has_no_distributions ? offsetof(struct gp_sum, histogram.least_ns)
						  : sizeof(*sum));

	if (!sum)
		return NULL;
	sum->kind = kind;
	sum->key = key;
	sum->first = *first;
	sum->least_bytes = kind == GP_SUM_KERNEL || kind == GP_SUM_GRAPH ? 0 : UINT64_MAX;
	return sum;
}

static struct gp_sum *make_sum(struct gp_sums *s, uint8_t kind, uint64_t key,
			       const union gp_any_record *first)
{
	struct gp_sum *sum;

	if (grow_table(s) != 0 ||
	    gp_array_grow(&s->sums, &s->capacity, s->count, sizeof(struct gp_sum *)) != 0)
		return NULL;
	sum = new_sum(s, kind, key, first);
	if (!sum)
		return NULL;
	s->sums[s->count++] = sum;
	*find_slot(s, key) = (struct gp_sum_slot){key, sum};
	return sum;
}

/* Of one that was not met before.  NULL: no memory. */
static NOINLINE struct gp_sum *another_sum(struct gp_sums *s, uint8_t kind, uint64_t key,
					   const union gp_any_record *first)
{
	if (key != GP_SUM_OTHERS && s->count < GP_SUM_LIMIT)
		return make_sum(s, kind, key, first);
	if (!s->others[kind])
		s->others[kind] = new_sum(s, kind, GP_SUM_OTHERS, first);
	return s->others[kind];
}

static inline struct gp_sum *sum_of(struct gp_sums *s, uint8_t kind, uint64_t key,
				    const union gp_any_record *first)
{
	struct gp_sum *found = s->slot_count > 0 ? find_slot(s, key)->sum : NULL;

	return found ? found : another_sum(s, kind, key, first);
}

static inline void add_time(const struct gp_sums *s, struct gp_sum *sum, uint64_t length)
{
	if (!s->has_no_distributions) {
		gp_histogram_add(&sum->histogram, length);
		return;
	}
	sum->histogram.count++;
	sum->histogram.total_ns += length;
}

/* ---- calls ---- */

static uint64_t key_of(enum gp_sum_kind kind, uint64_t which)
{
	return (uint64_t)kind << 56 | which;
}

NOINLINE int gp_sums_call(struct gp_sums *s, const union gp_any_record *record)
{
	const struct gp_record_call *r = &record->call;
	uint64_t duration = r->duration_low_ticks + ((uint64_t)r->duration_high_ticks << 32);
	uint16_t code = GP_CALL_CODE(r->status);
	struct gp_sum *sum = sum_of(s, GP_SUM_CALL, key_of(GP_SUM_CALL, r->api), record);

	if (!sum)
		return -ENOMEM;
	add_time(s, sum, duration);
	sum->captured += (r->status & GP_CALL_CAPTURED) != 0;
	sum->failed += code != 0 && code != STATUS_NOT_READY;
	if (s->last_ticks == 0 || r->start_ticks < s->first_ticks)
		s->first_ticks = r->start_ticks;
	if (r->start_ticks + duration > s->last_ticks)
		s->last_ticks = r->start_ticks + duration;
	return 0;
}

/* ---- operations ---- */

static inline void add_bytes(struct gp_sum *sum, uint64_t bytes, bool has_times)
{
	sum->bytes += bytes;
	sum->timed_bytes += has_times ? bytes : 0;
	sum->least_bytes = bytes < sum->least_bytes ? bytes : sum->least_bytes;
	sum->most_bytes = bytes > sum->most_bytes ? bytes : sum->most_bytes;
}

/*
 * Start, end and device lie where a kernel has them.  Inline, so that most of it, kernels, have
 * none of the rest's.
 */
static inline __attribute__((always_inline)) int
add_operation(struct gp_sums *s, enum gp_sum_kind kind, uint64_t which,
	      const union gp_any_record *record, uint64_t bytes)
{
	const struct gp_record_kernel *r = &record->kernel;
	uint64_t length_ns = r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
	bool has_times = r->start_ns != 0 && r->end_ns != 0 && length_ns <= MOST_LENGTH_NS;
	struct gp_sum *sum;

	if (r->device_id >= GP_DEVICE_LIMIT) {
		s->unknown_devices++;
		return 0;
	}
	sum = sum_of(s, kind, which == GP_SUM_OTHERS ? which : key_of(kind, which), record);
	if (!sum)
		return -ENOMEM;
	if (kind == GP_SUM_COPY || kind == GP_SUM_MEMSET)
		add_bytes(sum, bytes, has_times);
	if (!has_times) {
		sum->untimed++;
		return 0;
	}
	s->reversed += r->end_ns < r->start_ns;
	add_time(s, sum, length_ns);
	if (length_ns == 0 || (kind == GP_SUM_COPY && record->copy.copy_kind == GP_COPY_HTOH))
		return 0;
	return gp_cover_add(&s->cover, r->device_id, r->start_ns, r->end_ns);
}

NOINLINE int gp_sums_kernel(struct gp_sums *s, const union gp_any_record *record)
{
	const struct gp_record_kernel *r = &record->kernel;

	if (r->device_id < GP_DEVICE_LIMIT && r->graph_node_id == 0 &&
	    !(r->flags & GP_KERNEL_DEVICE_LAUNCHED))
		s->own_kernels++;
	return add_operation(s, GP_SUM_KERNEL, r->name_id, record, 0);
}

/* All that a copy's name and its peak depend on. */
int gp_sums_copy(struct gp_sums *s, const union gp_any_record *record)
{
	const struct gp_record_copy *r = &record->copy;
	bool are_devices =
		r->source_device_id < GP_DEVICE_LIMIT && r->destination_device_id < GP_DEVICE_LIMIT;
	uint64_t kinds = (uint64_t)r->copy_kind << 16 | r->source_kind << 8 | r->destination_kind;
	uint64_t devices = (uint64_t)r->source_device_id << 8 | r->destination_device_id;

	return add_operation(s, GP_SUM_COPY,
			     are_devices ? kinds << 32 | devices << 8 | r->device_id
					 : GP_SUM_OTHERS,
			     record, r->bytes);
}

int gp_sums_memset(struct gp_sums *s, const union gp_any_record *record)
{
	return add_operation(s, GP_SUM_MEMSET, record->memset.memory_kind, record,
			     record->memset.bytes);
}

int gp_sums_graph(struct gp_sums *s, const union gp_any_record *record)
{
	return add_operation(s, GP_SUM_GRAPH, record->graph.graph_id, record, 0);
}

int gp_sums_range(struct gp_sums *s, const union gp_any_record *record)
{
	uint8_t op = record->range.op;

	s->ranges += op == GP_RANGE_PUSH || op == GP_RANGE_START;
	s->marks += op == GP_RANGE_MARK;
	return 0;
}

/* ---- values at two times ---- */

struct gp_sum_values gp_sum_values(const struct gp_sum *sum)
{
	uint64_t count = sum->histogram.count + sum->untimed, others = sum->captured + sum->failed;

	return (struct gp_sum_values){count, others < count ? count - others : 0,
				      sum->histogram.total_ns, sum->bytes};
}

void gp_sums_mark(struct gp_sums *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->sums[i]->before = gp_sum_values(s->sums[i]);
	for (size_t i = 0; i < GP_SUM_KINDS; i++)
		if (s->others[i])
			s->others[i]->before = gp_sum_values(s->others[i]);
}

static_assert(offsetof(struct gp_record_copy, device_id) ==
			      offsetof(struct gp_record_kernel, device_id) &&
		      offsetof(struct gp_record_memset, device_id) ==
			      offsetof(struct gp_record_kernel, device_id) &&
		      offsetof(struct gp_record_graph, device_id) ==
			      offsetof(struct gp_record_kernel, device_id),
	      "operations have their device at one place");

/* ---- parts ---- */

static int join_sum(struct gp_sums *s, const struct gp_sum *other)
{
	struct gp_sum *sum = sum_of(s, other->kind, other->key, &other->first);

	if (!sum)
		return -ENOMEM;
	gp_histogram_join(&sum->histogram, &other->histogram);
	sum->untimed += other->untimed;
	sum->bytes += other->bytes;
	sum->timed_bytes += other->timed_bytes;
	if (other->least_bytes < sum->least_bytes)
		sum->least_bytes = other->least_bytes;
	if (other->most_bytes > sum->most_bytes)
		sum->most_bytes = other->most_bytes;
	sum->captured += other->captured;
	sum->failed += other->failed;
	return 0;
}

static void join_ticks(struct gp_sums *s, const struct gp_sums *other)
{
	if (other->last_ticks == 0)
		return;
	if (s->last_ticks == 0 || other->first_ticks < s->first_ticks)
		s->first_ticks = other->first_ticks;
	if (other->last_ticks > s->last_ticks)
		s->last_ticks = other->last_ticks;
}

int gp_sums_join(struct gp_sums *s, const struct gp_sums *other)
{
	int result = 0;

	for (uint32_t i = 0; i < other->count && result == 0; i++)
		result = join_sum(s, other->sums[i]);
	for (size_t i = 0; i < GP_SUM_KINDS && result == 0; i++)
		if (other->others[i])
			result = join_sum(s, other->others[i]);
	join_ticks(s, other);
	s->own_kernels += other->own_kernels;
	s->reversed += other->reversed;
	s->unknown_devices += other->unknown_devices;
	s->ranges += other->ranges;
	s->marks += other->marks;
	return result;
}
