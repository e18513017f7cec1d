/* sqlite_names: the tables ENUM_... of nsys that give names to numbers of CUDA and NVTX. */
#ifndef REPORT_EXPORT_SQLITE_SQLITE_NAMES_H
#define REPORT_EXPORT_SQLITE_SQLITE_NAMES_H

struct gp_sqlite_name {
	int id;
	const char *name, *label;
};

struct gp_sqlite_names {
	const char *table;
	const char *prefix; /* of all its names */
	const struct gp_sqlite_name *names;
	int count;
};

extern const struct gp_sqlite_names gp_sqlite_all_names[];
extern const int gp_sqlite_name_tables;

/* Values of ENUM_NSYS_EVENT_CLASS. */
enum { GP_SQLITE_CLASS_RUNTIME = 0, GP_SQLITE_CLASS_DRIVER = 1 };

/*
 * Values of ENUM_DIAGNOSTIC_SEVERITY_LEVEL, ENUM_DIAGNOSTIC_SOURCE_TYPE and
 * ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE.
 */
enum { GP_SQLITE_WARNING = 2, GP_SQLITE_SOURCE_ANALYSIS = 3, GP_SQLITE_CLOCK_TARGET = 1 };

#endif
