#include "report/stream/one_pass.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/parallel.h"

#define MOST_THREADS    16u
#define BLOCKS_PER_CORE 3u

enum block_state { BLOCK_EMPTY, BLOCK_FULL, BLOCK_TAKEN, BLOCK_DONE };

/* A record that is not only summed up. */
struct other {
	union gp_any_record record;
	uint32_t thread_id;
	uint32_t text_at; /* UINT32_MAX: it has none */
	/* the work of the caller's thread on it */
	int (*absorb)(struct gp_one_pass *pass, const struct gp_record_view *seen);
};

/* The unit of work of a thread: the chunks of one of the reader's windows. */
struct block {
	enum block_state state;
	int result;
	uint64_t unknown;
	struct gp_chunk *chunks;
	uint32_t chunk_count, chunk_capacity;
	struct other *others;
	uint32_t other_count, other_capacity;
	char *texts;
	size_t text_bytes, text_capacity;
	struct gp_cover cover; /* of this block */
	uint8_t *window;       /* with the chunks once the block is full, until then another */
};

/* One that decodes; the first is the caller's thread. */
struct worker {
	struct gp_one_pass *pass;
	pthread_t thread;
	struct gp_sums sums;
	struct block *block; /* at hand */
};

struct gp_one_pass {
	struct gp_record_sink sink;
	struct gp_totals totals;
	uint64_t unknown;
	int result;            /* the first error so far */
	struct block **blocks; /* used in their order, round and round */
	uint32_t block_count;
	struct worker *workers;
	uint32_t worker_count;
	struct block record; /* for one at a time, on the caller's thread */
	/* shared by the threads: under the lock, as are the blocks' states */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled, taken, absorbed; /* blocks so far */
	bool is_over;
};

static struct block *block_at(const struct gp_one_pass *p, uint64_t number)
{
	return p->blocks[number % p->block_count];
}

/* ---- one block: on any thread ---- */

static int keep_text(struct block *b, struct other *other, const char *text)
{
	uint32_t bytes = other->record.string.length_bytes;
	size_t wanted = b->text_bytes + bytes;
	char *grown;

	if (wanted >= b->text_capacity) { /* also for an empty text that is the first */
		grown = realloc(b->texts, 2 * wanted + 1);
		if (!grown)
			return -ENOMEM;
		b->texts = grown;
		b->text_capacity = 2 * wanted + 1;
	}
	memcpy(b->texts + b->text_bytes, text, bytes);
	other->text_at = (uint32_t)b->text_bytes;
	b->text_bytes = wanted;
	return 0;
}

static int keep(struct block *b, const struct gp_record_view *seen,
		int (*absorb)(struct gp_one_pass *, const struct gp_record_view *))
{
	int result =
		gp_array_grow(&b->others, &b->other_capacity, b->other_count, sizeof(*b->others));
	struct other *other;

	if (result != 0)
		return result;
	other = &b->others[b->other_count++];
	*other = (struct other){*seen->record, seen->thread_id, UINT32_MAX, absorb};
	return seen->text ? keep_text(b, other, seen->text) : 0;
}

/* ---- the caller's thread: records that are kept ---- */

static int absorb_memory(struct gp_one_pass *p, const struct gp_record_view *seen)
{
	return seen->record->memory.device_id < GP_DEVICE_LIMIT
		       ? gp_live_memory_take(&p->totals.memory, &seen->record->memory)
		       : 0;
}

static int absorb_usage(struct gp_one_pass *p, const struct gp_record_view *seen)
{
	const struct gp_record_usage *r = &seen->record->usage;
	struct gp_totals *t = &p->totals;
	uint32_t at = 0;
	int result;

	while (at < t->usage_count && t->usages[at].device_id != r->device_id)
		at++;
	if (r->device_id >= GP_DEVICE_LIMIT ||
	    (at < t->usage_count && t->usages[at].ticks > r->ticks))
		return 0;
	result = gp_array_grow(&t->usages, &t->usage_capacity, t->usage_count, sizeof(*t->usages));
	if (result != 0)
		return result;
	t->usage_count += at == t->usage_count;
	t->usages[at] = *r;
	return 0;
}

static int give_on(struct gp_one_pass *p, const struct gp_record_view *seen)
{
	return p->sink.visit(p->sink.owner, seen);
}

static int absorb_context_end(struct gp_one_pass *p, const struct gp_record_view *seen)
{
	int result = gp_live_memory_end_context(&p->totals.memory, &seen->record->context_end);

	return result == 0 ? give_on(p, seen) : result;
}

/* ---- each kind ---- */

#define SUM(name)                                                                                  \
	static int pass_##name(struct worker *w, const struct gp_record_view *seen)                \
	{                                                                                          \
		return gp_sums_##name(&w->sums, seen->record);                                     \
	}
SUM(call)
SUM(kernel)
SUM(copy)
SUM(memset)
SUM(graph)
SUM(range)

