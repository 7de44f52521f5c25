target_compile_definitions(caip_emulator PUBLIC CAIP_VERSION="${PROJECT_VERSION}")
# api/discovery/descriptions/*.txt are compiled in: the bodies of MlDescriptionText() and its like.
foreach(pair Ml=ml_v1 Storage=storage_v1 Logging=logging_v2)
  string(REGEX REPLACE "=.*" "" api_name ${pair})
  string(REGEX REPLACE ".*=" "" api ${pair})
  set(description ${CMAKE_CURRENT_LIST_DIR}/api/discovery/descriptions/${api}.txt)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${description})
  file(READ ${description} description_text)
  string(CONCAT description_source "// Made by emulator/module.cmake.\n"
         "#include \"emulator/api/discovery/api_description.h\"\n\n"
         "std::string_view caip::api::${api_name}DescriptionText() {\n"
         "  return R\"~api~(${description_text})~api~\";\n}\n")
  set(description_embedded ${CMAKE_BINARY_DIR}/generated/api/${api}.cc)
  file(CONFIGURE OUTPUT ${description_embedded} CONTENT "${description_source}" @ONLY)
  target_sources(caip_emulator PRIVATE ${description_embedded})
endforeach()
# check/python/look_at_packages.py is compiled in: the body of LookAtPackagesText().
set(look ${CMAKE_CURRENT_LIST_DIR}/check/python/look_at_packages.py)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${look})
file(READ ${look} look_text)
string(CONCAT look_source "// Made by emulator/module.cmake.\n"
       "#include \"emulator/check/package_look.h\"\n\n"
       "std::string_view caip::play::LookAtPackagesText() { return R\"~python~(${look_text})~python~\"; }\n")
set(look_embedded ${CMAKE_BINARY_DIR}/generated/check/look_at_packages.cc)
file(CONFIGURE OUTPUT ${look_embedded} CONTENT "${look_source}" @ONLY)
target_sources(caip_emulator PRIVATE ${look_embedded})
