# linux/tcp.h, which it includes, and netinet/tcp.h, which other files do, define the same names.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/transport/socket.cc PROPERTIES
                            SKIP_UNITY_BUILD_INCLUSION ON)
