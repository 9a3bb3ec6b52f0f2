# ccache, where it is installed (tools/setup.sh installs it): what was compiled in one folder is taken from the cache in
# another, so that a second clone or an older commit is built in a minute. A launcher that is set already stays.

find_program(MTC_CCACHE ccache)
if(MTC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} # paths below it count as relative ones
      CCACHE_NOHASHDIR=1 # debug information alone has the folder's own name
      CCACHE_SLOPPINESS=pch_defines,time_macros # ccache asks for both where a precompiled header is used
      CCACHE_EXTRAFILES=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignorelist.txt # ccache does not know its flag
      CCACHE_PCH_EXTSUM=1 # the precompiled header counts by the digest that compile_pch.sh writes
      ${MTC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
