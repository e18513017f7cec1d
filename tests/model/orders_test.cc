/*
 * The memory orders of ring, bell and lanes, under Relacy: collector/ring.c, collector/eventcount.c and the lanes of
 * collector/arena.c run as they are, on words and slots that remember which thread may see what.  Thousands of orders of
 * steps in which each load gives any value that the C11 memory model lets it give: no data race on a slot, no record lost
 * or out of order, nobody asleep for ever.
 *
 * Then each order that the code names is made relaxed, one at a time, and each time that must be noticed.
 *
 * What is not the code itself: the lock of the shared ring and the writer's side (collector/thread.c, collector/drain.c and
 * collector/writer.c have them in functions that do more), and the kernel's part of sleeping.  Not shown here: orders
 * against a thread's own signal handlers, and the making of rings.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <streambuf>

#if !__has_include(<relacy/relacy.hpp>)
int main()
{
	std::printf("skipped: no Relacy here: apt-get install relacy-dev\n");
	return 77;
}
#else
#include <relacy/relacy.hpp>

#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free

#define SLOTS      4u
#define LANES      1u
#define ITERATIONS 50000u

/* ---- words and slots that Relacy sees ---- */

enum word {
	HEAD,
	TAIL,
	RUNG,
	LOCK,
	STATE,
	FREE_LANES,
	LANE_COUNT,
	EXHAUSTED,
	THREAD,
	RING,
	LAST_RING,
	CALL_TICKS,
	WORDS
};
enum access { LOAD, STORE, CHANGE };

struct memory {
	rl::atomic<uint64_t> words[WORDS];
	rl::var<uint64_t> slots[SLOTS];
};

static struct memory *memory;
static const void *address_of_word[WORDS];
static char *first_slot;

/* What is relaxed in this run. */
static const uint64_t ANY = UINT64_MAX;
static struct {
	const char *what;
	enum word word;
	enum access access;
	uint64_t value;
} weak;

static enum word word_at(const void *address)
{
	for (int i = 0; i < WORDS; i++)
		if (address_of_word[i] == address)
			return (enum word)i;
	std::fprintf(stderr, "a word that this test does not know\n");
	std::abort();
}

static rl::memory_order order(enum word word, enum access access, uint64_t value,
			      rl::memory_order written)
{
	bool is_weak = weak.what && weak.word == word && weak.access == access &&
		       (weak.value == ANY || weak.value == value);

	return is_weak ? rl::mo_relaxed : written;
}

static uint64_t load(const void *address, rl::memory_order written)
{
	enum word word = word_at(address);

	return memory->words[word].load(order(word, LOAD, ANY, written), $);
}

static void store(void *address, uint64_t value, rl::memory_order written)
{
	enum word word = word_at(address);

	memory->words[word].store(value, order(word, STORE, value, written), $);
}

/* Instead of collector/atomic.h. */
#define COLLECTOR_ATOMIC_H
static uint32_t gp_load32(const uint32_t *word)
{
	return (uint32_t)load(word, rl::mo_relaxed);
}
static uint32_t gp_load32_acquire(const uint32_t *word)
{
	return (uint32_t)load(word, rl::mo_acquire);
}
static void gp_store32(uint32_t *word, uint32_t value)
{
	store(word, value, rl::mo_relaxed);
}
static void gp_store32_release(uint32_t *word, uint32_t value)
{
	store(word, value, rl::mo_release);
}
static uint64_t gp_load64(const uint64_t *word)
{
	return load(word, rl::mo_relaxed);
}
static uint64_t gp_load64_acquire(const uint64_t *word)
{
	return load(word, rl::mo_acquire);
}
static void gp_store64(uint64_t *word, uint64_t value)
{
	store(word, value, rl::mo_relaxed);
}
static void gp_store64_release(uint64_t *word, uint64_t value)
{
	store(word, value, rl::mo_release);
}

static uint32_t gp_swap32(uint32_t *address, uint32_t value)
{
	enum word word = word_at(address);

	return (uint32_t)memory->words[word].exchange(value,
						      order(word, CHANGE, ANY, rl::mo_seq_cst), $);
}

static bool gp_replace32(uint32_t *address, uint32_t expected, uint32_t value)
{
	enum word word = word_at(address);
	uint64_t found = expected;

	return memory->words[word].compare_exchange_strong(
		found, value, order(word, CHANGE, ANY, rl::mo_seq_cst), $);
}

static uint32_t gp_add32(uint32_t *address, uint32_t amount)
{
	return (uint32_t)memory->words[word_at(address)].fetch_add(
		(uint64_t)(int64_t)(int32_t)amount, rl::mo_relaxed, $);
}

/* What a slot holds is its first 8 bytes. */
static void copy(void *to, const void *from, size_t bytes)
{
	uint64_t value = 0;

	std::memcpy(to, from, bytes);
	std::memcpy(&value, from, sizeof(value));
	if ((char *)to >= first_slot && (char *)to < first_slot + SLOTS * 32)
		memory->slots[((char *)to - first_slot) / 32]($) = value;
}

