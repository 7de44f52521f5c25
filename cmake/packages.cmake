# Packages of the distribution; nothing is downloaded here. scripts/setup installs them.
file(GLOB unpacked_boost ${CMAKE_SOURCE_DIR}/build/deps/boost-*)
foreach(directory ${unpacked_boost})  # see scripts/setup
  list(PREPEND CMAKE_PREFIX_PATH ${directory}/usr)
endforeach()
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS system filesystem url)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

if(NOT TARGET yaml-cpp::yaml-cpp)  # 0.7 exports the bare name
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# ISA-L ships no CMake package in Debian.
find_path(ISAL_INCLUDE isa-l.h REQUIRED)
find_library(ISAL_LIBRARY isal REQUIRED)
add_library(ISAL::ISAL UNKNOWN IMPORTED)
set_target_properties(ISAL::ISAL PROPERTIES IMPORTED_LOCATION ${ISAL_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${ISAL_INCLUDE})

# RE2 ships none either.
find_path(RE2_INCLUDE re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
add_library(RE2::RE2 UNKNOWN IMPORTED)
set_target_properties(RE2::RE2 PROPERTIES IMPORTED_LOCATION ${RE2_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${RE2_INCLUDE})

# Neither does libslirp.
find_path(SLIRP_INCLUDE slirp/libslirp.h REQUIRED)
find_library(SLIRP_LIBRARY slirp REQUIRED)
add_library(SLIRP::SLIRP UNKNOWN IMPORTED)
set_target_properties(SLIRP::SLIRP PROPERTIES IMPORTED_LOCATION ${SLIRP_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${SLIRP_INCLUDE})
