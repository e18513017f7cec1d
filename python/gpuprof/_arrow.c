/*
 * _arrow: tables as streams of Apache Arrow's C data interface
 * (https://arrow.apache.org/docs/format/CStreamInterface.html).
 *
 * A stream has one batch, and copies no values. Consumers may release what they got in any order
 * and on any thread: each part holds a reference to the table.
 */
#define PY_SSIZE_T_CLEAN
#include "_native.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- as the interface defines them ---- */

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

/* ---- the table ---- */

struct column {
	char *name, *format;
	int64_t rows, nulls;
	const void *buffers[3]; /* valid rows, values or offsets, bytes of texts */
	int buffer_count;
	struct column *texts; /* NULL = none */
};

struct table {
	_Atomic int references;
	PyObject *owner;
	int64_t rows;
	Py_ssize_t column_count;
	struct column *columns;
};

static struct table *keep(struct table *table)
{
	table->references++;
	return table;
}

static void free_columns(struct table *table)
{
	for (Py_ssize_t i = 0; table->columns && i < table->column_count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].format);
		free(table->columns[i].texts);
	}
	free(table->columns);
}

/* On any thread. The owner of a table that outlives the interpreter stays. */
static void drop(struct table *table)
{
	if (--table->references > 0)
		return;
	if (Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		Py_DECREF(table->owner);
		PyGILState_Release(state);
	}
	free_columns(table);
	free(table);
}

/* ---- the schema ---- */

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	if (schema->dictionary) {
		if (schema->dictionary->release)
			schema->dictionary->release(schema->dictionary);
		free(schema->dictionary);
	}
	drop(schema->private_data);
	schema->release = NULL;
}

static int fill_column_schema(struct ArrowSchema *schema, const struct column *column,
			      struct table *table)
{
	int error = 0;

	*schema = (struct ArrowSchema){
		.format = column->format,
		.name = column->name,
		.flags = column->nulls > 0 ? ARROW_FLAG_NULLABLE : 0,
		.release = release_schema,
		.private_data = keep(table),
	};
	if (column->texts) {
		schema->dictionary = calloc(1, sizeof(*schema->dictionary));
		error = schema->dictionary
				? fill_column_schema(schema->dictionary, column->texts, table)
				: ENOMEM;
	}
	if (error)
		release_schema(schema);
	return error;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
	struct table *table = stream->private_data;

	*schema = (struct ArrowSchema){
		.format = "+s",
		.name = "",
		.release = release_schema,
		.private_data = keep(table),
		.children = calloc((size_t)table->column_count + 1, sizeof(*schema->children)),
	};
	while (schema->children && schema->n_children < table->column_count) {
		const struct column *column = &table->columns[schema->n_children];
		struct ArrowSchema *child = calloc(1, sizeof(*child));

		if (!child || fill_column_schema(child, column, table)) {
			free(child);
			break;
		}
		schema->children[schema->n_children++] = child;
	}
	if (schema->children && schema->n_children == table->column_count)
		return 0;
	release_schema(schema);
	return ENOMEM;
}

/* ---- the batch ---- */

static void release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	if (array->dictionary) {
		if (array->dictionary->release)
			array->dictionary->release(array->dictionary);
		free(array->dictionary);
	}
	free(array->buffers);
	drop(array->private_data);
	array->release = NULL;
}

static int fill_column(struct ArrowArray *array, const struct column *column, struct table *table)
{
	size_t bytes = (size_t)column->buffer_count * sizeof(*array->buffers);
	int error;

	*array = (struct ArrowArray){
		.length = column->rows,
		.null_count = column->nulls,
		.n_buffers = column->buffer_count,
		.buffers = malloc(bytes),
		.release = release_array,
		.private_data = keep(table),
	};
	error = array->buffers ? 0 : ENOMEM;
	if (!error)
		memcpy(array->buffers, column->buffers, bytes);
	if (!error && column->texts) {
		array->dictionary = calloc(1, sizeof(*array->dictionary));
		error = array->dictionary ? fill_column(array->dictionary, column->texts, table)
					  : ENOMEM;
	}
	if (error)
		release_array(array);
	return error;
}