#define try    attempt
#define memcpy copy
#include "collector/arena.c"
#include "collector/eventcount.c"
#include "collector/ring.c"
#undef memcpy
#undef try

static_assert(GP_SLOT_BYTES == 32, "as assumed above");

/* ---- the kernel's part ---- */

static rl::mutex *kernel_lock;
static rl::condition_variable *sleepers;

/* Woken by nothing but a wake. */
void gp_sys_wait(uint32_t *word, uint32_t expected, uint64_t)
{
	kernel_lock->lock($);
	if (memory->words[word_at(word)].load(rl::mo_relaxed, $) == expected)
		sleepers->wait(*kernel_lock, $);
	kernel_lock->unlock($);
}

void gp_sys_wake(uint32_t *)
{
	kernel_lock->lock($);
	sleepers->notify_one($);
	kernel_lock->unlock($);
}

/* ---- a ring, a lane and a bell ---- */

alignas(64) static char ring_memory[GP_RING_HEADER_BYTES + SLOTS * GP_SLOT_BYTES];
static struct gp_ring_header *const ring = (struct gp_ring_header *)ring_memory;
static struct gp_arena arena;
static struct gp_eventcount wakeup;
static uint32_t shared_lock;

template <typename suite, unsigned threads> struct world : rl::test_suite<suite, threads> {
	struct memory words;
	rl::mutex lock;
	rl::condition_variable waiting;
	uint64_t taken, tail; /* the writer's */

	void before()
	{
		const void *addresses[WORDS] = {
			&ring->head,       &ring->tail,           &wakeup.notified,
			&shared_lock,      &arena.lanes[0].state, &arena.free_lanes,
			&arena.lane_count, &arena.exhausted,      &ring->thread,
			&ring->ring,       &arena.last_ring,      &ring->call_ticks};

		memory = &words;
		kernel_lock = &lock;
		sleepers = &waiting;
		std::memcpy(address_of_word, addresses, sizeof(addresses));
		first_slot = ring_memory + GP_RING_HEADER_BYTES;
		std::memset(ring_memory, 0, sizeof(ring_memory));
		std::memset(&arena, 0, sizeof(arena));
		for (int i = 0; i < WORDS; i++)
			words.words[i].store(0, rl::mo_relaxed, $);
		ring->slot_count = SLOTS;
		arena.lanes[0].ring = ring;
		words.words[FREE_LANES].store(LANES, rl::mo_relaxed, $);
		words.words[LANE_COUNT].store(LANES, rl::mo_relaxed, $);
		taken = tail = 0;
	}
};

/* Of 1 or 2 slots; each slot says number, part and length. */
static uint64_t content(uint64_t number, uint64_t part, uint64_t length)
{
	return number << 32 | part << 24 | length << 8;
}

static bool put(uint64_t number, uint32_t length)
{
	alignas(8) char record[2 * GP_SLOT_BYTES] = {};
	struct gp_item item = {(struct gp_record *)record, NULL, length, 0};

	for (uint32_t i = 0; i < length; i++) {
		uint64_t slot = content(number, i, length);

		std::memcpy(record + i * GP_SLOT_BYTES, &slot, sizeof(slot));
	}
	return gp_ring_put_quick(ring, item.record) || gp_ring_put(ring, &item);
}

static void put_surely(uint64_t number, uint32_t length)
{
	while (!put(number, length))
		rl::yield(1, $);
}

/* Calls take(number, length) for each record; returns whether there was any. */
template <typename taker> static bool drain(uint64_t *tail, taker take)
{
	uint64_t head = gp_ring_head(ring), at = *tail;

	while (at < head) {
		uint64_t first = memory->slots[at % SLOTS]($), number = first >> 32,
			 length = first >> 8 & 0xff;

		for (uint64_t i = 0; i < length; i++)
			RL_ASSERT((uint64_t)memory->slots[(at + i) % SLOTS]($) ==
				  content(number, i, length));
		take(number, length);
		at += length;
	}
	if (at != *tail)
		gp_ring_free(ring, at);
	std::swap(*tail, at);
	return at != *tail;
}

/* One thread puts, one takes. */
struct one_producer : world<one_producer, 2> {
	static constexpr uint64_t records = 5;

	void thread(unsigned index)
	{
		if (index == 0)
			for (uint64_t i = 1; i <= records; i++)
				put_surely(i, 1 + i % 2);
		else
			while (taken < records)
				if (!drain(&tail, [this](uint64_t number, uint64_t) {
					    RL_ASSERT(number == ++taken);
				    }))
					rl::yield(1, $);
	}
};

/* Two threads share a ring, as put_shared() of collector/thread.c does it, one takes. */
struct two_producers : world<two_producers, 3> {
	static constexpr uint64_t records = 2;
	uint64_t last[2];

	void before()
	{
		world::before();
		last[0] = last[1] = 0;
	}

	void produce(unsigned index)
	{
		for (uint64_t i = 1; i <= records; i++)
			for (bool done = false; !done;) {
				while (gp_swap32(&shared_lock, 1) != 0)
					rl::yield(1, $);
				done = put(i, 1 + index);
				gp_store32_release(&shared_lock, 0);
			}
	}

