/* Shared by the parts of cover: the totals that it prints, and code for several sections. */
#ifndef GPUPROF_TESTS_PROGRAMS_COVER_H
#define GPUPROF_TESTS_PROGRAMS_COVER_H

#include "check.h"

#include <map>
#include <string>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static std::map<std::string, unsigned long long> totals;
static cudaStream_t stream; /* the stream of the current section: blocking, created by main */

static void add(const std::string &name, unsigned long long count)
{
	totals[name] += count;
}

static void skip(const char *name, const char *reason)
{
	printf("skipped %s: %s\n", name, reason);
}

static void wait_for(cudaStream_t which)
{
	CHECK(cudaStreamSynchronize(which));
	add("sync.stream", 1);
}

static void launched(const char *kernel, int count)
{
	CHECK(cudaGetLastError());
	add(std::string("kernel.") + kernel, count);
	add("launches", count);
}

static void copied(const char *kind, size_t bytes, int count)
{
	std::string name = std::string("copy.") + kind + ".bytes";

	add(name, bytes * count);
	add(name + "." + std::to_string(bytes), count);
}

static void set(size_t bytes, int count)
{
	add("sets", count);
	add("set.bytes", bytes * count);
}

/* Counts an allocation, and its free if `freed`. */
static void allocated(const char *kind, size_t bytes, bool freed = true)
{
	std::string name = std::string("memory.") + kind;

	add(name + ".allocations", 1);
	add(name + ".allocated.bytes", bytes);
	add(name + ".freed.bytes", freed ? bytes : 0);
}

static char *device_memory(size_t bytes)
{
	char *p;

	CHECK(cudaMalloc((void **)&p, bytes));
	allocated("device", bytes);
	return p;
}

static char *pinned_memory(size_t bytes)
{
	char *p;

	CHECK(cudaMallocHost((void **)&p, bytes));
	allocated("pinned", bytes);
	return p;
}

static int attribute(cudaDeviceAttr which)
{
	int value = 0, device;

	CHECK(cudaGetDevice(&device));
	CHECK(cudaDeviceGetAttribute(&value, which, device));
	return value;
}

#endif
