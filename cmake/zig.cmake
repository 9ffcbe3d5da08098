# A tool chain for another architecture: zig as a C++ compiler, with an old glibc so that the result runs widely.
# In: GRAPHMEND_ZIG (the path of zig), GRAPHMEND_ZIG_ARCH (x86_64 or aarch64). tools/cross_wheel.sh sets both.
set(GRAPHMEND_ZIG_GLIBC 2.28)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${GRAPHMEND_ZIG_ARCH})
# The small programs CMake compiles to look at the compiler need the same answers.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GRAPHMEND_ZIG GRAPHMEND_ZIG_ARCH)

# CMake wants each tool to be one file.
set(tools "${CMAKE_BINARY_DIR}/zig-tools")
foreach(tool c++ ar ranlib)
  set(arguments "")
  if(tool STREQUAL "c++")
    set(arguments "-target ${GRAPHMEND_ZIG_ARCH}-linux-gnu.${GRAPHMEND_ZIG_GLIBC}")
  endif()
  if(NOT EXISTS "${tools}/${tool}")
    file(WRITE "${tools}/${tool}" "#!/bin/sh\nexec '${GRAPHMEND_ZIG}' ${tool} ${arguments} \"$@\"\n")
    file(CHMOD "${tools}/${tool}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endforeach()
set(CMAKE_CXX_COMPILER "${tools}/c++")
set(CMAKE_AR "${tools}/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${tools}/ranlib" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_AR "${tools}/ar" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_RANLIB "${tools}/ranlib" CACHE FILEPATH "")

# zig compiles its C++ library anew for each set of flags, which takes minutes: CMake's own tests do not link, and
# whether link-time optimisation works is known.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(GRAPHMEND_LTO_WORKS ON)

set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
