/*
 * Kills a profiled program at random instants and reads what is left: of each thread a prefix of what it did; with rings
 * that outlive the process all that it had done, to the last call, and each GPU record that was taken from CUPTI (which the simulated one counts);
 * nothing twice, and no GPU record of what was never launched.
 *
 *	torture [KILLS [SEED]]		so many in each placement of the rings; O names the build folder
 *
 * Needs nothing but libc: it runs on machines with a GPU that have no more.
 * On the simulated device, or, where TESTS_ON_GPU is set, on the real one.
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
static uint64_t launches[WORKERS], allocations[WORKERS], pushes[WORKERS], pops[WORKERS], kernels;
static uint64_t all_launches, all_kernels, all_ranges, in_work;
static uint32_t *pushed[WORKERS]; /* the text of each range */
static uint32_t *texts;           /* by id: the number that it is, from 1 on; 0: not known */
static uint8_t *called, *ran;     /* by correlation id */

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

static void take_memory(const struct found *found)
{
	const struct gp_record_memory *memory = &found->record->memory;
	uint32_t worker;

	if (memory->op != GP_MEMORY_ALLOC)
		return;
	worker = worker_of(found->thread);
	if (memory->bytes != LEAST_BYTES + allocations[worker])
		fail("allocation %llu where %llu was next",
		     (unsigned long long)memory->bytes - LEAST_BYTES,
		     (unsigned long long)allocations[worker]);
	allocations[worker]++;
}

static void take_range(const struct found *found)
{
	const struct gp_record_range *range = &found->record->range;
	uint32_t worker = worker_of(found->thread);

	if (range->op == GP_RANGE_PUSH) {
		CHECK(pushes[worker] < MOST_ROUNDS && range->text_id < MOST_NUMBERS);
		pushed[worker][pushes[worker]++] = range->text_id;
	} else {
		CHECK(range->op == GP_RANGE_POP);
		pops[worker]++;
	}
	CHECK(pushes[worker] - pops[worker] <= 1);
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

/* A thread's ranges come in order, each with its name. */
static void check_ranges(uint32_t worker, bool is_all)
{
	check("pushes", pushes[worker], truth->workers[worker].pushes_begun,
	      truth->workers[worker].pushes_done, is_all);
	check("pops", pops[worker], truth->workers[worker].pops_begun,
	      truth->workers[worker].pops_done, is_all);
	for (uint64_t i = 0; i < pushes[worker]; i++) {
		uint32_t text = texts[pushed[worker][i]];

		if (text != i % RANGE_NAMES + 1 && (text != 0 || is_all))
			fail("range %llu of %llu is named %d", (unsigned long long)i,
			     (unsigned long long)pushes[worker], (int)text - 1);
	}
	all_ranges += pops[worker];
}

static void check_counts(bool is_all)
{
	uint64_t begun = 0;

	for (uint32_t i = 0; i < WORKERS; i++) {
		check("launches", launches[i], truth->workers[i].launches_begun,
		      truth->workers[i].launches_done, is_all);
		check("allocations", allocations[i], truth->workers[i].allocations_begun,
		      truth->workers[i].allocations_done, is_all);
		check_ranges(i, is_all);
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
	CHECK(scan.damaged_bytes == 0); /* what is torn is the end */
	check_counts(outlives);
	remove_stray_ring_file(); /* and the one that was read */
}

static void clear(void)
{
	memset(&scan, 0, sizeof(scan));
	memset(launches, 0, sizeof(launches));
	memset(allocations, 0, sizeof(allocations));
	memset(pushes, 0, sizeof(pushes));
	memset(pops, 0, sizeof(pops));
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
	setlinebuf(stdout); /* whatever ends us */
	called = malloc(MOST_NUMBERS);
	ran = malloc(MOST_NUMBERS);
	texts = malloc(MOST_NUMBERS * sizeof(*texts));
	for (uint32_t i = 0; i < WORKERS; i++)
		pushed[i] = malloc(MOST_ROUNDS * sizeof(*pushed[i]));
	srand(seed);
	printf("seed %u\n", seed);
	every_instant();
	return 0;
}
