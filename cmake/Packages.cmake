# Packages of other people. In: what the system has. Out: targets `package_<name>`, made when a layer first asks.
# All of them are header-only for us, so a cross build may take the headers of the machine it runs on.

set(package_fmt_header fmt/format.h)
set(package_fmt_debian libfmt-dev)
set(package_fmt_definitions FMT_HEADER_ONLY)
set(package_cli11_header CLI/CLI.hpp)
set(package_cli11_debian libcli11-dev)
set(package_json_header nlohmann/json.hpp)
set(package_json_debian nlohmann-json3-dev)

# graphmend_package(fmt): makes sure that target package_fmt is there, or stops with the name of the package to install.
function(graphmend_package name)
  if(TARGET package_${name})
    return()
  endif()
  set(header "${package_${name}_header}")
  # NO_CMAKE_FIND_ROOT_PATH: a tool chain for another machine would hide this machine's headers.
  find_path(GRAPHMEND_${name}_INCLUDE "${header}" PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(GRAPHMEND_${name}_INCLUDE)
  if(NOT GRAPHMEND_${name}_INCLUDE)
    message(
      FATAL_ERROR
        "the header <${header}> is missing; on Debian and Ubuntu: apt-get install ${package_${name}_debian}\n"
        "elsewhere install the same library and pass -DGRAPHMEND_${name}_INCLUDE=<folder that has ${header}>"
    )
  endif()
  # A folder of links with this package alone: /usr/include itself on the search path would put the C library of this
  # machine in front of the one we build for.
  cmake_path(GET header PARENT_PATH folder)
  set(links "${PROJECT_BINARY_DIR}/packages/${name}")
  file(MAKE_DIRECTORY "${links}")
  file(CREATE_LINK "${GRAPHMEND_${name}_INCLUDE}/${folder}" "${links}/${folder}" SYMBOLIC)

  add_library(package_${name} INTERFACE)
  target_include_directories(package_${name} SYSTEM INTERFACE "${links}")
  target_compile_definitions(package_${name} INTERFACE ${package_${name}_definitions})
endfunction()

# graphmend_found_package(GTest libgtest-dev): find_package with a message that says what to install.
macro(graphmend_found_package name debian)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "the library ${name} is missing; on Debian and Ubuntu: apt-get install ${debian}")
  endif()
endmacro()
