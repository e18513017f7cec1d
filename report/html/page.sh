#!/usr/bin/env bash
# Print the page of `gpuprof html` as report/html/web/ builds it: page.html with the style, the script, and the script's hash, which is all that a
# browser may run in it.  `make page` writes report/html/page.built.html with it; tests/lint/page.sh finds where the two differ.
set -eu -o pipefail
shopt -s extglob
export LC_ALL=C # the order of the parts

cd "$(dirname "$0")/web"
script=$(mktemp)
style=$(mktemp)
trap 'rm -f "$script" "$style"' EXIT

# Lines without their tabs and comments; app.js, which calls the others, is the last.
{
	echo "(() => {'use strict';"
	sed 's/^[[:blank:]]*//; /^\/\*.*\*\/$/d; /^\/\*/,/\*\/$/d' !(app).js app.js
	echo '})();'
} >"$script"
sed 's/^[[:blank:]]*//; /^\/\*.*\*\/$/d' style.css >"$style"
digits=$(sha256sum <"$script" | sed 's/ .*//; s/../\\x&/g')
# shellcheck disable=SC2059 # bytes, each as \xHH
hash=$(printf "$digits" | base64)

awk -v hash="$hash" -v script="$script" -v style="$style" '
	function insert(file,	line)
	{
		while ((getline line <file) > 0)
			print line
		close(file)
	}
	$0 == "@STYLE@" { insert(style); next }
	$0 == "@SCRIPT@" { printf "<script>"; insert(script); print "</script>"; next }
	{ sub(/@HASH@/, hash); print }' page.html
