/*
 * _native: ranges at the cost of a few dozen nanoseconds, and tables as Arrow streams.
 *
 * Ranges go to the C API of the recorder (include/gpuprof/gpuprof.h) if its library is loaded, and
 * cost next to nothing if it is not. One file for all versions from 3.8 on: the limited API.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "_native.h"

/* In the stable ABI from 3.10 on, but there before. */
#if Py_LIMITED_API + 0 < 0x030a0000
#undef METH_FASTCALL
#define METH_FASTCALL 0x0080
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
#endif

/* With a GIL, nothing to do; a build without one has them. */
#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION()         }
#endif

/* The recorder's functions; NULL if it is not loaded. They belong to the process. */
static struct {
	int (*push)(const char *message);
	int (*push_values)(const char *message, uint64_t layout, const void *values);
	uint64_t (*layout)(unsigned count, const char *const *names, const char *types);
	int (*pop)(void);
	uint64_t (*start)(const char *message);
	uint64_t (*start_values)(const char *message, uint64_t layout, const void *values);
	void (*end)(uint64_t range);
	void (*mark)(const char *message);
	void (*start_recording)(void);
	void (*stop_recording)(void);
	int (*is_recording)(void);
	const char *(*trace_path)(void);
} recorder;
static bool enabled = true;
static bool has_cpu_times; /* entries tell the processor time of their thread */
static PyObject *layouts;  /* numbers by names and types */
static PyObject *nothing;  /* the range of a program that is not recorded */
static PyTypeObject *once_type;

static bool is_active(void)
{
	return enabled && recorder.push != NULL;
}

/* The text of a name, which lives as long as the name. NULL with an exception if it is none. */
static const char *text_of(PyObject *name)
{
	Py_ssize_t bytes;

	if (!PyUnicode_Check(name)) {
		PyErr_Format(PyExc_TypeError, "the name of a range is a str, not %R",
			     (PyObject *)Py_TYPE(name));
		return NULL;
	}
	return PyUnicode_AsUTF8AndSize(name, &bytes);
}

/* ---- attributes: values that a range carries ---- */

#define MOST_ATTRIBUTES 16 /* GPUPROF_VALUES */

struct attributes {
	uint64_t layout; /* 0: none */
	union {
		int64_t whole;
		double real;
		const char *text;
	} values[MOST_ATTRIBUTES];
	PyObject *texts; /* keeps those */
};

/* A whole number of 64 bits, a real number, or anything else as text. Returns the type; 0: error. */
static char set_value(struct attributes *attributes, unsigned at, PyObject *value)
{
	int too_large = 0;
	PyObject *text;

	if (PyFloat_Check(value)) {
		attributes->values[at].real = PyFloat_AsDouble(value);
		return 'd';
	}
	if (PyLong_Check(value)) {
		attributes->values[at].whole = PyLong_AsLongLongAndOverflow(value, &too_large);
		if (!too_large)
			return 'l';
	}
	text = PyObject_Str(value);
	attributes->values[at].text = text != NULL ? text_of(text) : NULL;
	if (attributes->values[at].text != NULL && PyList_Append(attributes->texts, text) < 0)
		attributes->values[at].text = NULL;
	Py_XDECREF(text);
	return attributes->values[at].text != NULL ? 's' : 0;
}

static PyObject *make_layout(PyObject *names, const char *types)
{
	const char *texts[MOST_ATTRIBUTES];
	Py_ssize_t count = PyTuple_Size(names);

	for (Py_ssize_t i = 0; i < count; i++) {
		texts[i] = text_of(PyTuple_GetItem(names, i));
		if (texts[i] == NULL)
			return NULL;
	}
	return PyLong_FromUnsignedLongLong(
		recorder.layout != NULL ? recorder.layout((unsigned)count, texts, types) : 0);
}

