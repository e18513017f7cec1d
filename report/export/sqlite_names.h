/* sqlite_names: what the numbers in an nsys-like database mean: its tables ENUM_..., where they are of CUDA and NVTX. */
#ifndef REPORT_EXPORT_SQLITE_NAMES_H
#define REPORT_EXPORT_SQLITE_NAMES_H

struct gp_sqlite_name {
	int id;
	const char *name, *label;
};

struct gp_sqlite_names {
	const char *table;
	const char *prefix; /* of all names */
	const struct gp_sqlite_name *names;
	int count;
};

extern const struct gp_sqlite_names gp_sqlite_all_names[];
extern const int gp_sqlite_name_tables;

/* Of ENUM_NSYS_EVENT_TYPE. */
enum {
	GP_SQLITE_NVTX_CATEGORY = 33,
	GP_SQLITE_NVTX_MARK = 34,
	GP_SQLITE_NVTX_PUSH_POP = 59,
	GP_SQLITE_NVTX_START_END = 60,
	GP_SQLITE_NVTX_DOMAIN = 75,
};

/* Of ENUM_NSYS_EVENT_CLASS. */
enum { GP_SQLITE_CLASS_RUNTIME = 0, GP_SQLITE_CLASS_DRIVER = 1 };

/* Of ENUM_CUDA_MEM_KIND. */
enum {
	GP_SQLITE_PINNED = 1,
	GP_SQLITE_DEVICE = 2,
	GP_SQLITE_ARRAY = 3,
	GP_SQLITE_MANAGED = 4,
	GP_SQLITE_UNKNOWN = 7,
};

/* Of ENUM_CUDA_MEMCPY_OPER: unified memory's come after CUPTI's. */
enum { GP_SQLITE_UNIFIED_HTOD = 11, GP_SQLITE_UNIFIED_DTOH = 12, GP_SQLITE_UNIFIED_DTOD = 13 };

/* Of ENUM_DIAGNOSTIC_SEVERITY_LEVEL, ENUM_DIAGNOSTIC_SOURCE_TYPE and ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE. */
enum { GP_SQLITE_WARNING = 2, GP_SQLITE_SOURCE_ANALYSIS = 3, GP_SQLITE_CLOCK_TARGET = 1 };

#endif
