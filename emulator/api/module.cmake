# discovery/descriptions/*.txt are compiled in: they are the values of MlDescriptionText() and so on.
foreach(pair Ml=ml_v1 Aiplatform=aiplatform_v1 Storage=storage_v1 Logging=logging_v2)
  string(REGEX REPLACE "=.*" "" api_name ${pair})
  string(REGEX REPLACE ".*=" "" api ${pair})
  set(description ${CMAKE_CURRENT_LIST_DIR}/discovery/descriptions/${api}.txt)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${description})
  file(READ ${description} description_text)
  string(CONCAT description_source "// Made by emulator/api/module.cmake.\n"
         "#include \"emulator/api/discovery/api_description.h\"\n\n"
         "std::string_view caip::api::${api_name}DescriptionText() {\n"
         "  return R\"~api~(${description_text})~api~\";\n}\n")
  set(description_embedded ${CMAKE_BINARY_DIR}/generated/api/${api}.cc)
  file(CONFIGURE OUTPUT ${description_embedded} CONTENT "${description_source}" @ONLY)
  target_sources(caip_api PRIVATE ${description_embedded})
endforeach()