/* The layout of these names and types; the recorder keeps each for good. */
static int find_layout(struct attributes *attributes, PyObject *names, const char *types)
{
	PyObject *key = Py_BuildValue("(Os)", names, types), *known, *made;
	int result = -1;

	if (key == NULL)
		return -1;
	/* one thread at a time, so that a known one is not replaced while another reads it */
	Py_BEGIN_CRITICAL_SECTION(nothing);
	known = PyDict_GetItem(layouts, key);
	made = known == NULL ? make_layout(names, types) : NULL;
	if (known != NULL || (made != NULL && PyDict_SetItem(layouts, key, made) == 0)) {
		attributes->layout = PyLong_AsUnsignedLongLong(known != NULL ? known : made);
		result = 0;
	}
	Py_XDECREF(made);
	Py_END_CRITICAL_SECTION();
	Py_DECREF(key);
	return result;
}

/* From a dict of names and values. The attributes are zeroed before; they are freed in any case. */
static int set_attributes(struct attributes *attributes, PyObject *from)
{
	char types[MOST_ATTRIBUTES + 1] = "";
	PyObject *names, *name, *value;
	Py_ssize_t position = 0;
	unsigned count = 0;
	int result;

	if (PyDict_Size(from) > MOST_ATTRIBUTES) {
		PyErr_Format(PyExc_ValueError, "a range has at most %d attributes",
			     MOST_ATTRIBUTES);
		return -1;
	}
	attributes->texts = PyList_New(0);
	if (attributes->texts == NULL)
		return -1;
	while (PyDict_Next(from, &position, &name, &value)) {
		types[count] = set_value(attributes, count, value);
		if (types[count++] == 0)
			return -1;
	}
	names = PySequence_Tuple(from);
	result = names != NULL ? find_layout(attributes, names, types) : -1;
	Py_XDECREF(names);
	return result;
}

static void free_attributes(struct attributes *attributes)
{
	if (attributes != NULL)
		Py_XDECREF(attributes->texts);
	free(attributes);
}

/* From a dict; NULL with an exception if that fails. */
static struct attributes *make_attributes(PyObject *from)
{
	struct attributes *attributes = calloc(1, sizeof(*attributes));

	if (attributes == NULL) {
		PyErr_NoMemory();
		return NULL;
	}
	if (set_attributes(attributes, from) == 0)
		return attributes;
	free_attributes(attributes);
	return NULL;
}

/* ---- entries ---- */

#define NOT_MEASURED (-1)

static int64_t thread_cpu_ns(void)
{
	struct timespec time;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
		       ? time.tv_sec * INT64_C(1000000000) + time.tv_nsec
		       : NOT_MEASURED;
}

/* attributes may be NULL: none. Returns what pop() takes. */
static int64_t push(const char *text, const struct attributes *attributes)
{
	if (attributes != NULL && attributes->layout != 0)
		recorder.push_values(text, attributes->layout, attributes->values);
	else
		recorder.push(text);
	return has_cpu_times ? thread_cpu_ns() : NOT_MEASURED;
}

/* A range at the end of an entry has its processor time as value; only the package reads it. */
static void tell_cpu_time(int64_t cpu_ns)
{
	static const char *const names[] = {"ns"};
	static _Atomic uint64_t layout; /* the recorder keeps each for good */

	if (layout == 0 && recorder.layout != NULL)
		layout = recorder.layout(1, names, "l");
	if (layout == 0)
		return;
	recorder.push_values("gpuprof.cpu", layout, &cpu_ns);
	recorder.pop();
}

static void pop(int64_t cpu_start_ns)
{
	if (cpu_start_ns != NOT_MEASURED)
		tell_cpu_time(thread_cpu_ns() - cpu_start_ns);
	recorder.pop();
}

/* ---- one entry of a range ---- */

struct once {
	PyObject_HEAD PyObject *name;
	const char *text;
	struct attributes *attributes;
	int64_t cpu_start_ns;
	bool is_open;
};

static PyObject *once_enter(PyObject *self, PyObject *unused)
{
	struct once *range = (struct once *)self;

	(void)unused;
	if (!range->is_open && is_active()) {
		range->cpu_start_ns = push(range->text, range->attributes);
		range->is_open = true;
	}
	Py_INCREF(self);
	return self;
}

static PyObject *once_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct once *range = (struct once *)self;

	(void)arguments;
	(void)count;
	if (range->is_open)
		pop(range->cpu_start_ns);
	range->is_open = false;
	Py_RETURN_NONE;
}

