/* text_table: equal texts have one id, which is defined before its use. */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <sched.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/text_table.h"

#define THREADS 4
#define TEXTS   500u
#define TABLES  200 /* all threads first use each text at the same time */

#define BOUND_BYTES (32u << 20)
#define SMALL_BYTES (1u << 16) /* size of a table that --max-memory has made smaller */

static struct gp_text_table table = {.wanted_bytes = 1u << 20};
static struct scan scan;

/* The content of a trace; a call with correlation id I is a use of the text I. */
static struct {
	uint32_t definitions;
	uint32_t wrong; /* uses of an id without a definition */
	uint32_t uses;
	bool defined[1u << 16];
} said;

static struct gp_text_key key_of(const char *text)
{
	return (struct gp_text_key){GP_STRING_RANGE, 0, text, (uint32_t)strlen(text)};
}

static uint32_t id_of(const char *text)
{
	struct gp_text_key key = key_of(text);

	return gp_text_table_id(&table, &key);
}

static void take(void *unused, const struct found *found)
{
	(void)unused;
	if (is_kind(found, GP_RECORD_CALL)) {
		said.uses++;
	} else if (as_string(found) != NULL && as_string(found)->space == GP_STRING_RANGE) {
		said.definitions++;
		said.defined[as_string(found)->id] = true;
	}
}

static void take_uses(void *unused, const struct found *found)
{
	(void)unused;
	if (is_kind(found, GP_RECORD_CALL))
		said.wrong += !said.defined[found->record->call.correlation_id];
}

static void stop_and_read(void)
{
	memset(&said, 0, sizeof(said));
	CHECK(gp_collector_stop(LONG_NS) == 0);
	memset(&scan, 0, sizeof(scan));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	memset(&scan, 0, sizeof(scan));
	scan.fn = take_uses;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(said.wrong == 0);
}

static void equal_texts_have_one_number(void)
{
	char copy[] = "step";
	struct gp_text_key of_domain = {GP_STRING_RANGE, 7, "step", 4};

	start_in(GP_RINGS_AUTO);
	CHECK(id_of("step") == 1 && id_of(copy) == 1);
	copy[0] = 'S';
	CHECK(id_of(copy) == 2 && id_of("step") == 1);
	/*
	 * a prefix is another text, and so are the empty text and the same text with another value
	 */
	CHECK(id_of("ste") == 3 && id_of("") == 4 && id_of("") == 4);
	CHECK(gp_text_table_id(&table, &of_domain) == 5);
	stop_and_read();
	CHECK(said.definitions == 5);
}

static void texts_of_all_lengths(void)
{
	char text[100];
	uint32_t ids[sizeof(text)];

	start_in(GP_RINGS_AUTO);
	memset(text, 'x', sizeof(text));
	for (uint32_t length = 0; length < sizeof(text); length++) {
		struct gp_text_key key = {GP_STRING_RANGE, 0, text, length};

		ids[length] = gp_text_table_id(&table, &key);
		CHECK(ids[length] == length + 1);
	}
	for (uint32_t length = 0; length < sizeof(text); length++) {
		struct gp_text_key key = {GP_STRING_RANGE, 0, text, length};

		CHECK(gp_text_table_id(&table, &key) == ids[length]);
	}
}

static void a_long_text_is_cut(void)
{
	static char text[2 * GP_STRING_MAX_BYTES];
	struct gp_text_key key = {GP_STRING_RANGE, 0, text, sizeof(text)};

	start_in(GP_RINGS_AUTO);
	memset(text, 'x', sizeof(text));
	CHECK(gp_text_table_add(&table, &key)->length_bytes == GP_STRING_MAX_BYTES);
	CHECK(gp_text_table_id(&table, &key) == 1);
	CHECK(gp_text_table_id(&table, &key) == 1);
	text[sizeof(text) - 1] = 'y'; /* the same beginning */
	CHECK(gp_text_table_id(&table, &key) == 2);
	key.length_bytes = GP_STRING_MAX_BYTES;
	CHECK(gp_text_table_id(&table, &key) == 3);
	CHECK(memcmp(gp_text_table_add(&table, &key)->bytes, text, key.length_bytes) == 0);
}

/* As in constructors of libraries, long before there is a recording. */
static void a_text_from_before_the_start(void)
{
	struct gp_text_key key = key_of("early");
	struct gp_known_text *text = gp_text_table_add(&table, &key);

	CHECK(text != NULL && gp_text_table_define(text) == 0);
	CHECK(id_of("early") == 0);
	start_in(GP_RINGS_AUTO);
	CHECK(gp_text_table_define(text) == text->id && text->id != 0);
	CHECK(id_of("early") == text->id);
	stop_and_read();
	CHECK(said.definitions == 1 && said.defined[text->id]);
}

