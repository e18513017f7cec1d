#!/bin/sh
# Fail when the preloaded library or the program shows the world more than it must.
#
#   tests/lint/exports.sh BUILD-FOLDER     check BUILD-FOLDER/libgpuprof.so and gpuprof
#   tests/lint/exports.sh --self-test      see that a library with each of the faults is refused
#
# The library lives inside somebody else's program: each symbol it exports can take the place of one of the program's,
# each library it needs enters the program's global scope, and its thread-local storage comes from a reserve of about 1.5 KB.
set -u

EXPORTS="InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension _Exit _exit
	execl execle execlp execv execve execveat execvp execvpe fexecve posix_spawn posix_spawnp sigaction signal
	gpuprof_v1_attach gpuprof_v1_detach gpuprof_v1_mark gpuprof_v1_range_end gpuprof_v1_range_pop gpuprof_v1_range_push gpuprof_v1_range_start
	gpuprof_v1_start gpuprof_v1_stop gpuprof_v1_is_recording gpuprof_v1_trace_path
	gpuprof_v1_layout gpuprof_v1_range_push_values gpuprof_v1_range_start_values
	cuptiActivityDisable cuptiActivityDisableContext cuptiActivityEnable cuptiActivityEnableAndDump
	cuptiActivityEnableContext cuptiActivityFlush cuptiActivityFlushAll cuptiActivityFlushPeriod
	cuptiActivityGetNumDroppedRecords cuptiActivityRegisterCallbacks cuptiActivityRegisterTimestampCallback
	cuptiActivitySetAttribute cuptiEnableAllDomains cuptiEnableCallback cuptiEnableDomain cuptiFinalize
	cuptiGetCallbackState cuptiSubscribe cuptiSubscribe_v2 cuptiUnsubscribe dlsym"
LIBC="libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"
TLS_BYTES=576
OLDEST_LIBC=17         # glibc 2.17
OLDEST_FOR_PROGRAM=28
problems=0

problem() {
	echo "$1"
	problems=$((problems + 1))
}

check_exports() {
	exported=$(nm -D --defined-only "$1" | awk '{ print $NF }' | sort | tr '\n' ' ')
	# shellcheck disable=SC2086 # a list of words
	wanted=$(printf '%s\n' $EXPORTS | sort | tr '\n' ' ')
	[ "$exported" = "$wanted" ] || problem "$1: exports '$exported', should export '$wanted'"
}

check_needed() {
	for library in $(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		case " $LIBC " in
		*" $library "*) ;;
		*) problem "$1: needs $library; only the C library's own may be needed" ;;
		esac
	done
}

# collector/libc_versions.h, package/old_libc.c
check_versions() {
	newer=$(nm -D --with-symbol-versions --undefined-only "$1" | sed -n 's/.* \([^ ]*\)@GLIBC_2\.\([0-9]*\).*/\2 \1/p' |
		awk -v oldest="$2" '$1 > oldest { printf " %s (2.%s)", $2, $1 }')
	[ -z "$newer" ] || problem "$1: a C library newer than 2.$2 is needed for:$newer"
}

check_tls() {
	bytes=$(readelf -lW "$1" | awk '$1 == "TLS" { print $6 }')
	[ $((${bytes:-0})) -le $TLS_BYTES ] || problem "$1: $((bytes)) bytes of thread-local storage, at most $TLS_BYTES"
}

check_library() {
	[ -f "$1" ] || { problem "$1: is not there; build it first"; return; }
	check_exports "$1"
	check_needed "$1"
	check_versions "$1" $OLDEST_LIBC
	check_tls "$1"
}

# Build a library from the source text on standard input and expect the problem.
plant() {
	# shellcheck disable=SC2086 # a compiler with options, no or one library
	${CC:-cc} -shared -fPIC -x c - -o "$folder/planted.so" -Wl,--no-as-needed $2
	found=$(check_library "$folder/planted.so")
	case $found in
	*"$1"*) ;;
	*) problem "planted: expected '$1', found '$found'" ;;
	esac
}

self_test() {
	folder=$(mktemp -d) || exit 1
	trap 'rm -rf "$folder"' EXIT
	echo 'int InitializeInjection(void) { return 1; } int malloc_stats(void) { return 1; }' | plant "exports" ""
	echo 'int nothing;' | plant "exports" ""
	echo 'int InitializeInjection(void) { return 1; }' | plant "needs libstdc++" -lstdc++
	echo 'static __thread char big[4096]; char *InitializeInjection(void) { return big; }' |
		plant "thread-local storage" ""
	printf '#include <pthread.h>\nint InitializeInjection(pthread_t t) { return pthread_setattr_default_np((void *)t); }\n' |
		plant "a C library newer" ""
}

case ${1:-} in
--self-test) self_test ;;
?*)
	check_library "$1/libgpuprof.so"
	if [ -f "$1/gpuprof" ]; then
		check_needed "$1/gpuprof"
		check_versions "$1/gpuprof" $OLDEST_FOR_PROGRAM
	else
		problem "$1/gpuprof: is not there"
	fi
	;;
*)
	sed -n '2,6s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
if [ $problems -eq 0 ]; then echo "exports: in order"; else echo "exports: $problems problems"; fi
[ $problems -eq 0 ]
