#!/bin/sh
# Fail when the collector, or what takes call stacks, calls anything of the C library that may allocate, lock or print.
#
#   tests/lint/symbols.sh BUILD-FOLDER     check the objects in BUILD-FOLDER/collector and BUILD-FOLDER/stacks
#   tests/lint/symbols.sh --self-test      see that an object with a fault is refused
#
# Its code runs inside somebody else's CUDA calls, signal handlers and forked children: whatever a
# program replaced (malloc) or holds locked (stdio, the loader) must stay out of it.
set -u

# What a program thread may run into: plain memory and text functions, the clock, system calls.
ALLOWED="memcpy memmove memchr memmem memset memcmp bcmp strlen strnlen strchr strrchr strncmp strcmp strspn strncpy
	syscall clock_gettime __errno_location pthread_setspecific pthread_self _GLOBAL_OFFSET_TABLE_
	__stack_chk_fail __udivti3 __divti3 __umodti3 __popcountdi2 __cpu_model __cpu_indicator_init
	__aarch64_[a-z0-9_]+"
# What only the start, the stop and the constructor do.
SETUP="pthread_create pthread_detach pthread_attr_init pthread_attr_destroy
	pthread_attr_setstacksize pthread_key_create pthread_atfork
	getenv getauxval program_invocation_short_name mmap munmap dl_iterate_phdr"
# What may look for a catalogue of the program's language, which allocates and locks: nothing of ours says anything so.
LANGUAGE="strerror strerror_r __xpg_strerror_r perror gettext dcgettext setlocale localeconv"
problems=0

problem() {
	echo "$1"
	problems=$((problems + 1))
}

# "OBJECT: uses SYMBOL" for each, without the version that an object asks for.
uses() {
	nm -uA "$@" | awk '{ sub(/@.*/, "", $NF); print $1 " uses " $NF }'
}

# Those that are in the list or, with -v, not in it.
check() {
	list=$1 invert=$2
	shift 2
	# shellcheck disable=SC2086 # a list of words, one a line for grep
	found=$(uses "$@" | grep -v ' uses gp_' | grep $invert -E " uses ($(echo $list | tr ' ' '|'))\$")
	[ -z "$found" ] || problem "$found"
}

check_folder() {
	[ -f "$1/ring.o" ] || { problem "$1: holds no objects; build first"; return; }
	check "$ALLOWED $SETUP" -v "$1"/*.o
	# the way of a record through a program thread
	check "$SETUP" "" "$1/ring.o" "$1/eventcount.o" "$1/counters.o"
}

self_test() {
	folder=$(mktemp -d) || exit 1
	trap 'rm -rf "$folder"' EXIT
	echo 'void *malloc(unsigned long); void *ring(void) { return malloc(1); }' |
		${CC:-cc} -c -x c - -o "$folder/ring.o"
	found=$(check "$ALLOWED" -v "$folder/ring.o")
	case $found in
	*"uses malloc"*) ;;
	*) problem "a call of malloc was not seen" ;;
	esac
	echo 'char *strerror(int); char *log_line(void) { return strerror(5); }' |
		${CC:-cc} -c -x c - -o "$folder/log.o"
	found=$(check "$LANGUAGE" "" "$folder/log.o")
	case $found in
	*"uses strerror"*) ;;
	*) problem "a call of strerror was not seen" ;;
	esac
}

case ${1:-} in
--self-test) self_test ;;
?*)
	check_folder "$1/collector"
	check "$ALLOWED $SETUP" -v "$1"/stacks/*.o
	check "$LANGUAGE" "" "$1"/inject/*.o # tells the user something, also in an end by _exit() out of a signal handler
	;;
*)
	sed -n '2,5s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
if [ $problems -eq 0 ]; then echo "symbols: in order"; else echo "symbols: $problems problems"; fi
[ $problems -eq 0 ]
