#!/usr/bin/env bash
# Fail when the page that `gpuprof` has in it, report/html/page.built.html, is not what its source in report/html/web/ builds.
#
#   tests/lint/page.sh                 compare them
#   tests/lint/page.sh --self-test     see that a change of either side is found
set -u
cd "$(dirname "$0")/../.." || exit 1

compare() {
	"$1/page.sh" | cmp -s - "$1/page.built.html" ||
		{ echo "$1/page.built.html is not what $1/web/ builds: type make page, and commit both"; return 1; }
}

# Whether a change that is made to a copy is found.
found_after() {
	local folder answer
	folder=$(mktemp -d) || exit 1
	cp -r report/html/page.sh report/html/page.built.html report/html/web "$folder"
	(cd "$folder" && "$@")
	answer=$(compare "$folder")
	rm -rf "$folder"
	[[ $answer == *"type make page"* ]]
}

self_test() {
	local status=0
	found_after true && { echo "a page of its source was refused"; status=1; }
	found_after sed -i 's/gpuprof/other/' page.built.html || { echo "a change of the built page was not found"; status=1; }
	found_after sed -i 's/gpuprof/other/' web/app.js || { echo "a change of the script was not found"; status=1; }
	found_after sed -i 's/color/colour/' web/style.css || { echo "a change of the style was not found"; status=1; }
	found_after sh -c 'echo "const other = 1;" >web/other.js' || { echo "a new part of the script was not found"; status=1; }
	found_after rm page.built.html || { echo "that the built page is missing was not found"; status=1; }
	return $status
}

case ${1:-} in
'') compare report/html ;;
--self-test) self_test ;;
*)
	sed -n '2,5s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
