#!/usr/bin/env bash
# Installs the missing dependencies of mtc on Debian 12.
#
#   tools/setup.sh            the compiler, its tools, and libraries that programs link
#   tools/setup.sh --tests    also tmux and debootstrap, and build/venv: Python with the packages in test/requirements.txt
#
# The script is silent and fast if nothing is missing. It needs root or sudo only to install packages.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev # the compiler's own compiler and libraries
  clang-format-22 clang-tidy-22 libclang-rt-22-dev                       # format, lint, sanitizers
  cmake ninja-build git
  ccache                                                                 # shares compiled objects between folders
  g++ libc6-dev libstdc++-12-dev                                         # start-up files, C++ library
  zlib1g-dev libzstd-dev                                                 # needed by LLVM's static libraries; zlib also by .npz files
  libjpeg62-turbo-dev libpng-dev                                         # folders of images
  libmimalloc-dev                                                        # the compiler's allocator
  libprotobuf-dev protobuf-compiler                                      # ONNX files
  libdnnl-dev                                                            # contractions and convolutions on the CPU; installs libgomp
  libopenmpi-dev                                                         # programs of several processes (--ranks)
  libstdc++-12-dev-arm64-cross                                           # programs for Arm; installs the C library
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev                    # metrics and plans, recipes, command lines
  libgtest-dev libgmock-dev libbenchmark-dev
  dpkg-dev patchelf                                                      # mtc's own packages
  python3 python3-pip python3-venv python3-psutil # psutil: time limits of single tests
  qemu-user                                                              # tests of programs for other processors
)
if [[ ${1:-} == --tests ]]; then
  packages+=(tmux debootstrap) # a terminal for the progress bars, minimal installations for packages
fi

die() {
  echo "setup.sh: $*" >&2
  exit 1
}

command -v dpkg-query >/dev/null || die "this script installs Debian packages, and found no dpkg. Install the equivalents of: ${packages[*]}"
# dpkg-query exits with 1 for an unknown package, but still prints the others.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort -u || true)
mapfile -t missing < <(comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) <(printf '%s\n' "$installed"))

if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "packages are missing and this is neither root nor a machine with sudo. As root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "setup.sh: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # LLVM 22 is in the security archive of Debian 12, whose package list a fresh machine lacks.
  for command in update "install --yes --no-install-recommends ${missing[*]}"; do
    # shellcheck disable=SC2086 # the words of one command line
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 $command >"$log" 2>&1; then
      tail -n 30 "$log" >&2
      die "'apt-get ${command%% *}' failed; the reason is above. LLVM 22 is in Debian's archive bookworm-security, section main: is it among apt's sources?"
    fi
  done
fi

# Libraries for Arm programs: extracted from Debian's packages for that architecture, without installing them. Separate package lists leave
# those of the system unchanged. libjpeg has a header for each architecture.
arm_files=(
  zlib1g-dev:lib/libz.a libjpeg62-turbo-dev:lib/libjpeg.a libjpeg62-turbo-dev:include/jconfig.h libpng-dev:lib/libpng16.a
)
missing=()
for file in "${arm_files[@]}"; do
  [[ -e build/aarch64/${file##*/} ]] || missing+=("$file")
done
if ((${#missing[@]})); then
  echo "setup.sh: fetching libraries for aarch64"
  arm=$(mktemp -d)
  mkdir -p "$arm"/{lists,cache}/partial "$arm/cache/archives/partial" build/aarch64
  options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$arm/lists" -o "Dir::Cache=$arm/cache"
    -o Dir::State::status=/dev/null -o Debug::NoLocking=1)
  if (cd "$arm" && apt-get "${options[@]}" update && apt-get "${options[@]}" download "${missing[@]%%:*}") >"$arm/log" 2>&1; then
    for file in "${missing[@]}"; do
      path=${file#*:}
      dpkg-deb --fsys-tarfile "$arm/${file%%:*}"_*.deb | tar -xO "./usr/${path%/*}/aarch64-linux-gnu/${path##*/}" >"$arm/file"
      mv "$arm/file" "build/aarch64/${path##*/}"
    done
  else
    tail -n 5 "$arm/log" >&2
    echo "setup.sh: programs for Arm cannot be compiled without them" >&2
  fi
  rm -rf "$arm"
fi

# If there is no CUDA toolkit, --target cuda uses the math functions and the assembler from PyPI packages. No GPU is needed.
cuda=build/cuda
cuda_version=13.0.88
cuda_files=(nvidia/cu13/nvvm/libdevice/libdevice.10.bc nvidia/cu13/lib/libnvJitLink.so.13)
toolkit=${CUDA_HOME:-/usr/local/cuda}
if [[ ! -e $toolkit/nvvm/libdevice/libdevice.10.bc || ! -e $toolkit/lib64/libnvJitLink.so ]] &&
  [[ ! -e $cuda/${cuda_files[0]} || ! -e $cuda/${cuda_files[1]} ]]; then
  echo "setup.sh: filling $cuda"
  rm -rf "$cuda"
  wheels=$cuda/wheels
  python3 -m pip --disable-pip-version-check --quiet download --no-deps --only-binary=:all: --dest "$wheels" \
    "nvidia-nvvm==$cuda_version" "nvidia-nvjitlink==$cuda_version" ||
    die "pip could not download CUDA's libdevice and nvJitLink; the reason is above. An installed toolkit serves as well: CUDA_HOME names it"
  python3 - "$cuda" "${cuda_files[@]}" <<'EXTRACT'
import glob, sys, zipfile
folder, *files = sys.argv[1:]
for wheel in map(zipfile.ZipFile, glob.glob(f"{folder}/wheels/*.whl")):
    for name in set(files) & set(wheel.namelist()):
        wheel.extract(name, folder)
EXTRACT
  rm -rf "$wheels"
fi

if [[ ${1:-} == --tests ]]; then
  venv=build/venv
  if ! cmp -s test/requirements.txt "$venv/requirements.txt"; then
    echo "setup.sh: making $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" || die "python3 -m venv failed; the reason is above"
    "$venv/bin/pip" --disable-pip-version-check --quiet install --no-deps -r test/requirements.txt ||
      die "pip could not install test/requirements.txt; the reason is above"
    cp test/requirements.txt "$venv/requirements.txt" # copied last: marks the folder as complete
  fi
elif (($#)); then
  die "unknown argument '$1'. The only one is --tests"
fi
