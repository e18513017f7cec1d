#include "report/attach/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/base/monotonic.h"
#include "report/doctor/ask.h"

#define NS_PER_S UINT64_C(1000000000)
#define POLL_NS  5000000
/* a request that was taken waits for the GPU's last records, at most so long */
#define ANSWER_S 60
#define ASK_S    30

/* Runs in an interpreter of the process's version. */
static const char send_script[] =
	"import sys\n"
	"try:\n"
	"    sys.remote_exec(int(sys.argv[1]), sys.argv[2])\n"
	"except BaseException as error:\n"
	"    print(type(error).__name__, getattr(error, 'errno', None) or 0, error)\n";

/*
 * Runs in the process, in its main thread, in a namespace of its own; a last line calls run().  A
 * detach waits for the GPU, so it has a thread.  No exception leaves it; a Ctrl-C for the program
 * comes again after it.
 */
static const char script[] =
	"def run(folder):\n"
	"    import os\n"
	"\n"
	"    def answer(status, path=b'', text=b''):\n"
	"        with open(folder + '/answer.new', 'wb') as file:\n"
	"            file.write(b'%d\\n%s\\n%s' % (status, path, text))\n"
	"        os.rename(folder + '/answer.new', folder + '/answer')\n"
	"\n"
	"    def remove():\n"
	"        for name in os.listdir(folder):\n"
	"            os.unlink(folder + '/' + name)\n"
	"        os.rmdir(folder)\n"
	"\n"
	"    def obstacle(ctypes, library):\n"
	"        with open('/proc/self/maps', encoding='utf-8', errors='surrogateescape') as file:\n"
	"            mapped = {line.rstrip().partition('/')[2] for line in file}\n"
	"        other = [path for path in mapped if os.path.basename(path) == 'libgpuprof.so'\n"
	"                 and not os.path.samefile('/' + path, library)]\n"
	"        if other:\n"
	"            return 3, b'', os.fsencode('/' + other[0])\n"
	"        if os.environ.get('CUDA_INJECTION64_PATH') and 'libgpuprof.so' not in \\\n"
	"                os.environ['CUDA_INJECTION64_PATH']:\n"
	"            return 2, b'', os.fsencode(os.environ['CUDA_INJECTION64_PATH'])\n"
	"        if not any(os.path.basename(path).startswith('libcuda.so') for path in mapped) or \\\n"
	"                ctypes.CDLL('libcuda.so.1').cuDeviceGetCount(ctypes.byref(ctypes.c_int())):\n"
	"            return 1,\n"
	"        return None\n"
	"\n"
	"    def perform(command, library, options):\n"
	"        import ctypes\n"
	"        import sys\n"
	"\n"
	"        class Answer(ctypes.Structure):\n"
	"            _fields_ = [('text', ctypes.c_char * 4096), ('path', ctypes.c_char * 4096)]\n"
	"\n"
	"        def call(function, *arguments):\n"
	"            result = Answer()\n"
	"            status = function(*arguments, ctypes.byref(result))\n"
	"            answer(status, result.path, result.text)\n"
	"\n"
	"        found = obstacle(ctypes, library)\n"
	"        if found:\n"
	"            return answer(*found)\n"
	"        recorder = ctypes.CDLL(os.fsdecode(library))\n"
	"        if command == b'detach':\n"
	"            import threading\n"
	"            threading.Thread(target=quietly, args=(call, recorder.gpuprof_v1_detach),\n"
	"                             daemon=True).start()\n"
	"            return None\n"
	"        ranges = sys.modules.get('gpuprof._native')\n"
	"        if ranges:\n"
	"            ranges.attach(recorder._handle)\n"
	"        return call(recorder.gpuprof_v1_attach,\n"
	"                    (ctypes.c_char_p * (len(options) + 1))(*options, None))\n"
	"\n"
	"    def quietly(function, *arguments):\n"
	"        try:\n"
	"            function(*arguments)\n"
	"        except KeyboardInterrupt:\n"
	"            import _thread\n"
	"            _thread.interrupt_main()\n"
	"        except BaseException as error:\n"
	"            try:\n"
	"                answer(4, b'', f'{type(error).__name__}: {error}'.encode())\n"
	"            except OSError:\n"
	"                pass\n"
	"\n"
	"    try:\n"
	"        os.rename(folder + '/request', folder + '/taken')\n"
	"    except OSError:\n"
	"        quietly(remove)\n"
	"        return\n"
	"    with open(folder + '/taken', 'rb') as file:\n"
	"        command, library, *options = file.read().split(b'\\0')[:-1]\n"
	"    quietly(perform, command, library, options)\n"
	"\n"
	"\n";

struct folder {
	char path[PATH_MAX / 2];
};

static const char *const names[] = {"script.py", "request",    "taken",
				    "answer",    "answer.new", "withdrawn"};

static void path_in(char path[PATH_MAX], const struct folder *folder, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
}

static void remove_folder(const struct folder *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(path, folder, names[i]);
		unlink(path);
	}
	rmdir(folder->path);
}

