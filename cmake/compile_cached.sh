#!/usr/bin/env bash
# Runs a compiler's command line with ccache such that all clones share cached objects: compile_cached.sh SOURCE_DIR COMPILER ARGS...
export CCACHE_BASEDIR=$1  # ccache hashes paths below this folder as relative paths
export CCACHE_NOHASHDIR=1 # only debug information contains the folder's name
export CCACHE_DEPEND=1    # ccache reads the included files from the compiler's dependency file instead of preprocessing
export CCACHE_SLOPPINESS=pch_defines,time_macros           # ccache requires this for precompiled headers
export CCACHE_PCH_EXTSUM=1                                 # ccache identifies a precompiled header by the digest from compile_pch.sh
# ccache does not know the flags that name these files.
export CCACHE_EXTRAFILES=$1/cmake/sanitizer_ignorelist.txt:$1/cmake/coverage_ignorelist.txt
# When ccache runs the compiler, the precompiled headers must exist: run_compiler.sh creates them.
export PATH=$1/cmake:$PATH CCACHE_PREFIX=run_compiler.sh
shift
# Makes arguments below the working directory relative. ccache does not change arguments after -Xclang, with which CMake passes the
# precompiled header.
exec ccache "${@/#$PWD\//}"
