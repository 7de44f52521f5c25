# Replicas are started through caip-launcher. A program that uses this module looks for it beside itself.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/host/launcher/main.cc)
  add_dependencies(caip_host caip-launcher)
endif()
# Loaded into watched replicas if the kernel cannot hold their calls. The program looks for it there, too.
if(NOT TARGET caip-watch)
  add_library(caip-watch MODULE ${CMAKE_CURRENT_LIST_DIR}/watch/preload/watch.c
              ${CMAKE_CURRENT_LIST_DIR}/watch/preload/watch_contents.c
              ${CMAKE_CURRENT_LIST_DIR}/watch/preload/watch_attributes.c
              ${CMAKE_CURRENT_LIST_DIR}/watch/preload/host_name.c
              ${CMAKE_CURRENT_LIST_DIR}/watch/preload/sleep.c)
  set_target_properties(caip-watch PROPERTIES C_VISIBILITY_PRESET hidden
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(caip-watch PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(caip-watch PRIVATE -Wall -Wextra -fno-sanitize=all)
  target_link_options(caip-watch PRIVATE -fno-sanitize=all)  # it is loaded into programs of users
  target_link_libraries(caip-watch PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(caip_host caip-watch)
endif()
# Becomes a command on a host of another name. The program looks for it there, too.
if(NOT TARGET caip-other-host)
  add_executable(caip-other-host ${CMAKE_CURRENT_LIST_DIR}/watch/other_host/main.c)
  set_target_properties(caip-other-host PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(caip-other-host PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(caip-other-host PRIVATE -Wall -Wextra -fno-sanitize=all)
  target_link_options(caip-other-host PRIVATE -fno-sanitize=all)
  add_dependencies(caip_host caip-other-host)
endif()
# python/sitecustomize.py is compiled in as the body of PythonHookText().
set(python_hook ${CMAKE_CURRENT_LIST_DIR}/python/sitecustomize.py)
set(python_hook_embedded ${CMAKE_BINARY_DIR}/generated/host/python_hook_text.cc)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${python_hook})
file(READ ${python_hook} text)
string(CONCAT python_hook_source "// Made by src/host/module.cmake.\n"
       "#include \"host/python/python_hook.h\"\n\n"
       "std::string_view caip::host::PythonHookText() { return R\"~python~(${text})~python~\"; }\n")
file(CONFIGURE OUTPUT ${python_hook_embedded} CONTENT "${python_hook_source}" @ONLY)
target_sources(caip_host PRIVATE ${python_hook_embedded})
