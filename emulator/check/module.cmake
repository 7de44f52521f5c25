# python/look_at_packages.py is compiled in: the body of LookAtPackagesText().
set(look ${CMAKE_CURRENT_LIST_DIR}/python/look_at_packages.py)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${look})
file(READ ${look} look_text)
string(CONCAT look_source "// Made by emulator/check/module.cmake.\n"
       "#include \"emulator/check/checking.h\"\n\n"
       "std::string_view caip::check::LookAtPackagesText() { return R\"~python~(${look_text})~python~\"; }\n")
set(look_embedded ${CMAKE_BINARY_DIR}/generated/check/look_at_packages.cc)
file(CONFIGURE OUTPUT ${look_embedded} CONTENT "${look_source}" @ONLY)
target_sources(caip_check PRIVATE ${look_embedded})
