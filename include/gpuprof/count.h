/* count: how many elements an array has. */
#ifndef GPUPROF_COUNT_H
#define GPUPROF_COUNT_H

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
