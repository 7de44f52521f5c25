# letters.json is compiled in: the body of `std::string_view embedded::Letters()`.
set(google_data ${CMAKE_CURRENT_LIST_DIR}/letters.json)
set(google_embedded ${CMAKE_BINARY_DIR}/generated/google/embedded_letters.cc)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${google_data})
file(READ ${google_data} text)
string(CONCAT google_embedded_text "// Made by src/google/module.cmake.\n"
       "#include <string_view>\n\n"
       "namespace caip::google::embedded {\nstd::string_view Letters();\n}\n"
       "std::string_view caip::google::embedded::Letters() { return R\"~json~(${text})~json~\"; }\n")
file(CONFIGURE OUTPUT ${google_embedded} CONTENT "${google_embedded_text}" @ONLY)
target_sources(caip_google PRIVATE ${google_embedded})
