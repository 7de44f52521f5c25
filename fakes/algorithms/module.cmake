# caip_algorithms/*.py are compiled in: the body of PackageFiles().
file(GLOB algorithm_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/caip_algorithms/*.py)
list(SORT algorithm_files)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${algorithm_files})
set(algorithm_rows)
foreach(file ${algorithm_files})
  file(READ ${file} text)
  cmake_path(GET file FILENAME name)
  string(APPEND algorithm_rows "      {\"${name}\", R\"~python~(${text})~python~\"},\n")
endforeach()
string(CONCAT algorithm_source "// Made by fakes/algorithms/module.cmake.\n"
       "#include \"fakes/algorithms/algorithm_files.h\"\n\n"
       "const std::vector<caip::algorithms::PackageFile>& caip::algorithms::PackageFiles() {\n"
       "  static const auto* const files = new std::vector<PackageFile>{\n"
       "${algorithm_rows}  };\n  return *files;\n}\n")
set(algorithm_embedded ${CMAKE_BINARY_DIR}/generated/algorithms/package_files.cc)
file(CONFIGURE OUTPUT ${algorithm_embedded} CONTENT "${algorithm_source}" @ONLY)
target_sources(caip_algorithms PRIVATE ${algorithm_embedded})