static void *use_texts(void *unused)
{
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[32];
		uint32_t id;

		snprintf(text, sizeof(text), "text %u", i);
		id = id_of(text);
		CHECK(id != 0);
		emit_call_surely(id);
	}
	return unused;
}

static void racing_threads(void)
{
	pthread_t threads[THREADS];

	start_in(GP_RINGS_AUTO);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, use_texts, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %u", i);
		CHECK(id_of(text) == id_of(text) && id_of(text) <= TEXTS * THREADS);
	}
	stop_and_read();
	CHECK(said.uses == TEXTS * THREADS && said.definitions >= TEXTS);
}

static void a_full_table(void)
{
	char large[2000];
	struct gp_text_key key = {GP_STRING_RANGE, 0, large, sizeof(large)};
	uint32_t i, last;

	start_in(GP_RINGS_AUTO);
	for (i = 0;; i++) {
		char text[1001];
		struct gp_text_key small = {GP_STRING_RANGE, 0, text, 1000};

		snprintf(text, sizeof(text), "%01000u", i);
		if (gp_text_table_add(&table, &small) == NULL)
			break;
	}
	CHECK(i > 800 && i < 1048); /* in a table of 1 MiB */
	memset(large, 'x', sizeof(large));
	last = gp_text_table_id(&table, &key);
	CHECK(last != 0 && gp_text_table_id(&table, &key) == last + 1);
	stop_and_read();
	CHECK(said.definitions == 2 && said.defined[last] && said.defined[last + 1]);
}

/*
 * With --max-memory tables are smaller than requested.  Equal texts still have one id, from the
 * first use on.
 */
static void a_memory_limit_changes_no_handle(void)
{
	struct gp_text_key first = key_of("first"), second = key_of("second");
	struct gp_known_text *kept;
	uint32_t i;

	gp_memory_budget_init(BOUND_BYTES);
	kept = gp_text_table_add(&table, &first);
	CHECK(kept != NULL && gp_text_table_add(&table, &first) == kept);
	CHECK(gp_text_table_add(&table, &second) == gp_text_table_add(&table, &second));
	CHECK(gp_text_table_add(&table, &second) != kept);
	CHECK(gp_text_table_at(&table, (uintptr_t)kept) == kept);
	CHECK(gp_text_table_at(&table, table.memory + SMALL_BYTES) == NULL);
	for (i = 0;; i++) {
		char text[1001];
		struct gp_text_key key = {GP_STRING_RANGE, 0, text, 1000};

		snprintf(text, sizeof(text), "%01000u", i);
		if (gp_text_table_add(&table, &key) == NULL)
			break;
	}
	CHECK(i > 50 && i < 60); /* in 64 KiB, without the heads of the chains */
	CHECK(gp_text_table_add(&table, &first) == kept && kept->length_bytes == 5);
	CHECK(gp_memory_budget_peak() == GP_MEMORY_BUDGET_FIXED_BYTES + SMALL_BYTES);
}

static struct gp_text_table tables[TABLES];
static struct gp_known_text *seen[THREADS][TABLES];
static pthread_barrier_t together;

static void *come_first(void *number)
{
	uintptr_t own = (uintptr_t)number;

	for (int i = 0; i < TABLES; i++) {
		struct gp_text_key key = key_of("first");

		pthread_barrier_wait(&together);
		seen[own][i] = gp_text_table_add(&tables[i], &key);
	}
	return NULL;
}

static void the_first_texts_of_racing_threads(void)
{
	pthread_t threads[THREADS];

	gp_memory_budget_init(BOUND_BYTES);
	CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
	for (int i = 0; i < TABLES; i++)
		tables[i].wanted_bytes = 1u << 20;
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, come_first, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TABLES; i++)
		for (int thread = 0; thread < THREADS; thread++)
			CHECK(seen[thread][i] != NULL && seen[thread][i] == seen[0][i]);
	/* areas that were mapped but not installed were released */
	CHECK(gp_memory_budget_peak() >= GP_MEMORY_BUDGET_FIXED_BYTES + TABLES * SMALL_BYTES);
	CHECK(gp_memory_budget_peak() <
	      GP_MEMORY_BUDGET_FIXED_BYTES + (TABLES + THREADS) * SMALL_BYTES);
}

/* ---- two concurrent threads, text by text ---- */

#define RACES 3000u
/* size in bytes of a table with four chains and space for eight short texts */
#define FEW_CHAINS 512u

static struct gp_text_table small[RACES];
static struct gp_known_text *common[2][RACES], *own[2][RACES];
static uint32_t arrived[RACES];

