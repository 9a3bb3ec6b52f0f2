#!/usr/bin/env bash
# Compiles the precompiled headers that compile_pch.sh has left empty, then runs a compiler's command line.
#
# With mimalloc on huge pages, clang takes 5 to 20 % less time than with the C library's allocator.
set -euo pipefail

# Compiles the precompiled header $1 if it is empty, or waits until another process has done so.
fill() {
  [[ -e $1.command && ! -s $1 ]] || return 0
  (
    flock 9
    [[ ! -s $1 ]] || exit 0
    mapfile -d '' -t command <"$1.command"
    "$0" "${command[@]}" -o "$1.new"
    touch -r "$1" "$1.new" # ninja would compile again what is older than it.
    mv "$1.new" "$1"
  ) 9>>"$1.lock"
}

previous=
for word in "$@"; do
  [[ $word != -Xclang ]] || continue
  [[ $previous != -include-pch ]] || fill "$word"
  previous=$word
done
export LD_PRELOAD=libmimalloc.so${LD_PRELOAD:+:$LD_PRELOAD} MIMALLOC_LARGE_OS_PAGES=1
exec "$@"
