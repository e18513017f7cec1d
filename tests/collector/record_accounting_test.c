/*
 * record accounting: each accepted record is in the trace, or counted there as lost, exactly; and
 * only a trace with all its counters has an END record.  Tested for each kind of trace and each
 * place of the rings, with space limits in small steps, and with a failure of each writing call,
 * once or from then on.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/sys.h"

#define FEW        30u /* calls */
#define MANY       60000u
#define PAGE_BYTES 4096
#define NAME_EACH  (plan.calls / 60 + 5) /* number of calls between definitions */
#define LATE_CALLS 10u
#define CREW       150u                /* threads that exist at the end, with long names */
#define KEEP_BYTES (16u * 33u * 4096u) /* the smallest possible blocks */
#define LAST_BYTES 33000u /* the space that --max-file reserves for the end, and the first chunk */

#define EACH 7u /* step in bytes: reaches every position within a chunk's alignment */

/* Larger steps without TESTS_ALL_FAULTS, and under slow sanitizers. */
#define PACE      (UNDER_TSAN || UNDER_ASAN ? 97 : getenv("TESTS_ALL_FAULTS") ? 1 : 3)
#define CALL_STEP (UNDER_TSAN || UNDER_ASAN ? 7u : getenv("TESTS_ALL_FAULTS") ? 1u : 3u)

enum kind { PLAIN, LIMITED, CIRCULAR };

enum end { NO_KILL, KILL_BEFORE, KILL_AMID, KILL_AFTER };

static struct scan scan;

/* ---- where writing ends ---- */

static struct {
	enum gp_ring_place place;
	enum kind kind;
	uint64_t limit_bytes; /* of --max-file */
	uint64_t room_bytes;  /* space on the disk */
	uint32_t first, last; /* the failing calls, among those that write or truncate */
	int error;
	enum end end;  /* the effect of such a call, instead of a failure */
	bool is_first; /* first run of a sweep, without failures */
	bool has_crew;
	uint32_t calls; /* to be recorded */
} plan;

/* Shared with the child of a case. */
static struct {
	uint64_t bytes; /* the file's length */
	uint32_t calls; /* that wrote or truncated */
	uint64_t facts; /* the writer's records at the start */
	uint64_t taken; /* atomic; accepted records, plus the facts once they are known */
} * seen;

static long (*real_call)(long, long, long, long, long, long, long);

static uint64_t place_of(long number, long file, long offset)
{
	struct stat status;

	if (number == SYS_pwrite64)
		return (uint64_t)offset;
	return real_call(SYS_fstat, file, (long)&status, 0, 0, 0, 0) == 0 ? (uint64_t)status.st_size
									  : 0;
}

/* Ends within data longer than a page.  Shorter data is written completely or not at all. */
static void end_in_call(long number, long a, long b, long c, long d)
{
	if (plan.end == KILL_AMID && number != SYS_ftruncate && c > PAGE_BYTES)
		real_call(number, a, b, c / 2, d, 0, 0);
	if (plan.end == KILL_AFTER)
		real_call(number, a, b, c, d, 0, 0);
	raise(SIGKILL);
}

/* Like the kernel, writes as much as fits, then fails. */
static long limited_call(long number, long a, long b, long c, long d, long e, long f)
{
	bool writes = number == SYS_write || number == SYS_pwrite64;
	uint64_t at;

	if (!writes && number != SYS_ftruncate)
		return real_call(number, a, b, c, d, e, f);
	if (seen->calls >= plan.first && seen->calls <= plan.last && plan.end != NO_KILL)
		end_in_call(number, a, b, c, d);
	if (seen->calls >= plan.first && seen->calls <= plan.last) {
		seen->calls++;
		return plan.error;
	}
	seen->calls++;
	at = writes ? place_of(number, a, d) : 0;
	if (at == 0 && c == GP_RING_HEADER_BYTES) /* the ring file, which is in another place */
		return real_call(number, a, b, c, d, e, f);
	if (writes && at >= plan.room_bytes)
		return plan.error;
	if (writes && (uint64_t)c > plan.room_bytes - at)
		c = (long)(plan.room_bytes - at);
	return real_call(number, a, b, c, d, e, f);
}

/* ---- the recorded data ---- */

