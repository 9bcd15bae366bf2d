#!/usr/bin/env bash
# Makes what a release consists of, of what is committed here: a wheel (the Python package, which brings the program), a Debian package of
# the program, the sources, a bill of materials and checksums.
# usage: release.sh FOLDER, which is new or empty
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?name a folder}
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ -n "$(ls -A "$out")" ]; then
    echo "$out is not empty: name a new folder" >&2
    exit 1
fi
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)

python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" ./python
git archive --format=tar.gz --prefix="lbmc-$version/" --output="$out/lbmc-$version.tar.gz" HEAD

cargo build --release --locked --quiet
program=${CARGO_TARGET_DIR:-target}/release/lbmc
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
install -D --strip "$program" "$root/usr/bin/lbmc"
install -D -m 644 LICENSE-MIT "$root/usr/share/doc/lbmc/copyright"
mkdir -p "$root/DEBIAN" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions"
"$program" man --out "$root/usr/share/man/man1"
"$program" completions bash >"$root/usr/share/bash-completion/completions/lbmc"
cat >"$root/DEBIAN/control" <<END
Package: lbmc
Version: $version
Architecture: $architecture
Maintainer: the developers of lbmc <lbmc@localhost>
Depends: libc6
Recommends: gcc
Section: science
Priority: optional
Description: A compiler and a solver for lattice Boltzmann flows
END
dpkg-deb --root-owner-group --build "$root" "$out/lbmc_${version}_$architecture.deb" >/dev/null

cargo metadata --format-version 1 --locked | python3 scripts/materials.py >"$out/lbmc-$version.cdx.json"
(cd "$out" && sha256sum lbmc* >SHA256SUMS)
ls -l "$out"
