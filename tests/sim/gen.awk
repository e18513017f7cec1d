# Generates the simulated device's API tables from the CUDA headers, so that no name, number or
# parameter list is maintained by hand. Usage:
#
#	awk -v domain=rt|drv -v out=impl|wrappers|names|versions -f gen.awk CBID_HEADER META_HEADER
#	awk -v domain=drv -v out=versions -f gen.awk /dev/null cudaTypedefs.h
#
# impl:     prototypes of sim_FUNCTION, which the files of the family define; they are weak, so a
#           function without a definition returns "not supported"
# wrappers: the exported functions: parameter structure, enter, sim_FUNCTION, exit
# names:    callback id -> name, the table behind cuptiGetCallbackName
# versions: (function, first CUDA version, exported name) for cuGetProcAddress

BEGIN {
	enum = domain == "rt" ? "CUPTI_RUNTIME_TRACE_CBID_" : "CUPTI_DRIVER_TRACE_CBID_"
	result = domain == "rt" ? "cudaError_t" : "CUresult"
	macro = domain == "rt" ? "SIM_RUNTIME" : "SIM_DRIVER"
	prefix = "sim_" domain
	failed = domain == "rt" ? "cudaErrorNotSupported" : "CUDA_ERROR_NOT_SUPPORTED"
	# Written by hand: these return no error code, and the first cuInit is not a traced call.
	split("cudaCreateChannelDesc cudaGetErrorName cudaGetErrorString cuInit", list, " ")
	for (i in list)
		by_hand[list[i]] = 1
	if (out == "names")
		print "/* generated from the CUPTI headers */"
}

function emit_name(full, id) {
	if (full != "INVALID" && full != "SIZE" && full != "FORCE_INT")
		printf "\t[%d] = \"%s\",\n", id, full
}

# "const char *symbol" -> type and name of one parameter
function split_field(line) {
	sub(/;.*/, "", line)
	sub(/^[ \t]+/, "", line)
	match(line, /[A-Za-z_0-9]+$/)
	field_name = substr(line, RSTART)
	field_type = substr(line, 1, RSTART - 1)
}

function emit_function(full, name,    i, params, args, symbol) {
	params = args = symbol = ""
	for (i = 1; i <= fields; i++) {
		params = params (i > 1 ? ", " : "") types[i] names[i]
		args = args (i > 1 ? ", " : "") names[i]
		if (name ~ /Launch(Cooperative)?Kernel/ && names[i] ~ /^(func|f)$/)
			symbol = names[i]
	}
	if (fields == 0)
		params = "void"
	base = name
	sub(/_pt[sd][sz]$/, "", base)
	if (out == "impl" && !(base in declared)) {
		declared[base] = 1
		printf "%s sim_%s(%s) __attribute__((weak, visibility(\"hidden\")));\n", result, base, params
	}
	if (out != "wrappers")
		return
	printf "%s %s(%s);\n%s %s(%s)\n{\n", result, name, params, result, name, params
	if (fields)
		printf "\tstruct %s_params_st sim_params = { %s };\n", full, args
	printf "\tstruct sim_call sim_c = { .domain = %s, .cbid = %d, .name = \"%s\",", macro, cbid[full], name
	printf " .params = %s, .per_thread = %d };\n", (fields ? "&sim_params" : "NULL"), (name != base)
	printf "\tint sim_r = %s_enter(&sim_c, %s);\n", prefix, (symbol == "" ? "NULL" : "(const void *)" symbol)
	printf "\tif (sim_r == 0)\n\t\tsim_r = sim_%s ? (int)sim_%s(%s) : (int)%s;\n", base, base, args, failed
	printf "\treturn (%s)%s_exit(&sim_c, sim_r);\n}\n", result, prefix
}

function function_name(full) {
	if (domain == "rt")
		sub(/_v[0-9]+$/, "", full)
	return full
}

FNR == 1 { file++ }

file == 1 && index($0, enum) {
	line = $0
	sub(/.*_CBID_/, "", line)
	split(line, part, /[ \t=,]+/)
	cbid[part[1]] = part[2]
	if (out == "names")
		emit_name(part[1], part[2])
	next
}

# Functions without parameters have no structure in the headers.
file == 2 && FNR == 1 && out != "names" && out != "versions" {
	if (domain == "rt")
		list_bare = "cudaCtxResetPersistingL2Cache_v11000 cudaDeviceReset_v3020 " \
			"cudaDeviceSynchronize_v3020 cudaGetLastError_v3020 cudaPeekAtLastError_v3020 " \
			"cudaProfilerStart_v4000 cudaProfilerStop_v4000"
	else
		list_bare = "cuCtxResetPersistingL2Cache cuCtxSynchronize cuProfilerStart cuProfilerStop"
	n = split(list_bare, bare, " ")
	for (k = 1; k <= n; k++) {
		fields = 0
		emit_function(bare[k], function_name(bare[k]))
	}
}

out != "versions" && file == 2 && /^typedef struct .*_params_st/ {
	full = $3
	sub(/_params_st.*/, "", full)
	fields = 0
	inside = 1
	next
}

out != "versions" && inside && /^}/ {
	inside = 0
	if (!(function_name(full) in by_hand))
		emit_function(full, function_name(full))
	next
}

out != "versions" && inside && /;/ {
	split_field($0)
	types[++fields] = field_type
	names[fields] = field_name
}

# typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v3020)(...): the n-th version of a function is _v<n>.
out == "versions" && /\*PFN_cu[A-Za-z0-9_]*_v[0-9]+(_pt[sd][sz])?\)/ {
	match($0, /PFN_cu[A-Za-z0-9_]*_v[0-9]+(_pt[sd][sz])?/)
	full = substr($0, RSTART + 4, RLENGTH - 4)
	tail = ""
	if (match(full, /_pt[sd][sz]$/)) {
		tail = substr(full, RSTART)
		full = substr(full, 1, RSTART - 1)
	}
	match(full, /_v[0-9]+$/)
	version = substr(full, RSTART + 2) + 0
	key = substr(full, 1, RSTART - 1) SUBSEP tail
	if (!(key in variants))
		order[++keys] = key
	seen[key, ++variants[key]] = version
}

END {
	for (k = 1; k <= keys && out == "versions"; k++) {
		key = order[k]
		split(key, part, SUBSEP)
		for (i = 1; i <= variants[key]; i++) {
			rank = 0
			plain = part[1] SUBSEP ""
			for (j = 1; j <= variants[plain]; j++)
				rank += seen[plain, j] <= seen[key, i]
			suffix = (rank > 1 ? "_v" rank : "") part[2]
			per_thread = (part[2] != "")
			printf "\t{ \"%s\", %d, %d, \"%s%s\" },\n", part[1], seen[key, i], per_thread, \
				part[1], suffix
		}
	}
}
