# Helpers that several tests share; the tests themselves are found by the root Makefile.

# Every test of the read side can write trace files.
$(filter-out $(O)/tests/report/run/%,$(REPORT_TESTS)): $(O)/tests/report/trace_builder.o
