# Warnings are errors, for our code only.
add_library(caip_warnings INTERFACE)
target_compile_options(caip_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # A false alarm of g++ 12 on concatenated strings (gcc.gnu.org/PR105651).
  target_compile_options(caip_warnings INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CAIP_UNITY)
  # In a unity build g++ takes a .cc file for a header, whose types may not use unnamed namespaces.
  target_compile_options(caip_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(CAIP_SANITIZE)
  add_compile_options(-fsanitize=${CAIP_SANITIZE} -fno-omit-frame-pointer)
  if(CAIP_SANITIZE MATCHES undefined)
    # A finding ends the program, so that the test fails. The check of virtual tables reads memory through a pipe: where a
    # test has used up all descriptors, it finds every object wrong.
    add_compile_options(-fno-sanitize-recover=all -fsanitize-recover=vptr)
  endif()
  add_link_options(-fsanitize=${CAIP_SANITIZE})
  add_compile_options(-Wno-maybe-uninitialized)  # g++ 12 suspects std::regex under a sanitizer
  if(CAIP_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)  # atomic_thread_fence inside Boost
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ collects its garbage less often: a sixth of the time for a third more memory (at most 1.6 GB).
  add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:--param ggc-min-heapsize=524288>")
endif()
find_program(CAIP_CCACHE ccache)
if(CAIP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Two clones of one tree share what was compiled: neither's own path is part of the key. ccache
  # handles precompiled headers only when it may ignore their times and unused macros.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CAIP_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
find_program(CAIP_MOLD mold)
if(CAIP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
if(CAIP_FUZZ)  # clang; its warnings are not what we build by
  if(NOT CAIP_FUZZ_FAST)
    set(caip_fuzz_sanitizer ,address)
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link${caip_fuzz_sanitizer}>
                      -fno-omit-frame-pointer)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link${caip_fuzz_sanitizer}>)
  target_compile_options(caip_warnings INTERFACE -Wno-error)
endif()
