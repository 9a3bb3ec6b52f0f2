# Uses ccache if it is installed (tools/setup.sh installs it), so that clones in other folders share compiled objects. An existing launcher
# is kept.

find_program(MTC_CCACHE ccache)
if(MTC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile_cached.sh ${PROJECT_SOURCE_DIR})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  set(MTC_PCH_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile_pch.sh)
endif()