static int pass_memory(struct worker *w, const struct gp_record_view *seen)
{
	int result = gp_sums_call(&w->sums, seen->record);

	return result == 0 ? keep(w->block, seen, absorb_memory) : result;
}

#define KEEP(name, absorb)                                                                         \
	static int pass_##name(struct worker *w, const struct gp_record_view *seen)                \
	{                                                                                          \
		return keep(w->block, seen, absorb);                                               \
	}
KEEP(usage, absorb_usage)
KEEP(context_end, absorb_context_end)
KEEP(string, give_on)
KEEP(shape, give_on)
KEEP(device, give_on)
KEEP(context, give_on)
KEEP(stream, give_on)
KEEP(anchor, give_on)
KEEP(counter, give_on)
KEEP(end, give_on)
KEEP(gate, give_on)
KEEP(frame, give_on)
KEEP(module, give_on)
KEEP(link, give_on)
KEEP(energy, give_on)
KEEP(waiting, give_on)
KEEP(in_flight, give_on)
KEEP(stream_wait, give_on)

/* In no total, and they grow with the run. */
GP_RECORD_IGNORE(pass, overhead)
#define GP_MODEL_RECORDS(name, ...) GP_RECORD_IGNORE(pass, name)
#include "report/model/array.def"
GP_RECORD_IGNORE(pass, thread)
GP_RECORD_IGNORE(pass, node)
GP_RECORD_IGNORE(pass, sample)
GP_RECORD_IGNORE(pass, hw_window)
GP_RECORD_IGNORE(pass, hw_value)

static GP_RECORD_VISITOR(take, pass, struct worker)

	static void decode(struct worker *w, struct block *b)
{
	struct gp_record_sink sink = {take, w};
	struct gp_decoded decoded = {0};
	struct gp_cover empty = b->cover;

	w->block = b;
	b->result = 0;
	for (uint32_t i = 0; i < b->chunk_count && b->result == 0; i++)
		b->result = gp_decode_chunk_for_sums(&b->chunks[i], &sink, &decoded);
	b->unknown = decoded.unknown;
	/* the times go with the block, and its empty cover is for the next ones */
	b->cover = w->sums.cover;
	w->sums.cover = empty;
}

/* ---- the threads ---- */

/* The next block that is full, or NULL. */
static struct block *take_block(struct gp_one_pass *p)
{
	struct block *b;

	if (p->taken == p->filled)
		return NULL;
	b = block_at(p, p->taken++);
	b->state = BLOCK_TAKEN;
	return b;
}

static void decode_unlocked(struct worker *w, struct block *b)
{
	struct gp_one_pass *p = w->pass;

	pthread_mutex_unlock(&p->lock);
	decode(w, b);
	pthread_mutex_lock(&p->lock);
	b->state = BLOCK_DONE;
	pthread_cond_broadcast(&p->changed);
}

static void *work(void *context)
{
	struct worker *w = context;
	struct gp_one_pass *p = w->pass;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct block *b = take_block(p);

		if (b)
			decode_unlocked(w, b);
		else if (p->is_over)
			break;
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void start_threads(struct gp_one_pass *p, uint32_t wanted)
{
	for (p->worker_count = 1; p->worker_count < wanted; p->worker_count++) {
		struct worker *w = &p->workers[p->worker_count];

		w->pass = p;
		if (pthread_create(&w->thread, NULL, work, w) != 0)
			return;
	}
}

static void end_threads(struct gp_one_pass *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_over = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 1; i < p->worker_count; i++)
		pthread_join(p->workers[i].thread, NULL);
}

static struct block *new_block(void)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->window = malloc(GP_TRACE_WINDOW_BYTES);
	if (b->window)
		return b;
	free(b);
	return NULL;
}

struct gp_one_pass *gp_one_pass_new(const struct gp_record_sink *sink)
{
	struct gp_one_pass *p = calloc(1, sizeof(*p));
	uint32_t cores = gp_core_count(), threads = cores < MOST_THREADS ? cores : MOST_THREADS;

	if (!p)
		return NULL;
	p->sink = *sink;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->blocks = calloc(BLOCKS_PER_CORE * threads, sizeof(struct block *));
	p->workers = calloc(threads, sizeof(*p->workers));
	if (!p->blocks || !p->workers)
		goto fail;
	p->workers[0].pass = p;
	for (; p->block_count < BLOCKS_PER_CORE * threads; p->block_count++) {
		p->blocks[p->block_count] = new_block();
		if (!p->blocks[p->block_count])
			goto fail;
	}
	start_threads(p, threads);
	return p;
fail:
	gp_one_pass_free(p);
	return NULL;
}

static void clear_block(struct block *b)
{
	free(b->chunks);
	free(b->window);
	free(b->others);
	free(b->texts);
	gp_cover_free(&b->cover);
}

