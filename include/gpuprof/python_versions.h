/*
 * python_versions: the CPython versions whose call stacks are supported, 3.OLDEST to 3.NEWEST
 * (stacks/python_layout.c).
 */
#ifndef GPUPROF_PYTHON_VERSIONS_H
#define GPUPROF_PYTHON_VERSIONS_H

#define GP_PYTHON_OLDEST_MINOR 8
#define GP_PYTHON_NEWEST_MINOR 15

#endif
