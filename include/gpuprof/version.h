/* version: the version of gpuprof, for both sides. */
#ifndef GPUPROF_VERSION_H
#define GPUPROF_VERSION_H

#define GP_VERSION "0.1.0"

#endif
