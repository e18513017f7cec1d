/*
 * torture: kills a profiled program at random instants and reads the rest: a prefix of each
 * thread's actions; with rings that outlive the process all finished calls, to the last one, and
 * each GPU record that was taken from CUPTI (which the simulated one counts); no duplicates, and no
 * GPU record without a launch.
 *
 * torture [KILLS [SEED]]          kills for each placement of the rings; O names the build folder
 *
 * Needs nothing but libc: it runs on machines with a GPU that have no more.  On the simulated
 * device, or, if TESTS_ON_GPU is set, on the real one.
 */
#include "tests/collector/trace_check.h"
#include "tests/lib/case_folder.h"

#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/torture/truth.h"

#define API_LAUNCH   (GP_API_DRIVER | 307u)
#define LONGEST_NS   20000000u
#define STANDARD     100
#define SOME_SECONDS 20u

static const char *places[] = {"shm", "file", "memory"};
static char variables[9][320];
static struct truth *truth;
static struct scan scan;
static char ring_file[256];
static pid_t last_child;
static uint64_t launches[WORKERS], kernels;
static uint64_t all_launches, all_kernels, all_ranges, in_work;
static uint32_t *texts;       /* by id: the number that it is, from 1 on; 0: not known */
static uint8_t *called, *ran; /* by correlation id */

/* The cycle of actions of a worker. */
enum turn { PUSH, POP, ALLOCATE, TURNS };
static struct event {
	uint64_t ticks;
	uint64_t value; /* of a push its text, of an allocation its bytes */
	enum turn turn;
	uint32_t ring;
} * events[WORKERS];
static size_t event_count[WORKERS];

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	_exit(1);
}

static void set_variable(int number, const char *name, const char *value)
{
	snprintf(variables[number], sizeof(variables[number]), "%s=%s", name, value);
}

static const char *value_of(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL ? value : "";
}

/* ---- the process ---- */

static void run_workload(void)
{
	char *environment[10] = {NULL}, path[256];
	char *arguments[] = {path, NULL};

	for (int i = 0; i < 9; i++)
		environment[i] = variables[i];
	snprintf(path, sizeof(path), "%s/tests/torture/workload", getenv("O"));
	alarm(SOME_SECONDS); /* a workload that is not killed fails */
	execve(path, arguments, environment);
	_exit(1);
}

/* Returns how it ended. */
static int kill_one(const char *place)
{
	char delay[32], path[300];
	int status;
	pid_t child;

	snprintf(delay, sizeof(delay), "%u", (unsigned)rand() % LONGEST_NS);
	set_variable(0, "GPUPROF_RINGS", place);
	set_variable(1, "GPUPROF_OUTPUT", in_folder("t"));
	set_variable(2, TRUTH_VARIABLE, in_folder("truth"));
	set_variable(3, DELAY_VARIABLE, delay);
	set_variable(4, PHASE_VARIABLE, rand() % 4 == 0 ? "start" : "work");
	snprintf(path, sizeof(path), "%s/libgpuprof.so", getenv("O"));
	set_variable(5, "LD_PRELOAD", path);
	snprintf(path, sizeof(path), "%s/sim", getenv("O"));
	set_variable(6, "LD_LIBRARY_PATH",
		     getenv("TESTS_ON_GPU") == NULL ? path : value_of("LD_LIBRARY_PATH"));
	set_variable(7, "GPUPROF_STACKS", "none");
	set_variable(8, "GPUSIM_KERNELS_TAKEN", in_folder("truth"));
	child = fork();
	if (child == 0)
		run_workload();
	CHECK(waitpid(child, &status, 0) == child);
	last_child = child;
	return status;
}

