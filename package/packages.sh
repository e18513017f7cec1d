#!/bin/sh
# Make the packages of a build.  The same sources give the same bytes, in any folder at any time.
#
#   package/packages.sh BUILD-FOLDER VERSION LIBRARY...     `make packages` calls it
#
# Writes to BUILD-FOLDER/packages: a tarball that works from any folder, a Debian package, and the
# software bill of materials (SPDX).  LIBRARY...: the archives that are linked into the program.
set -eu
umask 022
export LC_ALL=C TZ=UTC
: "${SOURCE_DATE_EPOCH:?the date of all files, in seconds since 1970}"
build=$1 version=$2
shift 2
machine=$(uname -m)
name=gpuprof-$version-linux-$machine
output=$build/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$output"
mkdir -p "$output"

# The Debian packages of the archives, one a line: NAME VERSION.
linked() {
	# shellcheck disable=SC2016 # dpkg-query fills them in
	for library in "$@"; do
		dpkg -S "$(readlink -f "$(${CC:-cc} -print-file-name="lib$library.a")")" | cut -d: -f1
	done | sort -u | xargs dpkg-query -W -f '${Package} ${Version}\n'
}

sbom() {
	printf '{"spdxVersion":"SPDX-2.3","dataLicense":"CC0-1.0","SPDXID":"SPDXRef-DOCUMENT","name":"%s",' "$name"
	printf '"documentNamespace":"https://spdx.org/spdxdocs/%s-%s",' "$name" "$SOURCE_DATE_EPOCH"
	printf '"creationInfo":{"created":"%s","creators":["Tool: gpuprof-packages"]},' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
	printf '"packages":[{"SPDXID":"SPDXRef-gpuprof","name":"gpuprof","versionInfo":"%s",' "$version"
	printf '"downloadLocation":"NOASSERTION","filesAnalyzed":false}'
	while read -r package of_package; do
		printf ',{"SPDXID":"SPDXRef-%s","name":"%s","versionInfo":"%s","downloadLocation":"NOASSERTION","filesAnalyzed":false,' \
			"$package" "$package" "$of_package"
		printf '"externalRefs":[{"referenceCategory":"PACKAGE-MANAGER","referenceType":"purl","referenceLocator":"pkg:deb/debian/%s@%s"}]}' \
			"$package" "$(echo "$of_package" | sed 's/:/%3A/; s/+/%2B/g')"
	done <"$work/linked"
	printf '],"relationships":[{"spdxElementId":"SPDXRef-DOCUMENT","relationshipType":"DESCRIBES","relatedSpdxElement":"SPDXRef-gpuprof"}'
	while read -r package _; do
		printf ',{"spdxElementId":"SPDXRef-gpuprof","relationshipType":"STATIC_LINK","relatedSpdxElement":"SPDXRef-%s"}' "$package"
	done <"$work/linked"
	printf ']}\n'
}

copyright() {
	echo "gpuprof has no license text of its own yet. The program gpuprof contains parts of these packages:"
	while read -r package of_package; do
		printf '\n---- %s %s ----\n\n' "$package" "$of_package"
		cat "/usr/share/doc/$package/copyright"
	done <"$work/linked"
}

# Installs into a folder, with the documents of a package.
stage() {
	make --no-print-directory O="$build" BINARIES="$build/stripped" DESTDIR="$1" PREFIX="$2" ZSH_FUNCTIONS="$2/$3" install
	install -d "$1$2/share/doc/gpuprof"
	copyright >"$1$2/share/doc/gpuprof/copyright"
	cp "$work/sbom" "$1$2/share/doc/gpuprof/gpuprof.spdx.json"
	cp CHANGELOG.md "$1$2/share/doc/gpuprof/"
}

debian_package() {
	root=$work/deb
	stage "$root" /usr share/zsh/vendor-completions
	gzip -9n "$root"/usr/share/man/man1/*.1
	mkdir "$root/DEBIAN"
	# dpkg-shlibdeps knows in which files this machine's C library has the functions, not older ones
	libc=$(objdump -T "$root/usr/bin/gpuprof" "$root/usr/lib/libgpuprof.so" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1)
	sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/; s/@LIBC@/${libc#GLIBC_}/;
		s/@SIZE@/$(du -sk --apparent-size "$root/usr" | cut -f1)/" package/control >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
	dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$output" >/dev/null
}

linked "$@" >"$work/linked"
sbom >"$work/sbom"
cp "$work/sbom" "$output/$name.spdx.json"
stage "$work/tar" "/$name" share/zsh/site-functions
tar -C "$work/tar" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" -c "$name" |
	gzip -9n >"$output/$name.tar.gz"
debian_package