/* A new file of mode 0600. */
static FILE *create(const struct folder *folder, const char *name)
{
	char path[PATH_MAX];
	int fd;

	path_in(path, folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static bool write_script(const struct folder *folder)
{
	char hex[2 * sizeof(folder->path)];
	FILE *file = create(folder, "script.py");

	if (file == NULL)
		return false;
	for (size_t i = 0; folder->path[i] != '\0'; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)folder->path[i]);
	fputs(script, file);
	fprintf(file, "run(bytes.fromhex('%s').decode('utf-8', 'surrogateescape'))\n", hex);
	return fclose(file) == 0;
}

static bool write_request(const struct folder *folder, const char *const *words)
{
	FILE *file = create(folder, "request");

	if (file == NULL)
		return false;
	for (; *words != NULL; words++)
		fwrite(*words, 1, strlen(*words) + 1, file);
	return fclose(file) == 0;
}

/* Only this user can enter it. */
static bool make_folder(struct folder *folder, const char *const *words)
{
	const char *place = getenv("TMPDIR");

	if (place == NULL || place[0] != '/')
		place = "/tmp";
	if (snprintf(folder->path, sizeof(folder->path), "%s/gpuprof-attach-XXXXXX", place) >=
	    (int)sizeof(folder->path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (mkdtemp(folder->path) == NULL)
		return false;
	if (write_script(folder) && write_request(folder, words))
		return true;
	remove_folder(folder);
	return false;
}

extern char **environ;

/* Asks an interpreter to pass the script to the process; refusal gets what Python says. */
static enum gp_request_end ask_python(const struct gp_python_process *process,
				      const struct folder *folder, char *refusal,
				      size_t refusal_bytes)
{
	static struct gp_doctor_answer said;
	char pid[16], path[PATH_MAX];
	char *arguments[] = {"/usr/bin/env",
			     (char *)process->interpreter,
			     "-I",
			     "-S",
			     "-c",
			     (char *)send_script,
			     pid,
			     path,
			     NULL};
	const struct gp_question question = {
		.arguments = arguments, .environment = environ, .limit_s = ASK_S};

	snprintf(pid, sizeof(pid), "%d", (int)process->pid);
	path_in(path, folder, "script.py");
	if (gp_ask(&question, &said) != 0 || !gp_answer_is_good(&said)) {
		snprintf(refusal, refusal_bytes, "%.500s", said.errors);
		return GP_REQUEST_NO_PYTHON;
	}
	snprintf(refusal, refusal_bytes, "%.500s", said.out);
	return refusal[0] == '\0' ? GP_REQUEST_ANSWERED : GP_REQUEST_REFUSED;
}

static bool exists(const struct folder *folder, const char *name)
{
	char path[PATH_MAX];

	path_in(path, folder, name);
	return access(path, F_OK) == 0;
}

/* True: the process cannot take it any more. */
static bool withdraw(const struct folder *folder)
{
	char from[PATH_MAX], to[PATH_MAX];

	path_in(from, folder, "request");
	path_in(to, folder, "withdrawn");
	return rename(from, to) == 0;
}

static enum gp_request_end await_answer(const struct gp_python_process *process,
					const struct folder *folder, unsigned limit_s)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint64_t start_ns = gp_monotonic_ns();
	bool is_late = false;

	while (!exists(folder, "answer")) {
		uint64_t passed_ns = gp_monotonic_ns() - start_ns;

		if (!gp_python_process_lives(process))
			return exists(folder, "answer") ? GP_REQUEST_ANSWERED : GP_REQUEST_ENDED;
		if (!is_late && (gp_ask_signal() != 0 || passed_ns > limit_s * NS_PER_S)) {
			if (withdraw(folder))
				return GP_REQUEST_WITHDRAWN;
			is_late = true;
		}
		if (is_late && passed_ns > (limit_s + ANSWER_S) * NS_PER_S)
			return GP_REQUEST_UNANSWERED;
		nanosleep(&pause, NULL);
	}
	return GP_REQUEST_ANSWERED;
}

static void read_answer(const struct folder *folder, struct gp_request_answer *answer)
{
	char path[PATH_MAX], line[PATH_MAX] = "";
	FILE *file;
	int fd;

	path_in(path, folder, "answer");
	/* a pipe would stop this command: without a wait it is an empty answer */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (file == NULL)
		return;
	if (fgets(line, sizeof(line), file))
		answer->status = atoi(line);
	if (fgets(answer->path, sizeof(answer->path), file))
		answer->path[strcspn(answer->path, "\n")] = '\0';
	answer->text[fread(answer->text, 1, sizeof(answer->text) - 1, file)] = '\0';
	fclose(file);
}

enum gp_request_end gp_request_send(const struct gp_python_process *process,
				    const char *const *words, unsigned limit_s,
				    struct gp_request_answer *answer)
{
	struct folder folder;
	char path[PATH_MAX];
	enum gp_request_end end = GP_REQUEST_UNSEEN;

	*answer = (struct gp_request_answer){.status = GP_REQUEST_FAILED};
	if (!make_folder(&folder, words))
		return GP_REQUEST_NO_FOLDER;
	gp_ask_hold_signals();
	path_in(path, &folder, "script.py");
	if (gp_python_process_sees(process, path))
		end = ask_python(process, &folder, answer->text, sizeof(answer->text));
	if (end == GP_REQUEST_ANSWERED)
		end = await_answer(process, &folder, limit_s);
	if (end == GP_REQUEST_ANSWERED)
		read_answer(&folder, answer);
	/* a process that comes to it later removes the folder itself */
	if (end != GP_REQUEST_WITHDRAWN && end != GP_REQUEST_UNANSWERED)
		remove_folder(&folder);
	return end;
}
