#!/usr/bin/env bash
# Runs a compiler's command line. Where that writes a precompiled header X, X.sum receives a digest of the header's text.
#
# Clang's precompiled header records absolute paths, and clang refuses it once one of those files is gone. Each build
# folder makes its own, past ccache; ccache tells the files that include it apart by X.sum, which all folders share.
set -euo pipefail
"$@"

preprocess=()
while (($#)); do
  case $1 in
    -Xclang)
      case $2 in
        -emit-pch) ;;
        -include-pch) shift 2 ;; # The digest covers the text of the base too.
        *) preprocess+=("$1" "$2") ;;
      esac
      shift
      ;;
    -MF | -MT) shift ;;
    -MD | -c) ;;
    -o) output=$2; shift ;;
    *) preprocess+=("$1") ;;
  esac
  shift
done
if [[ $output == *.pch ]]; then
  # Assertions name files of the build folder.
  root=$(cd "$(dirname "$0")/.." && pwd)
  "${preprocess[@]}" -E -P -dD -o - | sed "s#$root/##g" | sha256sum >"$output.sum"
fi
