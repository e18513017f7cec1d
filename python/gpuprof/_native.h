/* _native: what the files of the extension module share. */
#ifndef GPUPROF_PYTHON_NATIVE_H
#define GPUPROF_PYTHON_NATIVE_H

#include <Python.h>

/*
 * arrow_stream(owner, rows, columns) -> capsule "arrow_array_stream"
 *
 * A column is (name, format, nulls, valid, values, texts): the format of Arrow ("l", "i", "g"); the
 * number of empty rows; the addresses of the bitmap of valid rows (0: all are valid) and of the
 * values. With texts = (count, offsets, bytes), the values are numbers of texts in a dictionary.
 * The owner keeps the memory behind the addresses until the last consumer has released it.
 */
PyObject *gp_arrow_stream(PyObject *module, PyObject *arguments);

#endif
