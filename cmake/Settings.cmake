# Compiler settings shared by every target. In: the GRAPHMEND_* options. Out: target graphmend_settings.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "graphmend is C++20: g++ 11 or newer is needed, this is ${CMAKE_CXX_COMPILER_VERSION}")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Every static library ends up in the shared library, which exports nothing but the C API.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(graphmend_settings INTERFACE)
target_link_libraries(graphmend_settings INTERFACE Threads::Threads)
target_include_directories(graphmend_settings INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_options(graphmend_settings INTERFACE -Wall -Wextra -Wshadow)
# clang 19 blames us for a deprecated function that libstdc++ 12 calls inside of std::stable_sort.
target_compile_options(graphmend_settings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(GRAPHMEND_WERROR)
  target_compile_options(graphmend_settings INTERFACE -Werror)
endif()

if(GRAPHMEND_SANITIZE)
  set(sanitize -fsanitize=${GRAPHMEND_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(graphmend_settings INTERFACE ${sanitize})
  target_link_options(graphmend_settings INTERFACE ${sanitize})
  # The sanitizers' own code confuses GCC's data flow: it warns about the standard library's headers.
  target_compile_options(graphmend_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

if(GRAPHMEND_LTO)
  if(NOT DEFINED GRAPHMEND_LTO_WORKS)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT GRAPHMEND_LTO_WORKS LANGUAGES CXX)
  endif()
  if(GRAPHMEND_LTO_WORKS)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    message(STATUS "link-time optimisation is off: this compiler does not have it")
  endif()
endif()

# What leaves this machine carries its C++ run time with it. zig's libc++ is static anyway.
add_library(graphmend_standalone INTERFACE)
if(NOT GRAPHMEND_SANITIZE AND NOT GRAPHMEND_ZIG_ARCH)
  target_link_options(graphmend_standalone INTERFACE -static-libstdc++ -static-libgcc)
endif()