static void emit(uint32_t number)
{
	struct gp_record_call call = {.kind = GP_RECORD_CALL,
				      .slots = 1,
				      .correlation_id = number,
				      .start_ticks = gp_clock_ticks(),
				      .stack_id = number * 2654435761u,
				      .duration_low_ticks = number * 40503u};

	gp_add64(&seen->taken, gp_emit((const struct gp_record *)&call));
}

static void emit_name(uint32_t id)
{
	char text[100];

	memset(text, 'a' + (int)(id % 26), sizeof(text));
	gp_add64(&seen->taken, gp_emit_string(GP_STRING_KERNEL, id, 0, text, sizeof(text)));
}

static pthread_key_t late_key;
static pthread_barrier_t all_here;

/*
 * After the thread's ring is released: each record goes to the shared ring after a THREAD record.
 */
static void emit_late(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; i < LATE_CALLS; i++)
		emit(i);
}

static void *end_late(void *unused)
{
	pthread_setspecific(late_key, (void *)1);
	emit(0);
	return unused;
}

static void *stay(void *unused)
{
	char name[16];

	snprintf(name, sizeof(name), "stays-%09u", (unsigned)syscall(SYS_gettid));
	pthread_setname_np(pthread_self(), name);
	emit(0);
	pthread_barrier_wait(&all_here);
	pause();
	return unused;
}

static void start_crew(void)
{
	CHECK(pthread_barrier_init(&all_here, NULL, CREW + 1) == 0);
	for (uint32_t i = 0; i < CREW; i++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
	}
	pthread_barrier_wait(&all_here);
	gp_add64(&seen->taken, CREW);
}

static void *emit_much(void *unused)
{
	for (uint32_t i = 0; i < plan.calls; i++) {
		if (i % NAME_EACH == 0)
			emit_name(i);
		emit(i);
	}
	return unused;
}

static void run_thread(void *(*body)(void *))
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	pthread_join(thread, NULL);
}

/* All threads emit records.  Each thread also emits its name once. */
static void record_some(void)
{
	CHECK(pthread_key_create(&late_key, emit_late) == 0);
	run_thread(end_late);
	run_thread(emit_much);
	gp_add64(&seen->taken, 2);
	if (plan.has_crew)
		start_crew();
}

/* ---- the data in the trace ---- */

static struct {
	uint64_t records; /* records of the program, and facts */
	uint64_t facts;
	uint64_t counters[GP_COUNTERS];
	uint32_t ends;
	uint32_t gates;
	char ring_file[256];
} said;

/* Not for copies of definitions, which belong to no ring. */
static bool is_of_program(const struct any_record *record)
{
	return record->string.space == GP_STRING_KERNEL || record->string.space == GP_STRING_THREAD;
}

/*
 * Facts are emitted once, by the writer.  In a circular file they count as the program's
 * definitions.  The ring file is a fact only if there is one.
 */
static bool is_fact(const struct found *found)
{
	const struct gp_record_string *string = as_string(found);

	return string != NULL && string->space == GP_STRING_INFO && string->id != GP_INFO_RING_FILE;
}

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	said.facts += is_fact(found);
	said.records +=
		found->ring != 0 || is_fact(found) || (found->is_kept && is_of_program(record));
	said.ends += is_kind(found, GP_RECORD_END);
	said.gates += is_kind(found, GP_RECORD_GATE);
	if (is_kind(found, GP_RECORD_COUNTER))
		said.counters[record->counter.counter] = record->counter.value;
	if (is_kind(found, GP_RECORD_STRING) && record->string.space == GP_STRING_INFO &&
	    record->string.id == GP_INFO_RING_FILE)
		snprintf(said.ring_file, sizeof(said.ring_file), "%.*s",
			 (int)record->string.length_bytes, (const char *)record->text);
}

static uint64_t lost(void)
{
	uint64_t sum =
		said.counters[GP_COUNTER_LEFT_OUT_OLD] + said.counters[GP_COUNTER_LOST_DEFINITIONS];

	for (int i = 0; i < GP_WRITE_CAUSES; i++)
		sum += said.counters[gp_write_causes[i]];
	return sum;
}

