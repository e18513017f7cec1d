#include "report/model/sums/cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/kway_merge.h"

#define VISITS_EACH 16u    /* kept times visited, for each waiting time */
#define NEAR        32u    /* times from the end that are tried as places for an earlier one */
#define FIRST_TIMES 16384u /* mapped by malloc(), which then grows without copying */

void gp_cover_free(struct gp_cover *c)
{
	for (uint32_t i = 0; i < c->device_count; i++) {
		free(c->devices[i].times);
		free(c->devices[i].waiting);
	}
	free(c->devices);
	free(c->scratch);
	*c = (struct gp_cover){0};
}

static const struct gp_cover_device *find(const struct gp_cover *c, uint32_t device)
{
	for (uint32_t i = 0; i < c->device_count; i++)
		if (c->devices[i].device == device)
			return &c->devices[i];
	return NULL;
}

/* NULL: no memory. */
static struct gp_cover_device *device_of(struct gp_cover *c, uint32_t device)
{
	struct gp_cover_device *found = (struct gp_cover_device *)find(c, device);

	if (found)
		return found;
	if (gp_array_grow(&c->devices, &c->device_capacity, c->device_count, sizeof(*c->devices)) !=
	    0)
		return NULL;
	found = &c->devices[c->device_count];
	*found = (struct gp_cover_device){
		.device = device, .capacity = FIRST_TIMES, .settled_until_ns = c->settled_until_ns};
	found->times = calloc(FIRST_TIMES, sizeof(*found->times));
	if (!found->times)
		return NULL;
	c->device_count++;
	return found;
}

/* ---- joining two ordered lists ---- */

static bool ends_before(const void *element, const void *time_ns)
{
	return ((const struct gp_interval *)element)->end_ns < *(const uint64_t *)time_ns;
}