void gp_one_pass_free(struct gp_one_pass *p)
{
	if (!p)
		return;
	end_threads(p);
	for (uint32_t i = 0; i < p->block_count; i++) {
		clear_block(p->blocks[i]);
		free(p->blocks[i]);
	}
	clear_block(&p->record);
	for (uint32_t i = 0; i < p->worker_count; i++)
		gp_sums_free(&p->workers[i].sums);
	free(p->blocks);
	free(p->workers);
	gp_totals_free(&p->totals);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- the caller's thread: finished blocks ---- */

static int absorb_others(struct gp_one_pass *p, struct block *b)
{
	int result = 0;

	for (uint32_t i = 0; i < b->other_count && result == 0; i++) {
		const struct other *other = &b->others[i];
		const char *text = other->text_at == UINT32_MAX ? NULL : b->texts + other->text_at;

		result = other->absorb(
			p, &(struct gp_record_view){&other->record, text, other->thread_id});
	}
	b->other_count = 0;
	b->text_bytes = 0;
	return result;
}

static int absorb(struct gp_one_pass *p, struct block *b)
{
	int result = b->result == 0 ? absorb_others(p, b) : b->result;

	if (result == 0)
		result = gp_live_memory_settle(&p->totals.memory);
	if (result == 0)
		result = gp_cover_take(&p->totals.cover, &b->cover);
	p->unknown += b->unknown;
	b->chunk_count = 0;
	return result;
}

/* The oldest block, once it is done; meanwhile this thread decodes, too.  With the lock. */
static void absorb_oldest(struct gp_one_pass *p)
{
	struct block *oldest = block_at(p, p->absorbed);

	while (oldest->state != BLOCK_DONE) {
		struct block *b = take_block(p);

		if (b)
			decode_unlocked(&p->workers[0], b);
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	if (p->result == 0)
		p->result = absorb(p, oldest);
	pthread_mutex_lock(&p->lock);
	oldest->state = BLOCK_EMPTY;
	p->absorbed++;
}

/* ---- the caller's thread: input ---- */

/* The block that is being filled goes to the threads. */
static void hand_over(struct gp_one_pass *p)
{
	struct block *b = block_at(p, p->filled);

	if (b->chunk_count == 0)
		return;
	pthread_mutex_lock(&p->lock);
	b->state = BLOCK_FULL;
	p->filled++;
	pthread_cond_broadcast(&p->changed);
	while (p->filled - p->absorbed == p->block_count ||
	       (p->absorbed < p->filled && block_at(p, p->absorbed)->state == BLOCK_DONE))
		absorb_oldest(p);
	pthread_mutex_unlock(&p->lock);
}

int gp_one_pass_chunk(struct gp_one_pass *p, const struct gp_chunk *chunk)
{
	struct block *b = block_at(p, p->filled);

	if (gp_array_grow(&b->chunks, &b->chunk_capacity, b->chunk_count, sizeof(*b->chunks)) != 0)
		return -ENOMEM;
	b->chunks[b->chunk_count++] = *chunk;
	return p->result;
}

/* The block that is being filled takes it, where it has chunks there. */
uint8_t *gp_one_pass_swap(void *pass, uint8_t *window)
{
	struct gp_one_pass *p = pass;
	struct block *b = block_at(p, p->filled);
	uint8_t *other = b->window;

	if (b->chunk_count == 0)
		return window;
	b->window = window;
	hand_over(p);
	return other;
}

int gp_one_pass_drain(struct gp_one_pass *p)
{
	hand_over(p);
	pthread_mutex_lock(&p->lock);
	while (p->absorbed < p->filled)
		absorb_oldest(p);
	pthread_mutex_unlock(&p->lock);
	return p->result;
}

int gp_one_pass_record(struct gp_one_pass *p, const struct gp_record_view *seen)
{
	int result;

	p->workers[0].block = &p->record;
	result = take(&p->workers[0], seen);
	return result == 0 ? absorb_others(p, &p->record) : result;
}

int gp_one_pass_end(struct gp_one_pass *p, struct gp_totals *totals, uint64_t *unknown)
{
	struct gp_sums *own = &p->workers[0].sums;
	int result = gp_one_pass_drain(p);

	if (result == 0)
		result = gp_live_memory_settle(&p->totals.memory);
	if (result == 0) /* frees that waited for their allocation: there is none */
		result = gp_live_memory_settle(&p->totals.memory);
	if (result == 0)
		result = gp_cover_take(&p->totals.cover, &own->cover);
	if (result == 0)
		result = gp_cover_join(&p->totals.cover);
	for (uint32_t i = 0; i < p->worker_count && result == 0; i++)
		result = gp_sums_join(&p->totals.sums, &p->workers[i].sums);
	*unknown = p->unknown;
	*totals = p->totals;
	p->totals = (struct gp_totals){0};
	return result;
}