static PyObject *refuse_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	(void)self;
	(void)arguments;
	(void)keywords;
	PyErr_SetString(PyExc_TypeError, "range() is a context manager for one entry: to decorate a"
					 " function, use @gpuprof.Range(name) or @gpuprof.profile");
	return NULL;
}

static void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static void once_free(PyObject *self)
{
	Py_DECREF(((struct once *)self)->name);
	free_attributes(((struct once *)self)->attributes);
	free_object(self);
}

/* gpuprof.timing(name, **keywords); None is the name of a range that is not recorded. */
static PyObject *timing_of(PyObject *name, PyObject *keywords)
{
	PyObject *module = PyImport_ImportModule("gpuprof._timing");
	PyObject *function = module != NULL ? PyObject_GetAttrString(module, "timing") : NULL;
	PyObject *arguments = function != NULL ? PyTuple_Pack(1, name) : NULL;
	PyObject *result = arguments != NULL ? PyObject_Call(function, arguments, keywords) : NULL;

	Py_XDECREF(arguments);
	Py_XDECREF(function);
	Py_XDECREF(module);
	return result;
}

#define TIMING_DOC                                                                                 \
	"timing($self, /, *, wait=0.0)\n--\n\n"                                                    \
	"The times of all ranges of this name so far, as gpuprof.timing()."

static PyObject *once_timing(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	return PyArg_ParseTuple(arguments, ":timing")
		       ? timing_of(((struct once *)self)->name, keywords)
		       : NULL;
}

static PyMethodDef once_methods[] = {
	{"__enter__", once_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void *)once_exit, METH_FASTCALL, NULL},
	{"timing", (PyCFunction)(void *)once_timing, METH_VARARGS | METH_KEYWORDS, TIMING_DOC},
	{0},
};
static PyType_Slot once_slots[] = {
	{Py_tp_dealloc, once_free},
	{Py_tp_methods, once_methods},
	{Py_tp_call, refuse_call},
	{Py_tp_doc, "One entry of a range."},
	{0, NULL},
};
static PyType_Spec once_spec = {"gpuprof._native.RangeOnce", sizeof(struct once), 0,
				Py_TPFLAGS_DEFAULT, once_slots};

/* The attributes of a call with keywords, whose values follow the positional arguments. */
static struct attributes *attributes_of(PyObject *keywords, PyObject *const *values)
{
	struct attributes *attributes = NULL;
	PyObject *from = PyDict_New();
	Py_ssize_t count = PyTuple_Size(keywords), i = 0;

	while (from != NULL && i < count &&
	       PyDict_SetItem(from, PyTuple_GetItem(keywords, i), values[i]) == 0)
		i++;
	if (from != NULL && i == count)
		attributes = make_attributes(from);
	Py_XDECREF(from);
	return attributes;
}

/* The name of a range, the one positional argument of a function. NULL with an exception. */
static const char *name_of(PyObject *const *arguments, Py_ssize_t count, const char *function)
{
	if (count == 1)
		return text_of(arguments[0]);
	PyErr_Format(PyExc_TypeError, "%s() takes a name and attributes, not %zd names", function,
		     count);
	return NULL;
}

/* range(name, **attributes) */
static PyObject *make_range(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
			    PyObject *keywords)
{
	const char *text;
	struct attributes *attributes = NULL;
	struct once *range;

	(void)module;
	text = name_of(arguments, count, "range");
	if (text == NULL)
		return NULL;
	if (!is_active()) {
		Py_INCREF(nothing);
		return nothing;
	}
	if (keywords != NULL && PyTuple_Size(keywords) > 0) {
		attributes = attributes_of(keywords, arguments + count);
		if (attributes == NULL)
			return NULL;
	}
	range = PyObject_New(struct once, once_type);
	if (range == NULL) {
		free_attributes(attributes);
		return NULL;
	}
	Py_INCREF(arguments[0]);
	range->name = arguments[0];
	range->text = text;
	range->attributes = attributes;
	range->is_open = false;
	return (PyObject *)range;
}

/* ---- the range of a program that is not recorded ---- */

static PyObject *nothing_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	Py_INCREF(self);
	return self;
}