static int make_room(struct gp_interval **array, uint32_t *capacity, uint64_t count)
{
	struct gp_interval *grown;

	if (count <= *capacity)
		return 0;
	if (count > UINT32_MAX / 2)
		return -EOVERFLOW;
	grown = realloc(*array, 2 * count * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = (uint32_t)(2 * count);
	return 0;
}

/* Replaces `gone` times from `first` on by the joined ones. */
static void replace(struct gp_cover_device *d, uint32_t first, uint32_t gone,
		    const struct gp_interval *joined, uint32_t count)
{
	uint32_t after = first + gone;

	memmove(d->times + first + count, d->times + after, (d->count - after) * sizeof(*d->times));
	memcpy(d->times + first, joined, count * sizeof(*d->times));
	d->count = first + count + (d->count - after);
}

/* The number of kept times that waiting times may touch or precede. */
static uint32_t kept_behind(const struct gp_cover_device *d)
{
	return d->count - gp_array_lower_bound(d->times, d->count, sizeof(*d->times), ends_before,
					       &d->waiting_from_ns);
}

/* Joins ordered times. Kept times before the first, and after the last, stay. */
static int join_ordered(struct gp_cover *c, struct gp_cover_device *d,
			const struct gp_interval *times, uint32_t count)
{
	uint32_t left = kept_behind(d), first = d->count - left, joined = 0, at = 0;
	struct gp_interval *kept;
	int result = make_room(&c->scratch, &c->scratch_capacity, (uint64_t)left + count);

	if (result == 0)
		result = make_room(&d->times, &d->capacity, (uint64_t)d->count + count);
	if (result != 0)
		return result;
	kept = d->times + first;
	for (uint32_t i = 0; i < count; i++) {
		while (at < left && kept[at].start_ns <= times[i].start_ns)
			gp_interval_put(c->scratch, &joined, kept[at++]);
		gp_interval_put(c->scratch, &joined, times[i]);
	}
	while (at < left && kept[at].start_ns <= c->scratch[joined - 1].end_ns)
		gp_interval_put(c->scratch, &joined, kept[at++]);
	replace(d, first, at, c->scratch, joined);
	c->kept += joined;
	c->kept -= at;
	return 0;
}

GP_COMPARE_BY(compare_times, struct gp_interval, start_ns)

static int join(struct gp_cover *c, struct gp_cover_device *d)
{
	uint32_t count = d->waiting_count;
	int result;

	if (count == 0)
		return 0;
	result = gp_array_sort(d->waiting, count, sizeof(*d->waiting), compare_times, NULL);
	if (result == 0)
		result = join_ordered(c, d, d->waiting, count);
	d->waiting_count = 0;
	return result;
}

int gp_cover_join(struct gp_cover *c)
{
	int result = 0;

	for (uint32_t i = 0; i < c->device_count && result == 0; i++)
		result = join(c, &c->devices[i]);
	return result;
}

/* ---- settling: sums in place of times ---- */

/* Length of a device's times before a time by which all of its settled times have ended. */
static uint64_t length_until(const struct gp_cover_device *d, uint64_t until_ns)
{
	uint64_t ns = d->settled_ns;

	for (uint32_t i = 0; i < d->count && d->times[i].start_ns < until_ns; i++)
		ns += (d->times[i].end_ns < until_ns ? d->times[i].end_ns : until_ns) -
		      d->times[i].start_ns;
	return ns;
}

static void settle(struct gp_cover *c, struct gp_cover_device *d, uint64_t until_ns)
{
	uint32_t gone = 0;

	if (until_ns <= d->settled_until_ns)
		return;
	if (d->settled_ns == 0 && d->count > 0)
		d->settled_from_ns = d->times[0].start_ns;
	d->settled_ns = length_until(d, until_ns);
	d->settled_until_ns = until_ns;
	while (gone < d->count && d->times[gone].end_ns <= until_ns)
		gone++;
	d->count -= gone;
	c->kept -= gone;
	if (gone > 0)
		memmove(d->times, d->times + gone, d->count * sizeof(*d->times));
	if (d->count > 0 && d->times[0].start_ns < until_ns)
		d->times[0].start_ns = until_ns;
}

int gp_cover_settle(struct gp_cover *c, uint64_t until_ns)
{
	int result = gp_cover_join(c);

	for (uint32_t i = 0; i < c->device_count && result == 0; i++)
		settle(c, &c->devices[i], until_ns);
	if (until_ns > c->settled_until_ns)
		c->settled_until_ns = until_ns;
	return result;
}

static void trim(struct gp_interval **times, uint32_t count, uint32_t *capacity)
{
	struct gp_interval *kept = count > 0 ? realloc(*times, count * sizeof(*kept)) : NULL;

	if (count > 0 && !kept)
		return;
	if (count == 0)
		free(*times);
	*times = kept;
	*capacity = count;
}

void gp_cover_trim(struct gp_cover *c)
{
	for (uint32_t i = 0; i < c->device_count; i++) {
		struct gp_cover_device *d = &c->devices[i];

		trim(&d->times, d->count, &d->capacity);
		trim(&d->waiting, d->waiting_count, &d->waiting_capacity);
	}
	trim(&c->scratch, 0, &c->scratch_capacity);
}

/* The older half of each device; waiting times may be older, and are joined before. */
static int settle_if_many(struct gp_cover *c)
{
	int result;

	if (c->kept <= GP_COVER_TIMES)
		return 0;
	result = gp_cover_join(c);
	for (uint32_t i = 0; i < c->device_count; i++) {
		struct gp_cover_device *d = &c->devices[i];

		if (d->count > 1)
			settle(c, d, d->times[d->count / 2 - 1].end_ns);
	}
	return result;
}

/* False: nothing is left of it. */
static bool cut(struct gp_cover_device *d, struct gp_interval *time)
{
	uint64_t from_ns = d->settled_until_ns;

	if (time->start_ns >= from_ns)
		return true;
	d->late_ns += (time->end_ns < from_ns ? time->end_ns : from_ns) - time->start_ns;
	time->start_ns = from_ns;
	return time->end_ns > from_ns;
}

/* ---- one after the other ---- */

/* The number of times that are visited again is about the number of new ones. */
static bool wait_long_enough(const struct gp_cover_device *d)
{
	return d->waiting_count % GP_COVER_WAITING == 0 &&
	       d->waiting_count >= kept_behind(d) / VISITS_EACH;
}

static int let_wait(struct gp_cover *c, struct gp_cover_device *d, struct gp_interval time)
{
	int result = gp_array_grow(&d->waiting, &d->waiting_capacity, d->waiting_count,
				   sizeof(*d->waiting));

	if (result != 0)
		return result;
	if (d->waiting_count == 0 || time.start_ns < d->waiting_from_ns)
		d->waiting_from_ns = time.start_ns;
	d->waiting[d->waiting_count++] = time;
	return wait_long_enough(d) ? join(c, d) : 0;
}

/* Among the last ones, which begin after it: false where its place is farther off. */
static bool put_near(struct gp_cover_device *d, struct gp_interval time)
{
	struct gp_interval after[NEAR];
	uint32_t count = 0;

	while (count < d->count && d->times[d->count - 1 - count].start_ns > time.start_ns)
		if (++count > NEAR)
			return false;
	memcpy(after, d->times + d->count - count, count * sizeof(*after));
	d->count -= count;
	gp_interval_put(d->times, &d->count, time);
	for (uint32_t i = 0; i < count; i++)
		gp_interval_put(d->times, &d->count, after[i]);
	return true;
}

/* One that begins before the last one that is kept. */
static __attribute__((noinline)) int add_back(struct gp_cover *c, struct gp_cover_device *d,
					      struct gp_interval time)
{
	uint32_t before = d->count;

	int result = gp_array_grow(&d->times, &d->capacity, before, sizeof(*d->times));

	if (result != 0)
		return result;
	if (!put_near(d, time))
		return let_wait(c, d, time);
	c->kept += d->count;
	c->kept -= before;
	return 0;
}

/* Most times of a device come in order and are put after the last one. */
static inline int add_one(struct gp_cover *c, struct gp_cover_device *d, struct gp_interval time)
{
	uint32_t before = d->count;
	int result;

	if (!cut(d, &time))
		return 0;
	if (before > 0 && time.start_ns < d->times[before - 1].start_ns)
		return add_back(c, d, time);
	result = gp_array_grow(&d->times, &d->capacity, before, sizeof(*d->times));
	if (result != 0)
		return result;
	gp_interval_put(d->times, &d->count, time);
	c->kept += d->count - before;
	return 0;
}

int gp_cover_add_apart(struct gp_cover *c, uint32_t device, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_cover_device *d = device_of(c, device);
	int result = d ? add_one(c, d, (struct gp_interval){start_ns, end_ns}) : -ENOMEM;

	if (d)
		c->last = (uint32_t)(d - c->devices);
	return result == 0 ? settle_if_many(c) : result;
}

static bool is_behind(const struct gp_cover_device *d, struct gp_interval time)
{
	return time.start_ns >= d->settled_until_ns &&
	       (d->count == 0 || time.start_ns > d->times[d->count - 1].end_ns);
}

/* Ordered times, the first of them after the last kept one. */
static int append(struct gp_cover *c, struct gp_cover_device *d, const struct gp_interval *times,
		  uint32_t count)
{
	int result = make_room(&d->times, &d->capacity, (uint64_t)d->count + count);

	if (result != 0)
		return result;
	memcpy(d->times + d->count, times, count * sizeof(*times));
	d->count += count;
	c->kept += count;
	return 0;
}

/* One by one until they are past the kept times, which is soon. */
static int take_device(struct gp_cover *c, struct gp_cover *from, struct gp_cover_device *taken)
{
	struct gp_cover_device *d = device_of(c, taken->device);
	int result = d ? join(from, taken) : -ENOMEM;
	uint32_t at = 0;

	while (result == 0 && at < taken->count && !is_behind(d, taken->times[at]))
		result = add_one(c, d, taken->times[at++]);
	if (result == 0)
		result = append(c, d, taken->times + at, taken->count - at);
	taken->count = 0;
	return result == 0 ? settle_if_many(c) : result;
}

int gp_cover_take(struct gp_cover *c, struct gp_cover *from)
{
	int result = 0;

	for (uint32_t i = 0; i < from->device_count && result == 0; i++)
		result = take_device(c, from, &from->devices[i]);
	from->kept = 0;
	return result;
}

/* ---- results ---- */

bool gp_cover_span(const struct gp_cover *cover, struct gp_interval *span)
{
	*span = (struct gp_interval){UINT64_MAX, 0};
	for (uint32_t i = 0; i < cover->device_count; i++) {
		const struct gp_cover_device *device = &cover->devices[i];
		const struct gp_interval ends[] = {
			device->settled_ns > 0 ? (struct gp_interval){device->settled_from_ns,
								      device->settled_until_ns}
					       : *span,
			device->count > 0
				? (struct gp_interval){device->times[0].start_ns,
						       device->times[device->count - 1].end_ns}
				: *span,
		};

		for (size_t k = 0; k < 2; k++) {
			if (ends[k].start_ns < span->start_ns)
				span->start_ns = ends[k].start_ns;
			if (ends[k].end_ns > span->end_ns)
				span->end_ns = ends[k].end_ns;
		}
	}
	return span->start_ns < span->end_ns;
}

uint64_t gp_cover_ns(const struct gp_cover *c, uint32_t device, uint64_t *late_ns)
{
	const struct gp_cover_device *d = find(c, device);

	*late_ns = d ? d->late_ns : 0;
	return d ? length_until(d, UINT64_MAX) : 0;
}

/* ---- several covers ---- */

static uint64_t start_of(const struct gp_cover_device *d)
{
	return d->settled_ns > 0 ? d->settled_from_ns : d->times[0].start_ns;
}

static uint64_t end_of(const struct gp_cover_device *d)
{
	return d->count > 0 ? d->times[d->count - 1].end_ns : d->settled_until_ns;
}

static int compare_starts(const void *a, const void *b)
{
	uint64_t left = start_of(*(const struct gp_cover_device *const *)a);
	uint64_t right = start_of(*(const struct gp_cover_device *const *)b);

	return (left > right) - (left < right);
}

/* Adds the union's part from then on, where the times of all are kept. */
static int add_kept(const struct gp_cover_device *const *devices, uint32_t count,
		    uint64_t reached_ns, uint64_t *ns)
{
	uint32_t *next = calloc(count, sizeof(*next));
	struct gp_kway_merge_head head;
	struct gp_kway_merge merge;
	int result = gp_kway_merge_open(&merge, count);

	if (!next)
		result = -ENOMEM;
	for (uint32_t i = 0; i < count && result == 0; i++)
		if (devices[i]->count > 0)
			gp_kway_merge_put(&merge, i, devices[i]->times[0].start_ns);
	while (result == 0 && gp_kway_merge_take(&merge, &head)) {
		const struct gp_cover_device *d = devices[head.sequence];
		const struct gp_interval *time = &d->times[next[head.sequence]++];

		*ns += gp_interval_reach(&reached_ns, time->start_ns, time->end_ns);
		if (next[head.sequence] < d->count)
			gp_kway_merge_put(&merge, head.sequence, time[1].start_ns);
	}
	gp_kway_merge_close(&merge);
	free(next);
	return result;
}

/*
 * Those that overlap.  As long as any is not kept, the longest is the least that it can be, and
 * their sum the most.
 */
static int add_overlapping(const struct gp_cover_device *const *devices, uint32_t count,
			   uint64_t *ns, uint64_t *more_ns)
{
	uint64_t until_ns = 0, longest_ns = 0, sum_ns = 0, room_ns;

	if (count == 1) {
		*ns += length_until(devices[0], UINT64_MAX);
		return 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (devices[i]->settled_until_ns > until_ns)
			until_ns = devices[i]->settled_until_ns;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t one_ns = length_until(devices[i], until_ns);

		longest_ns = one_ns > longest_ns ? one_ns : longest_ns;
		sum_ns += one_ns;
	}
	*ns += longest_ns;
	if (sum_ns > longest_ns) {
		room_ns = until_ns - start_of(devices[0]);
		*more_ns += (sum_ns < room_ns ? sum_ns : room_ns) - longest_ns;
	}
	return add_kept(devices, count, until_ns, ns);
}

int gp_cover_union(const struct gp_cover_device **devices, uint32_t count, uint64_t *ns,
		   uint64_t *more_ns)
{
	int result = 0;

	*ns = *more_ns = 0;
	qsort(devices, count, sizeof(*devices), compare_starts);
	for (uint32_t first = 0, next; first < count && result == 0; first = next) {
		uint64_t end_ns = end_of(devices[first]);

		for (next = first + 1; next < count && start_of(devices[next]) < end_ns; next++)
			if (end_of(devices[next]) > end_ns)
				end_ns = end_of(devices[next]);
		result = add_overlapping(devices + first, next - first, ns, more_ns);
	}
	return result;
}
