# Replicas are started through caip-launcher, which is looked for beside the program that uses us.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/host/launcher/main.cc)
  add_dependencies(caip_host caip-launcher)
endif()