static PyObject *nothing_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void)self;
	(void)arguments;
	(void)count;
	Py_RETURN_NONE;
}

static PyObject *nothing_timing(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	(void)self;
	return PyArg_ParseTuple(arguments, ":timing") ? timing_of(Py_None, keywords) : NULL;
}

static PyMethodDef nothing_methods[] = {
	{"__enter__", nothing_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void *)nothing_exit, METH_FASTCALL, NULL},
	{"timing", (PyCFunction)(void *)nothing_timing, METH_VARARGS | METH_KEYWORDS, TIMING_DOC},
	{0},
};
static PyType_Slot nothing_slots[] = {
	{Py_tp_call, refuse_call},
	{Py_tp_doc, "A range that is not recorded."},
	{0, NULL},
};
static PyType_Spec nothing_spec = {"gpuprof._native.NoRange", sizeof(PyObject), 0,
				   Py_TPFLAGS_DEFAULT, nothing_slots};

/* ---- a range that is entered again and again, also by several threads in parallel ---- */

/* The open entries of a thread; the newest comes first. */
struct entry {
	struct entry *next;
	PyObject *range;
	int64_t cpu_start_ns;
};
static __thread struct entry *open_entries;

struct reusable {
	PyObject_HEAD PyObject *name;
	const char *text;
	PyObject *given;               /* attributes as a dict; NULL: none */
	struct attributes *attributes; /* of `given`, once the recorder is there */
};

static PyObject *reusable_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	PyObject *name;
	const char *text;
	struct reusable *range;

	if (!PyArg_ParseTuple(arguments, "O:Range", &name))
		return NULL;
	text = text_of(name);
	if (text == NULL)
		return NULL;
	range = (struct reusable *)PyType_GenericAlloc(type, 0);
	if (range == NULL)
		return NULL;
	Py_INCREF(name);
	range->name = name;
	range->text = text;
	if (keywords != NULL && PyDict_Size(keywords) > 0) {
		range->given = PyDict_Copy(keywords);
		if (range->given == NULL)
			Py_CLEAR(range);
	}
	return (PyObject *)range;
}

static int reusable_init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	(void)self;
	(void)arguments;
	(void)keywords;
	return 0;
}

static int settle_attributes(struct reusable *range)
{
	int result = 0;

	Py_BEGIN_CRITICAL_SECTION((PyObject *)range);
	if (range->given != NULL && range->attributes == NULL) {
		range->attributes = make_attributes(range->given);
		result = range->attributes != NULL ? 0 : -1;
	}
	Py_END_CRITICAL_SECTION();
	return result;
}

static PyObject *reusable_enter(PyObject *self, PyObject *unused)
{
	struct reusable *range = (struct reusable *)self;

	(void)unused;
	if (is_active()) {
		struct entry *entry;

		if (settle_attributes(range) != 0)
			return NULL;
		entry = malloc(sizeof(*entry));
		if (entry == NULL)
			return PyErr_NoMemory();
		Py_INCREF(self);
		*entry = (struct entry){open_entries, self, push(range->text, range->attributes)};
		open_entries = entry;
	}
	Py_INCREF(self);
	return self;
}

static PyObject *reusable_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct entry **at = &open_entries, *entry;

	(void)arguments;
	(void)count;
	while (*at != NULL && (*at)->range != self)
		at = &(*at)->next;
	entry = *at;
	if (entry != NULL) {
		*at = entry->next;
		pop(entry->cpu_start_ns);
		free(entry);
		Py_DECREF(self);
	}
	Py_RETURN_NONE;
}

static void reusable_free(PyObject *self)
{
	struct reusable *range = (struct reusable *)self;

	Py_XDECREF(range->given);
	free_attributes(range->attributes);
	Py_DECREF(range->name);
	free_object(self);
}

static PyObject *reusable_name(PyObject *self, void *unused)
{
	PyObject *name = ((struct reusable *)self)->name;

	(void)unused;
	Py_INCREF(name);
	return name;
}

static PyObject *reusable_attributes(PyObject *self, void *unused)
{
	PyObject *given = ((struct reusable *)self)->given;

	(void)unused;
	return given != NULL ? PyDict_Copy(given) : PyDict_New();
}

