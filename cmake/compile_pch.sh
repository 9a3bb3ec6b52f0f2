#!/usr/bin/env bash
# Runs a compiler's command line by ccache, except where it writes a precompiled header X: that stays empty until
# run_compiler.sh compiles it, since nothing reads it where ccache has all that includes it. X.command receives how to do so,
# X.sum a digest of the header's text.
#
# Clang's precompiled header records absolute paths, and clang refuses it once one of those files is gone. So each build
# folder has its own; ccache tells the files that include it apart by X.sum, which all folders share.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
root=${folder%/*}
preprocess=() # prints the header's text, and writes the list of files that it includes
compile=()    # all but the output
output=
words=("$@")
while (($#)); do
  case $1 in
    -o) output=$2; shift ;;
    -c) compile+=("$1") ;;
    -MD) preprocess+=("$1") ;;
    -MF | -MT) preprocess+=("$1" "$2"); shift ;;
    -Xclang)
      if [[ $2 == -include-pch ]]; then # The digest covers the text of the base too.
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

# Assertions name files of the build folder.
"${preprocess[@]}" -E -P -dD -o - | sed "s#$root/##g" | sha256sum >"$output.sum"
printf '%s\0' "${compile[@]}" >"$output.command"
: >"$output"