	void take(uint64_t number, uint64_t length)
	{
		RL_ASSERT(number == ++last[length - 1]);
		taken++;
	}

	void thread(unsigned index)
	{
		if (index < 2)
			produce(index);
		else
			while (taken < 2 * records)
				if (!drain(&tail, [this](uint64_t number, uint64_t length) {
					    take(number, length);
				    }))
					rl::yield(1, $);
	}
};

/* The writer sleeps until the bell rings; whoever puts a record rings. */
struct sleeping_writer : world<sleeping_writer, 3> {
	void thread(unsigned index)
	{
		if (index < 2) {
			while (gp_swap32(&shared_lock, 1) != 0)
				rl::yield(1, $);
			RL_ASSERT(put(1, 1));
			gp_store32_release(&shared_lock, 0);
			gp_eventcount_notify(&wakeup);
		} else {
			while (drain(&tail, [this](uint64_t, uint64_t) { taken++; }), taken < 2)
				gp_eventcount_wait(&wakeup, 0);
		}
	}
};

/* Two threads have the same lane after each other, the writer frees it in between, as recycle_lane() of collector/writer.c. */
struct one_lane : world<one_lane, 3> {
	rl::var<uint64_t> of_the_owner; /* like cached_tail */

	void before()
	{
		world::before();
		of_the_owner($) = 0;
	}

	void use(uint64_t self)
	{
		struct gp_lane *lane;

		while ((lane = gp_arena_take(&arena, (uint32_t)self)) == NULL)
			rl::yield(1, $);
		of_the_owner($) = of_the_owner($) + 1;
		put_surely(self, 2);
		put_surely(self, 2);
		gp_arena_close_lane(&arena, lane);
	}

	void recycle()
	{
		struct gp_lane *lane = &arena.lanes[0];

		if (gp_load32_acquire(&lane->state) == GP_LANE_CLOSING &&
		    gp_ring_head(ring) == gp_load64(&ring->tail))
			gp_arena_recycle(&arena, lane);
	}

	void take(uint64_t number)
	{
		RL_ASSERT(gp_load32(&ring->thread) == number);
		RL_ASSERT(gp_load32(&ring->ring) == taken / 2 + 1);
		taken++;
	}

	void thread(unsigned index)
	{
		if (index < 2)
			use(1 + index);
		else
			while (taken < 4) {
				if (!drain(&tail,
					   [this](uint64_t number, uint64_t) { take(number); }))
					rl::yield(1, $);
				recycle();
			}
	}
};

/* ---- what is tried ---- */

template <typename suite> static bool is_sound(uint64_t iterations, std::ostream &out)
{
	rl::test_params parameters;

	parameters.iteration_count = iterations;
	parameters.output_stream = parameters.progress_stream = &out;
	return rl::simulate<suite>(parameters);
}

/* What Relacy says, in memory that it does not manage: it has allocation for itself while it runs. */
struct saying : std::streambuf, std::ostream {
	char bytes[8192] = {0};

	saying() : std::ostream(this)
	{
		setp(bytes, bytes + sizeof(bytes));
	}
};

typedef bool (*scene)(uint64_t iterations, std::ostream &out);

static const struct {
	const char *name;
	scene run;
} scenes[] = {
	{"a ring", is_sound<one_producer>},
	{"a shared ring", is_sound<two_producers>},
	{"a bell", is_sound<sleeping_writer>},
	{"a lane", is_sound<one_lane>},
};

static const struct {
	scene run;
	decltype(weak) fault;
} faults[] = {
	{is_sound<one_producer>, {"publishing", HEAD, STORE, ANY}},
	{is_sound<one_producer>, {"looking for what is published", HEAD, LOAD, ANY}},
	{is_sound<one_producer>, {"freeing", TAIL, STORE, ANY}},
	{is_sound<one_producer>, {"looking for room", TAIL, LOAD, ANY}},
	{is_sound<two_producers>, {"locking", LOCK, CHANGE, ANY}},
	{is_sound<two_producers>, {"unlocking", LOCK, STORE, ANY}},
	{is_sound<sleeping_writer>, {"ringing and hearing", RUNG, CHANGE, ANY}},
	{is_sound<one_lane>, {"letting a lane go", STATE, STORE, GP_LANE_CLOSING}},
	{is_sound<one_lane>, {"looking for lanes that were let go", STATE, LOAD, ANY}},
	{is_sound<one_lane>, {"giving a lane back", STATE, STORE, GP_LANE_FREE}},
	{is_sound<one_lane>, {"taking a lane", STATE, CHANGE, ANY}},
};

static int wrong;

static void say(bool right, const char *what, const char *name, const saying &out)
{
	if (right)
		return;
	std::printf("%s: %s\n%.4000s\n", what, name, out.bytes);
	wrong++;
}

int main()
{
	for (const auto &scene : scenes) {
		saying out;

		say(scene.run(ITERATIONS, out), "not sound", scene.name, out);
	}
	for (const auto &fault : faults) {
		saying out;

		weak = fault.fault;
		say(!fault.run(ITERATIONS, out), "not noticed when relaxed", weak.what, out);
	}
	return wrong != 0;
}
#endif
