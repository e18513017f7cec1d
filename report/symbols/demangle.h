/*
 * demangle: C++ and Rust names as their source has them, those of static kernels among them, before
 * which nvcc puts the file's.
 */
#ifndef REPORT_SYMBOLS_DEMANGLE_H
#define REPORT_SYMBOLS_DEMANGLE_H

/* Longest result; a mangled name of a few bytes can stand for gigabytes. */
#define GP_DEMANGLED_MAX_BYTES 65536

/* The demangled name, to be freed; NULL if it is not a mangled name, is too long, or there is no
 * memory. */
char *gp_demangle(const char *mangled);

/*
 * The file that a static kernel of nvcc's is in, as its name has it, in which all but letters and
 * digits is "_": the last of these is taken for the dot, "jacobi.cu".  To be freed; NULL: it is
 * none, or there is no memory.
 */
char *gp_demangle_file(const char *mangled);

/*
 * The mangled name as every build has it, to be freed: without the numbers that nvcc makes anew
 * each time a file was changed, for static kernels
 * ("__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849_...") and unnamed namespaces
 * ("47_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_32677"); the file's name stays.  NULL: there is no
 * memory.
 */
char *gp_demangle_stable(const char *mangled);

/*
 * What a mangled C++ name begins with, for one that gp_demangle() gives up on, as newer compilers
 * make them: namespaces, class or function, to its first template arguments: "a::b<...>", and
 * "a::b<...>::..." of something inside.  To be freed; NULL as above.
 */
char *gp_demangle_beginning(const char *mangled);

#endif