/* Counts in a ring header apply if the trace lacks them. */
static void add_ring_counters(const char *path)
{
	size_t bytes, at = GP_RING_HEADER_BYTES;
	char *data = load(path, &bytes);
	uint64_t sums[GP_WRITE_CAUSES] = {0};

	for (; data != NULL && at + GP_RING_HEADER_BYTES <= bytes;) {
		const struct gp_ring_header *ring = (const void *)(data + at);

		if (ring->magic != GP_RING_MAGIC)
			break;
		for (int i = 0; i < GP_WRITE_CAUSES; i++)
			sums[i] += ring->lost_writes[i];
		at += GP_RING_HEADER_BYTES + (size_t)ring->slot_count * GP_SLOT_BYTES;
	}
	for (int i = 0; i < GP_WRITE_CAUSES; i++)
		if (said.counters[gp_write_causes[i]] < sums[i])
			said.counters[gp_write_causes[i]] = sums[i];
	free(data);
}

/* Returns false if there is no trace. */
static bool read_all(void)
{
	const char *path = in_folder("t.gpuprof");
	bool is_there;

	scan.fn = take;
	is_there = plan.kind == CIRCULAR ? scan_circular(&scan, path, KEEP_BYTES)
					 : scan_trace(&scan, path);
	if (said.ends == 0 && said.ring_file[0] != '\0' &&
	    scan_ring_file(&scan, said.ring_file, path)) {
		add_ring_counters(said.ring_file);
		unlink(said.ring_file);
	}
	return is_there;
}

static void check(const char *what, bool is_true)
{
	if (is_true)
		return;
	fprintf(stderr,
		"failed: %s; place %d, kind %d, limit %ju, room %ju, calls %u to %u, error %d, end "
		"%d; "
		"%u ends, taken %ju, read %ju, lost %ju (%s)\n",
		what, plan.place, plan.kind, (uintmax_t)plan.limit_bytes,
		(uintmax_t)plan.room_bytes, plan.first, plan.last, plan.error, plan.end, said.ends,
		(uintmax_t)seen->taken, (uintmax_t)said.records, (uintmax_t)lost(),
		scan.error != NULL ? scan.error : "");
	abort();
}

static void count_facts(void)
{
	if (plan.is_first)
		seen->facts = said.facts;
	seen->taken += seen->facts;
	if (said.facts == 0) /* all facts are lost, including that of the ring file */
		seen->taken += plan.place != GP_RINGS_MEMORY;
}

static int start_plan(void)
{
	struct gp_collector_config config = {.trace_path = in_folder("t"),
					     .ring_place = plan.place,
					     .max_file_bytes = plan.limit_bytes,
					     .keep_last_bytes =
						     plan.kind == CIRCULAR ? KEEP_BYTES : 0};

	real_call = gp_sys.call;
	gp_sys.call = limited_call;
	return gp_collector_start(&config);
}

static void record_and_compare(void)
{
	struct stat status;
	int error = start_plan();
	int why;

	if (error)
		return;
	record_some();
	error = gp_collector_stop(LONG_NS);
	CHECK(read_all());
	CHECK(stat(gp_collector_trace_path(), &status) == 0);
	seen->bytes = (uint64_t)status.st_size;
	count_facts();
	check("it has an end, or there is an error", said.ends == (error == 0));
	/* the records of rings in memory are lost with the process: then there is no END record */
	check("the account is even",
	      said.records + lost() == seen->taken || (error && said.ring_file[0] == '\0'));
	check("all that is read was taken", said.records <= seen->taken);
	check("where the file's limit was reached, it says so",
	      said.gates > 0 || said.ends == 0 || said.counters[GP_COUNTER_LOST_MAX_FILE] == 0);
	if (!error)
		check("the program is told the same",
		      gp_collector_unwritten(&why) + said.counters[GP_COUNTER_LEFT_OUT_OLD] +
				      said.counters[GP_COUNTER_LOST_DEFINITIONS] ==
			      lost());
}

/* The names of the two threads, and the last records of one thread, may not be counted yet. */
static void be_killed_and_compare(void)
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		if (start_plan() == 0)
			record_some();
		gp_collector_stop(LONG_NS);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	if (!read_all() || said.facts == 0)
		return;
	count_facts();
	check("nothing twice, nothing missing",
	      scan.error == NULL || strcmp(scan.error, "records missing") == 0);
	check("all that was handed over is there",
	      said.records + lost() >= seen->taken || said.ring_file[0] == '\0');
	check("all that is there was handed over", said.records + lost() <= seen->taken + 3);
}