static PyMethodDef reusable_methods[] = {
	{"__enter__", reusable_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void *)reusable_exit, METH_FASTCALL, NULL},
	{0},
};
static PyGetSetDef reusable_members[] = {
	{"name", reusable_name, NULL, "The name of the range.", NULL},
	{"attributes", reusable_attributes, NULL, "A copy of the attributes.", NULL},
	{0},
};
static PyType_Slot reusable_slots[] = {
	{Py_tp_new, reusable_new},
	{Py_tp_init, reusable_init},
	{Py_tp_dealloc, reusable_free},
	{Py_tp_methods, reusable_methods},
	{Py_tp_getset, reusable_members},
	{Py_tp_doc, "Range(name, /, **attributes)\n--\n\n"
		    "A range that can be entered any number of times."},
	{0, NULL},
};
static PyType_Spec reusable_spec = {"gpuprof._native.Range", sizeof(struct reusable), 0,
				    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, reusable_slots};

/* ---- functions ---- */

static uint64_t start(const char *text, const struct attributes *attributes)
{
	if (attributes != NULL && attributes->layout != 0 && recorder.start_values != NULL)
		return recorder.start_values(text, attributes->layout, attributes->values);
	return recorder.start(text);
}

/* start_range(name, **attributes) */
static PyObject *start_range(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
			     PyObject *keywords)
{
	struct attributes *attributes = NULL;
	const char *text;
	uint64_t id;

	(void)module;
	text = name_of(arguments, count, "start_range");
	if (text == NULL)
		return NULL;
	if (!is_active())
		return PyLong_FromLong(0);
	if (keywords != NULL && PyTuple_Size(keywords) > 0) {
		attributes = attributes_of(keywords, arguments + count);
		if (attributes == NULL)
			return NULL;
	}
	id = start(text, attributes);
	free_attributes(attributes);
	return PyLong_FromUnsignedLongLong(id);
}

static PyObject *end_range(PyObject *module, PyObject *number)
{
	unsigned long long id = PyLong_AsUnsignedLongLong(number);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	if (id != 0 && recorder.end != NULL)
		recorder.end(id);
	Py_RETURN_NONE;
}

static PyObject *mark(PyObject *module, PyObject *name)
{
	const char *text = text_of(name);

	(void)module;
	if (text == NULL)
		return NULL;
	if (is_active())
		recorder.mark(text);
	Py_RETURN_NONE;
}

static PyObject *set_enabled(PyObject *module, PyObject *on)
{
	int is_on = PyObject_IsTrue(on);

	(void)module;
	if (is_on < 0)
		return NULL;
	enabled = is_on;
	Py_RETURN_NONE;
}

static PyObject *is_enabled(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(enabled);
}

static PyObject *set_cpu_times(PyObject *module, PyObject *on)
{
	int is_on = PyObject_IsTrue(on);

	(void)module;
	if (is_on < 0)
		return NULL;
	has_cpu_times = is_on;
	Py_RETURN_NONE;
}

static PyObject *set_recording(PyObject *module, PyObject *on)
{
	int is_on = PyObject_IsTrue(on);

	(void)module;
	if (is_on < 0)
		return NULL;
	if (recorder.push != NULL)
		(is_on ? recorder.start_recording : recorder.stop_recording)();
	Py_RETURN_NONE;
}

static void find_recorder(void *library)
{
#define FIND(member, name) *(void **)&recorder.member = dlsym(library, "gpuprof_v1_" name)
	FIND(push_values, "range_push_values");
	FIND(layout, "layout");
	FIND(pop, "range_pop");
	FIND(start, "range_start");
	FIND(start_values, "range_start_values");
	FIND(end, "range_end");
	FIND(mark, "mark");
	FIND(start_recording, "start");
	FIND(stop_recording, "stop");
	FIND(is_recording, "is_recording");
	FIND(trace_path, "trace_path");
	FIND(push, "range_push");
#undef FIND
}

/* Use the recorder of a library that dlopen() returned. Returns whether it has one. */
static PyObject *attach(PyObject *module, PyObject *handle)
{
	unsigned long long number = PyLong_AsUnsignedLongLong(handle);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	find_recorder((void *)(uintptr_t)number);
	return PyBool_FromLong(recorder.push != NULL);
}

