/*
 * demangle: demangles C++ and Rust names, also those of static kernels, which begin with a file
 * name of nvcc.
 */
#ifndef REPORT_SYMBOLS_DEMANGLE_H
#define REPORT_SYMBOLS_DEMANGLE_H

/* Longest result: a mangled name of a few bytes can stand for gigabytes. */
#define GP_DEMANGLED_MAX_BYTES 65536

/*
 * The demangled name. Free it. Returns NULL if the name is not mangled or too long.
 */
char *gp_demangle(const char *mangled);

/*
 * The file of a static kernel by its name. nvcc replaces all but letters and digits by "_"; the
 * last one is taken as the dot: "jacobi.cu". Free it. Returns NULL if the name has no file.
 */
char *gp_demangle_file(const char *mangled);

/*
 * The mangled name without the numbers that change with every build of nvcc, for static kernels
 * ("__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849_...") and unnamed namespaces
 * ("47_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_32677"); the file name stays. Free it.
 */
char *gp_demangle_stable(const char *mangled);

/*
 * The beginning of a mangled C++ name that gp_demangle() cannot demangle, such as names of newer
 * compilers: namespaces, class or function up to the first template arguments: "a::b<...>", or
 * "a::b<...>::..." for a member. Free it. Returns NULL as gp_demangle().
 */
char *gp_demangle_beginning(const char *mangled);

#endif
