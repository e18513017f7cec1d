#!/bin/sh
# Pack a folder.  Equal files give equal bytes: with the date SOURCE_DATE_EPOCH, owned by root, by name.
#
#   package/archive.sh PARENT FOLDER OUTPUT.tar.gz
set -eu
LC_ALL=C TZ=UTC tar -C "$1" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+w,go-w \
	--mtime="@$SOURCE_DATE_EPOCH" -c "$2" | gzip -9n >"$3"
