# The simulated device: libcuda.so.1, libcudart.so.13 and libcupti.so.13 in $(O)/sim, on a common
# libgpusim.so; sample programs in $(O)/programs; tests in $(O)/tests/sim. Part of the root Makefile,
# and usable alone: make -f tests/sim/sim.mk

O ?= build
CC ?= cc
CUDA_HOME ?= /usr/local/cuda
NVCC ?= $(CUDA_HOME)/bin/nvcc

SIM := $(O)/sim
SIM_GEN := $(SIM)/gen
SIM_CFLAGS := -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -Wall -Wextra -Werror -I. -isystem $(CUDA_HOME)/include \
	-I$(SIM_GEN) $(SIM_EXTRA_CFLAGS)
SIM_LDFLAGS := -shared -Wl,-rpath,'$$ORIGIN' -Wl,--no-undefined $(SIM_EXTRA_LDFLAGS)

SIM_CORE := config clock process call device stream event hostfunc memory graph capture errors
SIM_CUDA := cuda_api cuda_init cuda_context cuda_memory cuda_copy cuda_stream cuda_launch cuda_graph cuda_pool
SIM_CUDART := rt_api rt_init rt_register rt_device rt_memory rt_copy rt_stream rt_graph
SIM_CUPTI := cupti_callback cupti_activity cupti_buffer cupti_record cupti_meta cupti_info cupti_unsupported

SIM_HEADERS := $(wildcard tests/sim/*.h)
SIM_TABLES := $(addprefix $(SIM_GEN)/,sim_rt_impl.h sim_drv_impl.h sim_rt_wrappers.inc \
	sim_drv_wrappers.inc sim_rt_names.inc sim_drv_names.inc sim_versions.inc)
SIM_LIBRARIES := $(addprefix $(SIM)/,libgpusim.so libcuda.so.1 libcuda.so libcudart.so.13 libcudart.so \
	libcupti.so.13 libcupti.so)

.PHONY: sim
sim: $(SIM_LIBRARIES)

SIM_AWK = awk -v domain=$(1) -v out=$(2) -f tests/sim/gen.awk

$(SIM_GEN)/sim_rt_%.h $(SIM_GEN)/sim_rt_%.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(call SIM_AWK,rt,$*) $(CUDA_HOME)/include/cupti_runtime_cbid.h \
		$(CUDA_HOME)/include/generated_cuda_runtime_api_meta.h >$@

$(SIM_GEN)/sim_drv_%.h $(SIM_GEN)/sim_drv_%.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(call SIM_AWK,drv,$*) $(CUDA_HOME)/include/cupti_driver_cbid.h \
		$(CUDA_HOME)/include/generated_cuda_meta.h >$@

$(SIM_GEN)/sim_versions.inc: tests/sim/gen.awk
	@mkdir -p $(@D)
	$(call SIM_AWK,drv,versions) /dev/null $(CUDA_HOME)/include/cudaTypedefs.h >$@

$(SIM)/obj/%.o: tests/sim/%.c $(SIM_HEADERS) $(SIM_TABLES)
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -c -o $@ $<

SIM_OBJECTS = $(addprefix $(SIM)/obj/,$(addsuffix .o,$(1)))

$(SIM)/libgpusim.so: $(call SIM_OBJECTS,$(SIM_CORE))
	$(CC) $(SIM_LDFLAGS) -Wl,-soname,$(@F) -o $@ $^ -lpthread

$(SIM)/libcuda.so.1: $(call SIM_OBJECTS,$(SIM_CUDA)) $(SIM)/libgpusim.so tests/sim/libcuda.map
	$(CC) $(SIM_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=tests/sim/libcuda.map -o $@ \
		$(filter %.o,$^) -L$(SIM) -lgpusim -ldl

$(SIM)/libcudart.so.13: $(call SIM_OBJECTS,$(SIM_CUDART)) $(SIM)/libcuda.so $(SIM)/libgpusim.so \
		tests/sim/libcudart.map
	$(CC) $(SIM_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=tests/sim/libcudart.map -o $@ \
		$(filter %.o,$^) -L$(SIM) -lcuda -lgpusim

$(SIM)/libcupti.so.13: $(call SIM_OBJECTS,$(SIM_CUPTI)) $(SIM)/libgpusim.so tests/sim/libcupti.map
	$(CC) $(SIM_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=tests/sim/libcupti.map -o $@ \
		$(filter %.o,$^) -L$(SIM) -lgpusim

$(SIM)/libcuda.so: $(SIM)/libcuda.so.1
$(SIM)/libcudart.so: $(SIM)/libcudart.so.13
$(SIM)/libcupti.so: $(SIM)/libcupti.so.13
$(SIM)/libcuda.so $(SIM)/libcudart.so $(SIM)/libcupti.so:
	ln -sf $(<F) $@

# ---- sample programs: the same sources run on a GPU ----
PROGRAM_SOURCES := $(wildcard tests/programs/*.cu) tests/gpu/zoo.cu
PROGRAMS := $(addprefix $(O)/programs/,$(notdir $(PROGRAM_SOURCES:.cu=)))

.PHONY: programs
programs: sim $(PROGRAMS)

NVCC_FLAGS := -std=c++17 -O1 -lineinfo -cudart shared -Wno-deprecated-gpu-targets -Xcompiler -Wall,-Wextra
$(O)/programs/zoo: NVCC_FLAGS += -arch=sm_90
$(O)/programs/%: tests/programs/%.cu tests/programs/check.h
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -o $@ $<
$(O)/programs/driver: tests/programs/driver.cu $(SIM)/libcuda.so
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -o $@ $< -L$(SIM) -lcuda
$(O)/programs/zoo: tests/gpu/zoo.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -o $@ $<
