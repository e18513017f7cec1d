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
compiler=${CC:-cc}
machine=$($compiler -dumpmachine | cut -d- -f1)
case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*) architecture=$(dpkg --print-architecture) ;;
esac
# a cross compiler's folder with the packages of the other machine; empty for a native compiler
system=$($compiler -print-sysroot 2>/dev/null || :)
system=${system%/}
documents=$system/usr/share/doc
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
		path=$(readlink -f "$($compiler -print-file-name="lib$library.a")")
		dpkg-query --admindir="$system/var/lib/dpkg" -S "${path#"$system"}" | sed 's/: .*//'
	done | sort -u | xargs dpkg-query --admindir="$system/var/lib/dpkg" -W -f '${Package} ${Version}\n'
}

copyright() {
	echo "gpuprof has no license text of its own yet. The program gpuprof contains parts of these packages:"
	while read -r package of_package; do
		printf '\n---- %s %s ----\n\n' "$package" "$of_package"
		cat "$documents/$package/copyright"
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
	sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@LIBC@/${libc#GLIBC_}/;
		s/@SIZE@/$(du -sk --apparent-size "$root/usr" | cut -f1)/" package/control >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
	dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$output" >/dev/null
}

linked "$@" >"$work/linked"
package/sbom.py "$name" "$version" "$documents" <"$work/linked" >"$work/sbom"
cp "$work/sbom" "$output/$name.spdx.json"
stage "$work/tar" "/$name" share/zsh/site-functions
package/archive.sh "$work/tar" "$name" "$output/$name.tar.gz"
debian_package
