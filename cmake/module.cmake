# The headers that nearly every file includes, compiled once for each set of compiler options
# (CAIP_PRECOMPILED). A file includes what it needs all the same: scripts/lint builds without them.
function(caip_precompiled name options header)
  if(NOT CAIP_PRECOMPILED)
    return()
  endif()
  # not written again at each configuration, which would build all of caip again
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/precompiled_${name}.cc CONTENT "")
  add_library(caip_precompiled_${name} OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled_${name}.cc)
  target_compile_options(caip_precompiled_${name} PRIVATE ${options})
  target_link_libraries(caip_precompiled_${name} PRIVATE ${ARGN} caip_warnings)
  target_precompile_headers(caip_precompiled_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
endfunction()

function(caip_use_precompiled target name)
  if(TARGET caip_precompiled_${name})
    target_precompile_headers(${target} REUSE_FROM caip_precompiled_${name})
  endif()
endfunction()

# -Og compiles in a quarter less time than -Os, and g++ has more false alarms at it. Packages have a
# limit on their size (docs/install.md).
if(CAIP_PACKAGE)
  set(caip_cold_options $<$<CONFIG:Release>:-Os>)
else()
  set(caip_cold_options $<$<CONFIG:Release>:-Og>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND caip_cold_options $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
endif()
set(caip_test_options -O0)
caip_precompiled(hot "" precompiled.h nlohmann_json::nlohmann_json)
caip_precompiled(cold "${caip_cold_options}" precompiled.h nlohmann_json::nlohmann_json)
if(CAIP_TESTS)
  caip_precompiled(test "${caip_test_options}" precompiled_test.h nlohmann_json::nlohmann_json GTest::gmock)
endif()

# caip_module(NAME PATH dir [RECURSE] [COLD] [DEPS modules...] [LINK packages...] [EXCLUDE files...])
# One static library per folder, compiled a dozen files at a time, or sixteen if COLD (CAIP_UNITY): most
# of a file's cost is its headers. So names in anonymous namespaces are unique within a module. Two dozen
# would take a fifth less time, but a build after a change of one file would exceed 15 seconds. DEPS are
# the arrows of the architecture; LINK are outside packages. COLD: its code runs a few times in a command,
# so it is optimised for the time to build it, or for size (see above).
function(caip_module name)
  cmake_parse_arguments(arg "RECURSE;COLD" "PATH" "DEPS;LINK;EXCLUDE" ${ARGN})
  if(arg_RECURSE)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_PATH}/*.cc)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_PATH}/*.cc)
  endif()
  foreach(file ${arg_EXCLUDE})
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
  if(NOT sources)
    add_library(caip_${name} INTERFACE)
    target_include_directories(caip_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
    return()
  endif()
  add_library(caip_${name} STATIC ${sources})
  target_include_directories(caip_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
  if(arg_COLD)
    target_compile_options(caip_${name} PRIVATE ${caip_cold_options})
    caip_use_precompiled(caip_${name} cold)
    set(files_at_a_time 16)
  else()
    caip_use_precompiled(caip_${name} hot)
    set(files_at_a_time 12)
  endif()
  set_target_properties(caip_${name} PROPERTIES UNITY_BUILD ${CAIP_UNITY}
                        UNITY_BUILD_BATCH_SIZE ${files_at_a_time})
  list(TRANSFORM arg_DEPS PREPEND caip_)
  target_link_libraries(caip_${name} PUBLIC ${arg_DEPS} ${arg_LINK} PRIVATE caip_warnings)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${arg_PATH}/module.cmake)
    include(${CMAKE_SOURCE_DIR}/${arg_PATH}/module.cmake)  # what this folder alone needs
  endif()
endfunction()

# caip_embed_text(MODULE FILE FUNCTION HEADER): compiles a text file into a module, as the value of
# `std::string_view FUNCTION()`, which HEADER declares.
function(caip_embed_text module file function header)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  cmake_path(GET file FILENAME name)
  string(CONCAT source "// Made by caip_embed_text of cmake/module.cmake, from ${name}.\n"
         "#include \"${header}\"\n\n"
         "std::string_view ${function}() { return R\"~text~(${text})~text~\"; }\n")
  set(embedded ${CMAKE_BINARY_DIR}/generated/${module}/${name}.cc)
  file(CONFIGURE OUTPUT ${embedded} CONTENT "${source}" @ONLY)
  target_sources(caip_${module} PRIVATE ${embedded})
endfunction()

# caip_test(NAME [SWEEP] [DEPS modules...]): tests/NAME/*.cc and tests/NAME/*/*_test.cc in one program,
# each case a ctest.
# SWEEP: the cases start processes; each runs below leak_sweep, which fails it for what it leaves.
function(caip_test name)
  cmake_parse_arguments(arg "SWEEP" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cc
       ${CMAKE_SOURCE_DIR}/tests/${name}/*/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${CAIP_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  list(TRANSFORM arg_DEPS PREPEND caip_)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src
                             ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name}_test PRIVATE ${arg_DEPS} GTest::gmock_main caip_warnings)
  target_compile_options(${name}_test PRIVATE ${caip_test_options})  # half the time to build
  caip_use_precompiled(${name}_test test)
  if(arg_SWEEP)
    add_dependencies(${name}_test leak_sweep)
    set_target_properties(${name}_test PROPERTIES CROSSCOMPILING_EMULATOR
                          ${CMAKE_BINARY_DIR}/leak_sweep)
  endif()
  set(seconds_max 300)
  if(CAIP_SANITIZE)
    set(seconds_max 1800)
  endif()
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
                       PROPERTIES TIMEOUT ${seconds_max})
endfunction()