static void wait_for_both(uint32_t race)
{
	gp_add32(&arrived[race], 1);
	for (uint32_t spins = 0; gp_load32_acquire(&arrived[race]) < 2; spins++)
		if (spins > 1000)
			sched_yield();
}

static struct gp_known_text *keep_text(uint32_t race, const char *text)
{
	struct gp_text_key key = key_of(text);

	return gp_text_table_add(&small[race], &key);
}

static void *race_for_chains(void *number)
{
	uintptr_t thread = (uintptr_t)number;

	for (uint32_t race = 0; race < RACES; race++) {
		char text[8];

		snprintf(text, sizeof(text), "%c%u", thread == 0 ? 'a' : 'b', race);
		wait_for_both(race);
		if (race % 2 == 0)
			common[thread][race] = keep_text(race, "both");
		own[thread][race] = keep_text(race, text);
		if (race % 2 == 1)
			common[thread][race] = keep_text(race, "both");
	}
	return NULL;
}

/*
 * A text is never added twice, and never lost to another text that was added to its chain
 * meanwhile.
 */
static void texts_added_to_a_chain_concurrently(void)
{
	pthread_t threads[2];

	for (uint32_t race = 0; race < RACES; race++) {
		small[race].wanted_bytes = FEW_CHAINS;
		CHECK(keep_text(race, "first") != NULL);
	}
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, race_for_chains, (void *)i) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t race = 0; race < RACES; race++) {
		CHECK(common[0][race] != NULL && common[0][race] == common[1][race]);
		CHECK(keep_text(race, "both") == common[0][race]);
		for (uint32_t i = 0; i < 2; i++) {
			CHECK(own[i][race] != NULL && own[i][race]->bytes[0] == "ab"[i]);
			CHECK(keep_text(race, own[i][race]->bytes) == own[i][race]);
		}
		CHECK(own[0][race]->id != own[1][race]->id);
	}
}

static void invalid_addresses(void)
{
	struct gp_text_key key = key_of("a text that is not short");
	struct gp_known_text *kept, copy;
	uint64_t address;

	CHECK(gp_text_table_at(&table, 8) == NULL); /* the table is empty so far */
	kept = gp_text_table_add(&table, &key);
	address = (uintptr_t)kept;
	copy = *kept;
	CHECK(gp_text_table_at(&table, address) == kept);
	for (uint64_t near = address - 64; near < address + 128; near++)
		CHECK(near == address || gp_text_table_at(&table, near) == NULL);
	memcpy(kept->bytes, &copy, 8);
	CHECK(gp_text_table_at(&table, (uintptr_t)kept->bytes) == NULL);
	CHECK(gp_text_table_at(&table, (uintptr_t)&copy) == NULL);
	CHECK(gp_text_table_at(&table, 0) == NULL && gp_text_table_at(&table, 16) == NULL);
	CHECK(gp_text_table_at(&table, (uint64_t)-8) == NULL);
	CHECK(gp_text_table_at(&table, table.memory) == NULL);
	CHECK(gp_text_table_at(&table, table.memory + table.wanted_bytes - 8) == NULL);
	CHECK(gp_text_table_at(&table, table.memory + table.wanted_bytes) == NULL);
}

static void a_forked_child_defines_again(void)
{
	uint32_t id;
	pid_t child;

	start_in(GP_RINGS_AUTO);
	id = id_of("step");
	child = fork();
	if (child == 0) {
		CHECK(id_of("step") == 0);
		start_in(GP_RINGS_AUTO);
		CHECK(id_of("step") == id);
		emit_call_surely(id);
		stop_and_read();
		CHECK(said.definitions == 1 && said.defined[id]);
		_exit(0);
	}
	CHECK(waitpid(child, &(int){0}, 0) == child);
	CHECK(id_of("step") == id);
	stop_and_read();
	CHECK(said.definitions == 1);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		/* ThreadSanitizer allows no new thread in a forked child */                       \
		if (UNDER_TSAN && name == a_forked_child_defines_again)                            \
			skip();                                                                    \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(invalid_addresses)                                                                       \
	X(equal_texts_have_one_number)                                                             \
	X(texts_of_all_lengths)                                                                    \
	X(a_long_text_is_cut)                                                                      \
	X(a_text_from_before_the_start)                                                            \
	X(racing_threads)                                                                          \
	X(a_memory_limit_changes_no_handle)                                                        \
	X(the_first_texts_of_racing_threads)                                                       \
	X(texts_added_to_a_chain_concurrently)                                                     \
	X(a_full_table)                                                                            \
	X(a_forked_child_defines_again)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