static int fill_batch(struct ArrowArray *array, struct table *table)
{
	*array = (struct ArrowArray){
		.length = table->rows,
		.n_buffers = 1,
		.buffers = calloc(1, sizeof(*array->buffers)),
		.children = calloc((size_t)table->column_count + 1, sizeof(*array->children)),
		.release = release_array,
		.private_data = keep(table),
	};
	while (array->children && array->n_children < table->column_count) {
		struct ArrowArray *child = calloc(1, sizeof(*child));

		if (!child || fill_column(child, &table->columns[array->n_children], table)) {
			free(child);
			break;
		}
		array->children[array->n_children++] = child;
	}
	if (array->buffers && array->children && array->n_children == table->column_count)
		return 0;
	release_array(array);
	return ENOMEM;
}

/* ---- the stream; get_next is set to get_nothing after the batch ---- */

static int get_nothing(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	(void)stream;
	*array = (struct ArrowArray){0};
	return 0;
}

static int get_batch(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	stream->get_next = get_nothing;
	return fill_batch(array, stream->private_data);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "no memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	drop(stream->private_data);
	stream->release = NULL;
}

static void free_capsule(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

/* ---- from Python ---- */

static int read_texts(struct column *column, PyObject *texts)
{
	unsigned long long offsets, bytes;
	long long count;

	if (texts == Py_None)
		return 0;
	if (!PyArg_ParseTuple(texts, "LKK", &count, &offsets, &bytes))
		return -1;
	column->texts = calloc(1, sizeof(*column->texts));
	if (!column->texts) {
		PyErr_NoMemory();
		return -1;
	}
	*column->texts = (struct column){
		.name = "",
		.format = "u",
		.rows = count,
		.buffers = {NULL, (void *)(uintptr_t)offsets, (void *)(uintptr_t)bytes},
		.buffer_count = 3,
	};
	return 0;
}

static int read_column(struct column *column, PyObject *tuple)
{
	const char *name, *format;
	unsigned long long valid, values;
	long long nulls;
	PyObject *texts;

	if (!PyArg_ParseTuple(tuple, "ssLKKO", &name, &format, &nulls, &valid, &values, &texts))
		return -1;
	column->name = strdup(name);
	column->format = strdup(format);
	column->nulls = nulls;
	column->buffers[0] = (void *)(uintptr_t)valid;
	column->buffers[1] = (void *)(uintptr_t)values;
	column->buffer_count = 2;
	if (!column->name || !column->format) {
		PyErr_NoMemory();
		return -1;
	}
	return read_texts(column, texts);
}

/* With one reference. */
static struct table *read_table(PyObject *owner, long long rows, PyObject *columns)
{
	Py_ssize_t count = PyList_Size(columns);
	struct table *table = count >= 0 ? calloc(1, sizeof(*table)) : NULL;
	int error = 0;

	if (!table)
		return count >= 0 ? (struct table *)PyErr_NoMemory() : NULL;
	Py_INCREF(owner);
	*table = (struct table){
		.references = 1,
		.owner = owner,
		.rows = rows,
		.column_count = count,
		.columns = calloc((size_t)count + 1, sizeof(*table->columns)),
	};
	if (!table->columns) {
		PyErr_NoMemory();
		error = -1;
	}
	for (Py_ssize_t i = 0; i < count && !error; i++) {
		error = read_column(&table->columns[i], PyList_GetItem(columns, i));
		table->columns[i].rows = rows;
	}
	if (!error)
		return table;
	drop(table);
	return NULL;
}

PyObject *gp_arrow_stream(PyObject *module, PyObject *arguments)
{
	PyObject *owner, *columns, *capsule;
	struct ArrowArrayStream *stream;
	struct table *table;
	long long rows;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "OLO:arrow_stream", &owner, &rows, &columns))
		return NULL;
	table = read_table(owner, rows, columns);
	if (!table)
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (!stream) {
		drop(table);
		return PyErr_NoMemory();
	}
	*stream = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_batch,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = table,
	};
	capsule = PyCapsule_New(stream, "arrow_array_stream", free_capsule);
	if (!capsule) {
		release_stream(stream);
		free(stream);
	}
	return capsule;
}