static void make_truth(void)
{
	int fd = open(in_folder("truth"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && ftruncate(fd, sizeof(*truth)) == 0);
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(truth != MAP_FAILED);
	close(fd);
}

/* ---- what is left ---- */

static uint32_t worker_of(uint32_t thread)
{
	for (uint32_t i = 0; i < WORKERS; i++)
		if (truth->workers[i].thread == thread)
			return i;
	fail("a record of thread %u", thread);
	return 0;
}

static void note(uint8_t *seen, uint32_t correlation, const char *what)
{
	CHECK(correlation < MOST_NUMBERS);
	if (seen[correlation]++ != 0)
		fail("%s %u twice", what, correlation);
}

static void keep_event(const struct found *found, struct event event)
{
	uint32_t worker = worker_of(found->thread);

	CHECK(event_count[worker] < TURNS * MOST_ROUNDS);
	event.ring = found->ring;
	events[worker][event_count[worker]++] = event;
}

static void take_memory(const struct found *found)
{
	const struct gp_record_memory *memory = &found->record->memory;

	if (memory->op == GP_MEMORY_ALLOC)
		keep_event(found, (struct event){.ticks = memory->call.start_ticks,
						 .value = memory->bytes,
						 .turn = ALLOCATE});
}

static void take_range(const struct found *found)
{
	const struct gp_record_range *range = &found->record->range;

	CHECK(range->op == GP_RANGE_PUSH || range->op == GP_RANGE_POP);
	CHECK(range->text_id < MOST_NUMBERS);
	keep_event(found, (struct event){.ticks = range->ticks,
					 .value = range->text_id,
					 .turn = range->op == GP_RANGE_PUSH ? PUSH : POP});
}

static void take_range_name(const struct found *found)
{
	const struct gp_record_string *name = &found->record->string;
	char text[8];

	CHECK(name->id < MOST_NUMBERS && name->length_bytes < sizeof(text));
	snprintf(text, sizeof(text), "%.*s", (int)name->length_bytes,
		 (const char *)found->record->text);
	texts[name->id] = (uint32_t)atoi(text) + 1;
}

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;
	uint8_t kind = record->record.kind;

	(void)unused;
	if (kind == GP_RECORD_CALL && record->call.api == API_LAUNCH) {
		note(called, record->call.correlation_id, "launch");
		launches[worker_of(found->thread)]++;
	} else if (kind == GP_RECORD_MEMORY) {
		take_memory(found);
	} else if (kind == GP_RECORD_RANGE) {
		take_range(found);
	} else if (kind == GP_RECORD_STRING && record->string.space == GP_STRING_RANGE) {
		take_range_name(found);
	} else if (kind == GP_RECORD_KERNEL) {
		note(ran, record->kernel.correlation_id, "kernel");
		kernels++;
	} else if (kind == GP_RECORD_STRING && record->string.space == GP_STRING_INFO &&
		   record->string.id == GP_INFO_RING_FILE) {
		snprintf(ring_file, sizeof(ring_file), "%.*s", (int)record->string.length_bytes,
			 (const char *)record->text);
	}
	CHECK(kind != GP_RECORD_END);
}

/* One call may have been in between. */
static void check(const char *what, uint64_t found, uint64_t begun, uint64_t done, bool is_all)
{
	if (found > begun || (is_all && found < done))
		fail("%llu %s of %llu begun and %llu done", (unsigned long long)found, what,
		     (unsigned long long)begun, (unsigned long long)done);
}

static int compare_events(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	return (left->ticks > right->ticks) - (left->ticks < right->ticks);
}

/* Another thread may have defined the name of a range: without is_all it may be lost. */
static void check_event(const struct event *event, uint64_t number, bool is_all)
{
	if (event->turn == ALLOCATE && event->value != LEAST_BYTES + number)
		fail("allocation %llu where %llu was next",
		     (unsigned long long)event->value - LEAST_BYTES, (unsigned long long)number);
	if (event->turn != PUSH)
		return;
	if (texts[event->value] != number % RANGE_NAMES + 1 && (texts[event->value] != 0 || is_all))
		fail("range %llu is named %d", (unsigned long long)number,
		     (int)texts[event->value] - 1);
}

/* And none before the first of them is missing. */
static bool are_of_one_ring(uint32_t worker)
{
	const struct event *first = events[worker];

	if (event_count[worker] > 0 && (first->turn != PUSH || texts[first->value] > 1))
		return false;
	for (size_t i = 1; i < event_count[worker]; i++)
		if (events[worker][i].ring != events[worker][0].ring)
			return false;
	return true;
}

/*
 * A thread's events in order of time.  Its first ones may be in the shared ring: if that is lost
 * with the process, there may be a gap.
 */