static PyObject *is_loaded(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(recorder.push != NULL);
}

static PyObject *is_recording(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(recorder.is_recording != NULL && recorder.is_recording());
}

static PyObject *trace_path(PyObject *module, PyObject *unused)
{
	const char *path = recorder.trace_path != NULL ? recorder.trace_path() : "";

	(void)module;
	(void)unused;
	if (*path == '\0')
		Py_RETURN_NONE;
	return PyUnicode_DecodeFSDefault(path);
}

/* Signature and documentation, as Python reads them from one text. */
#define DOC(name, arguments, text) name "($module, " arguments ")\n--\n\n" text

static PyMethodDef functions[] = {
	{"range", (PyCFunction)(void *)make_range, METH_FASTCALL | METH_KEYWORDS,
	 DOC("range", "name, /, **attributes",
	     "A context manager that names a part of the program, for one entry.\n\n"
	     "Attributes are at most 16 numbers and strings. In a program that is not recorded, each\n"
	     "call returns the same object, which does nothing: to keep a range, use Range. Raises\n"
	     "TypeError if the name is no str, ValueError if there are too many attributes.")},
	{"start_range", (PyCFunction)(void *)start_range, METH_FASTCALL | METH_KEYWORDS,
	 DOC("start_range", "name, /, **attributes",
	     "Begin a range that may end on another thread, and overlap others.\n\n"
	     "Returns its number for end_range(); 0 in a program that is not recorded.")},
	{"end_range", end_range, METH_O,
	 DOC("end_range", "id, /", "End the range that start_range() began. 0 does nothing.")},
	{"mark", mark, METH_O, DOC("mark", "name, /", "Name this moment of the program.")},
	{"set_enabled", set_enabled, METH_O, NULL},
	{"is_enabled", is_enabled, METH_NOARGS, NULL},
	{"set_cpu_times", set_cpu_times, METH_O, NULL},
	{"set_recording", set_recording, METH_O, NULL},
	{"attach", attach, METH_O, NULL},
	{"is_loaded", is_loaded, METH_NOARGS, NULL},
	{"is_recording", is_recording, METH_NOARGS, NULL},
	{"trace_path", trace_path, METH_NOARGS, NULL},
	{"arrow_stream", gp_arrow_stream, METH_VARARGS, NULL},
	{0},
};

/* ---- the module ---- */

/*
 * The one object for ranges that are not recorded. Its methods are functions of its type that know
 * it already: a with statement then makes no bound methods.
 */
static PyObject *make_nothing(void)
{
	PyObject *type = PyType_FromSpec(&nothing_spec);
	PyObject *object = type ? PyObject_CallObject(type, NULL) : NULL;

	for (int i = 0; nothing_methods[i].ml_name != NULL && object != NULL; i++) {
		PyObject *method = PyCFunction_NewEx(&nothing_methods[i], object, NULL);

		if (method == NULL ||
		    PyObject_SetAttrString(type, nothing_methods[i].ml_name, method) < 0)
			Py_CLEAR(object);
		Py_XDECREF(method);
	}
	Py_XDECREF(type);
	return object;
}

/* The objects of the first interpreter serve the others, too. */
static int fill(PyObject *module)
{
	PyObject *range_type = PyType_FromSpec(&reusable_spec);

	if (nothing == NULL) {
		once_type = (PyTypeObject *)PyType_FromSpec(&once_spec);
		layouts = PyDict_New();
		nothing = once_type != NULL && layouts != NULL ? make_nothing() : NULL;
		find_recorder(RTLD_DEFAULT);
	}
	if (range_type == NULL || nothing == NULL)
		return -1;
	return PyModule_AddObject(module, "Range", range_type);
}

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, (void *)fill},
#ifdef Py_GIL_DISABLED
	{Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
	{0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
					"gpuprof._native",
					"Ranges and Arrow streams.",
					0,
					functions,
					slots,
					NULL,
					NULL,
					NULL};

PyMODINIT_FUNC PyInit__native(void)
{
	return PyModuleDef_Init(&definition);
}
