#!/usr/bin/env bash
# Runs a compiler's command line with ccache, equal in all clones: compile_cached.sh SOURCE_DIR COMPILER ARGS...
export CCACHE_BASEDIR=$1  # paths below it count as relative ones
export CCACHE_NOHASHDIR=1 # debug information alone has the folder's own name
export CCACHE_DEPEND=1    # what a file includes is known from the compiler's list, without preprocessing it first
export CCACHE_SLOPPINESS=pch_defines,time_macros           # ccache asks for both where a precompiled header is used
export CCACHE_PCH_EXTSUM=1                                 # which counts by the digest that compile_pch.sh writes
# ccache does not know the flags that name these files.
export CCACHE_EXTRAFILES=$1/cmake/sanitizer_ignorelist.txt:$1/cmake/coverage_ignorelist.txt
# When ccache runs the compiler, the precompiled headers must exist: run_compiler.sh creates them.
export PATH=$1/cmake:$PATH CCACHE_PREFIX=run_compiler.sh
shift
# Makes arguments below the working directory relative. ccache does not change arguments after -Xclang, with which CMake passes the
# precompiled header.
exec ccache "${@/#$PWD\//}"
