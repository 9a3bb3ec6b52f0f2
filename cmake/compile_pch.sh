#!/usr/bin/env bash
# Runs a compiler's command line with ccache. If the command writes a precompiled header X, the script creates X as an empty file.
# run_compiler.sh compiles X when a compilation that includes it is not in the cache. X.command contains the command, and X.sum a digest of
# the header's text.
#
# A precompiled header of clang contains absolute paths of the files that it includes, and clang rejects it if one of them is missing.
# Therefore each build folder has its own precompiled headers. Files that include it are identified in ccache by X.sum, which is equal in
# all folders.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
root=${folder%/*}
preprocess=() # prints the header's text, and writes the list of files that it includes
compile=()    # the command without the output
output=
words=("$@")
while (($#)); do
  case $1 in
    -o) output=$2; shift ;;
    -c) compile+=("$1") ;;
    -MD) preprocess+=("$1") ;;
    -MF | -MT) preprocess+=("$1" "$2"); shift ;;
    -Xclang)
      if [[ $2 == -include-pch ]]; then # The digest also covers the text of the base.
        compile+=("$1" "$2")
        shift 2
      elif [[ $2 != -emit-pch ]]; then
        preprocess+=("$1" "$2")
      fi
      compile+=("$1" "$2")
      shift
      ;;
    *)
      preprocess+=("$1")
      compile+=("$1")
      ;;
  esac
  shift
done
[[ $output == *.pch ]] || exec "$folder/compile_cached.sh" "$root" "${words[@]}"

# Assertions in the header contain paths of the build folder, which must not affect the digest.
"${preprocess[@]}" -E -P -dD -o - | sed "s#$root/##g" | sha256sum >"$output.sum"
printf '%s\0' "${compile[@]}" >"$output.command"
: >"$output"