/* ---- the sweeps ---- */

static void run_plan(void)
{
	seen->calls = 0;
	seen->taken = 0;
	run_case(plan.end == NO_KILL ? record_and_compare : be_killed_and_compare);
}

/* Then record once without failures. */
static void plan_for(enum gp_ring_place place, enum kind kind, uint32_t calls)
{
	memset(&plan, 0, sizeof(plan));
	plan.place = place;
	plan.kind = kind;
	plan.room_bytes = UINT64_MAX;
	plan.first = plan.last = UINT32_MAX;
	plan.calls = calls;
	plan.is_first = true;
	run_plan();
	plan.is_first = false;
}

static int next_error(void)
{
	static const int errors[] = {-ENOSPC, -EDQUOT, -EFBIG, -EIO};
	static uint32_t next;

	return errors[next++ % (sizeof(errors) / sizeof(errors[0]))];
}

static void each_length(uint64_t first, uint64_t last, uint64_t step)
{
	for (uint64_t bytes = first; bytes <= last; bytes += step * PACE) {
		plan.error = next_error();
		plan.room_bytes = bytes;
		run_plan();
	}
}

/* For each call of the run without failures, or every CALL_STEPth, other ones each time. */
static void each_call(bool for_good, enum end end)
{
	static uint32_t turn;
	uint32_t calls = seen->calls;

	for (uint32_t call = turn++ % CALL_STEP; call < calls; call += CALL_STEP) {
		plan.error = next_error();
		plan.end = end;
		plan.first = call;
		plan.last = for_good ? UINT32_MAX - 1 : call;
		run_plan();
	}
}

/*
 * A ring file beside the trace behaves like one in /dev/shm, so slow cases use only the first two
 * places.
 */
static const enum gp_ring_place places[] = {GP_RINGS_MEMORY, GP_RINGS_FILE, GP_RINGS_SHM};

#define PLACES (sizeof(places) / sizeof(places[0]))

static void disk_space_in_small_steps(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		plan_for(places[i], PLAIN, FEW);
		each_length(400, seen->bytes + 1, places[i] == GP_RINGS_MEMORY ? EACH : 37u);
	}
}

static void space_for_some_chunks(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < PLACES; i++) {
		plan_for(places[i], PLAIN, MANY);
		each_length(1000, seen->bytes + 1, 40009);
		plan_for(places[i], CIRCULAR, MANY);
		each_length(1000, seen->bytes + 1, 40009);
	}
}

/* A thread that exists at the end emits its name once more. */
static void space_for_many_thread_names(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < PLACES; i++) {
		plan_for(places[i], PLAIN, FEW);
		plan.has_crew = true;
		each_length(2000, seen->bytes + 8000, 1499);
	}
}

static void a_limit_in_small_steps(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < PLACES; i++) {
		plan_for(places[i], LIMITED, FEW);
		for (uint64_t bytes = 0; bytes < seen->bytes; bytes += 37ull * PACE) {
			plan.limit_bytes = LAST_BYTES + bytes;
			run_plan();
		}
	}
}

static void each_call_fails(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < 2; i++)
		for (int kind = PLAIN; kind <= CIRCULAR; kind++) {
			plan_for(places[i], (enum kind)kind, MANY);
			if (kind == LIMITED)
				plan.limit_bytes = seen->bytes / 2;
			each_call(false, NO_KILL);
			each_call(true, NO_KILL);
		}
}

static void killed_in_each_call(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < 2; i++)
		for (int kind = PLAIN; kind <= CIRCULAR; kind++)
			for (int end = KILL_BEFORE; end <= KILL_AFTER; end++) {
				plan_for(places[i], (enum kind)kind, MANY);
				if (kind == LIMITED)
					plan.limit_bytes = seen->bytes / 2;
				each_call(false, (enum end)end);
			}
}

static int share(void **unused)
{
	(void)unused;
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return seen == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disk_space_in_small_steps),
		cmocka_unit_test(space_for_some_chunks),
		cmocka_unit_test(space_for_many_thread_names),
		cmocka_unit_test(a_limit_in_small_steps),
		cmocka_unit_test(each_call_fails),
		cmocka_unit_test(killed_in_each_call),
	};

	return cmocka_run_group_tests(tests, share, NULL);
}