static void check_events(uint32_t worker, bool is_all)
{
	bool has_no_hole = is_all || are_of_one_ring(worker);
	uint64_t count[TURNS] = {0};

	qsort(events[worker], event_count[worker], sizeof(struct event), compare_events);
	for (size_t i = 0; i < event_count[worker]; i++) {
		const struct event *event = &events[worker][i];

		if (has_no_hole && event->turn != i % TURNS)
			fail("event %zu of %zu is a %d", i, event_count[worker], (int)event->turn);
		if (has_no_hole)
			check_event(event, count[event->turn], is_all);
		count[event->turn]++;
	}
	check("pushes", count[PUSH], truth->workers[worker].pushes_begun,
	      truth->workers[worker].pushes_done, is_all);
	check("pops", count[POP], truth->workers[worker].pops_begun,
	      truth->workers[worker].pops_done, is_all);
	check("allocations", count[ALLOCATE], truth->workers[worker].allocations_begun,
	      truth->workers[worker].allocations_done, is_all);
	all_ranges += count[POP];
}

static void check_counts(bool is_all)
{
	uint64_t begun = 0;

	for (uint32_t i = 0; i < WORKERS; i++) {
		check("launches", launches[i], truth->workers[i].launches_begun,
		      truth->workers[i].launches_done, is_all);
		check_events(i, is_all);
		begun += truth->workers[i].launches_begun;
		all_launches += launches[i];
	}
	check("kernels", kernels, begun, truth->kernels_taken, is_all);
	all_kernels += kernels;
	in_work += begun > 0;
}

/* Killed before its first chunk: the trace does not name the file, and nothing was published. */
static void remove_stray_ring_file(void)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/dev/shm/gpuprof-*-%d-*", (int)last_child);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
}

static void read_remains(const char *place)
{
	bool outlives = strcmp(place, "memory") != 0;

	scan.fn = take;
	if (!scan_trace(&scan, in_folder("t.gpuprof")))
		CHECK(truth->workers[0].launches_done == 0);
	/* else another run on this machine has moved all that it holds into the trace */
	if (ring_file[0] != '\0' && access(ring_file, F_OK) == 0)
		CHECK(scan_ring_file(&scan, ring_file, in_folder("t.gpuprof")));
	if (scan.error != NULL)
		fail("%s", scan.error);
	CHECK(scan.damaged_bytes == 0); /* the end is torn */
	check_counts(outlives);
	remove_stray_ring_file(); /* and the one that was read */
}

static void clear(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(launches, 0, sizeof(launches));
	memset(event_count, 0, sizeof(event_count));
	memset(texts, 0, MOST_NUMBERS * sizeof(*texts));
	memset(called, 0, MOST_NUMBERS);
	memset(ran, 0, MOST_NUMBERS);
	kernels = 0;
	ring_file[0] = '\0';
}

static void kill_and_read(const char *place)
{
	int status, lock;

	case_folder = new_folder();
	clear();
	make_truth();
	status = kill_one(place);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail("the workload ended by itself: %#x", status);
	lock = open(in_folder("t.gpuprof"), O_RDONLY | O_CLOEXEC);
	if (lock >= 0)
		CHECK(flock(lock, LOCK_EX) == 0);
	read_remains(place);
	if (lock >= 0)
		close(lock);
	munmap(truth, sizeof(*truth));
	remove_folder(case_folder);
}

static int kills = STANDARD;

static void every_instant(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		all_launches = all_kernels = all_ranges = in_work = 0;
		for (int k = 0; k < kills; k++)
			kill_and_read(places[i]);
		printf("rings in %s: %d kills, %llu of them at work, %llu launches, %llu kernels "
		       "and %llu ranges read\n",
		       places[i], kills, (unsigned long long)in_work,
		       (unsigned long long)all_launches, (unsigned long long)all_kernels,
		       (unsigned long long)all_ranges);
		CHECK(kills < 50 || in_work > (uint64_t)kills / 4);
	}
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)time(NULL);

	if (argc > 1)
		kills = atoi(argv[1]);
	setlinebuf(stdout); /* ends us in any case */
	called = malloc(MOST_NUMBERS);
	ran = malloc(MOST_NUMBERS);
	texts = malloc(MOST_NUMBERS * sizeof(*texts));
	for (uint32_t i = 0; i < WORKERS; i++)
		events[i] = malloc(TURNS * MOST_ROUNDS * sizeof(*events[i]));
	srand(seed);
	printf("seed %u\n", seed);
	every_instant();
	return 0;
}
