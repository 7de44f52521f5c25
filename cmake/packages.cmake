# Packages of the distribution; nothing is downloaded here. scripts/setup installs them.
file(GLOB unpacked_boost ${CMAKE_SOURCE_DIR}/build/deps/boost-*)
foreach(directory ${unpacked_boost})  # see scripts/setup
  list(PREPEND CMAKE_PREFIX_PATH ${directory}/usr)
endforeach()
find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ${CAIP_STATIC})
find_package(Boost 1.81 REQUIRED COMPONENTS system filesystem url)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Protobuf REQUIRED)  # and its compiler
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)
include(CheckCXXSourceRuns)

# caip_find(TARGET HEADER LIBRARY): a library without a CMake package, or with one that differs between versions.
function(caip_find target header library)
  string(REGEX REPLACE "::.*" "" name ${target})
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_LIBRARY ${library} REQUIRED)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE})
endfunction()
caip_find(ISAL::ISAL isa-l.h isal)
caip_find(NGHTTP2::NGHTTP2 nghttp2/nghttp2.h nghttp2)
caip_find(RE2::RE2 re2/re2.h re2)
caip_find(YAML::YAML yaml-cpp/yaml.h yaml-cpp)
caip_find(SLIRP::SLIRP slirp/libslirp.h slirp)

# caip_archive(TARGET LIBRARY...): links the archive (.a) of a library, and of the libraries that the archive
# needs, instead of the shared library. Does nothing where one of them has no archive.
function(caip_archive target)
  set(archives)
  foreach(library ${ARGN})
    find_library(CAIP_ARCHIVE_${library} lib${library}.a)
    if(NOT CAIP_ARCHIVE_${library})
      message(STATUS "lib${library}.a is missing: ${target} stays a shared library")
      set(CAIP_LINKS_ARCHIVES OFF PARENT_SCOPE)
      return()
    endif()
    list(APPEND archives ${CAIP_ARCHIVE_${library}})
  endforeach()
  list(POP_FRONT archives archive)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} IMPORTED_LOCATION_RELEASE ${archive})
  target_link_libraries(${target} INTERFACE ${archives})
endfunction()

# A program starts in a third of the time when it loads few libraries (docs/adr/0022-programs-load-few-libraries.md). Not
# with sanitizers and fuzzers: their libraries are shared, and libarchive.a links only where unused sections are removed.
if(CAIP_STATIC AND NOT CAIP_SANITIZE AND NOT CAIP_FUZZ)
  set(CAIP_LINKS_ARCHIVES ON)
  caip_archive(NGHTTP2::NGHTTP2 nghttp2)
  caip_archive(protobuf::libprotobuf protobuf)
  caip_archive(RE2::RE2 re2)
  caip_archive(YAML::YAML yaml-cpp)
  caip_archive(SQLite::SQLite3 sqlite3)
  target_link_libraries(SQLite::SQLite3 INTERFACE m)
  caip_archive(OpenSSL::SSL ssl)
  caip_archive(OpenSSL::Crypto crypto)
  caip_archive(ZLIB::ZLIB z)
  caip_archive(LibArchive::LibArchive archive bz2 lzma zstd nettle z)
  foreach(option -static-libstdc++ -static-libgcc -Wl,--gc-sections)
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${option}>)
  endforeach()
endif()

# The short form of relative relocations makes large programs smaller by a twentieth. The C library loads it from version 2.36 on,
# and only with the symbol version GLIBC_ABI_DT_RELR, which GNU's linker writes and mold 1.10 does not.
if(CAIP_LINKS_ARCHIVES AND CMAKE_BUILD_TYPE STREQUAL Release)
  set(caip_short_relocations -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${caip_short_relocations})
  check_cxx_source_runs("
    const char* volatile words[] = {\"yes\", \"no\"};
    int main(int count, char**) { return words[count - 1][0] == 'y' ? 0 : 1; }" CAIP_SHORT_RELOCATIONS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
