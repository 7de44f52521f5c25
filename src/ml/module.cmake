# catalog/catalog.json is compiled in: the body of `std::string_view embedded::Catalog()`.
set(ml_data ${CMAKE_CURRENT_LIST_DIR}/catalog/catalog.json)
set(ml_embedded ${CMAKE_BINARY_DIR}/generated/ml/embedded_catalog.cc)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ml_data})
file(READ ${ml_data} text)
string(CONCAT ml_embedded_text "// Made by src/ml/module.cmake.\n"
       "#include \"ml/catalog/embedded_catalog.h\"\n\n"
       "std::string_view caip::ml::embedded::Catalog() { return R\"~json~(${text})~json~\"; }\n")
file(CONFIGURE OUTPUT ${ml_embedded} CONTENT "${ml_embedded_text}" @ONLY)
target_sources(caip_ml PRIVATE ${ml_embedded})
# Its tables have the names of those in job_schema.cc.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/schema/study_schema.cc
                            TARGET_DIRECTORY caip_ml PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
