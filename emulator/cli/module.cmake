# init/templates/KIND/PATH are compiled in: the texts that `caip init` writes, in the order of their names.
set(init_folder ${CMAKE_CURRENT_LIST_DIR}/init/templates)
file(GLOB_RECURSE init_files CONFIGURE_DEPENDS RELATIVE ${init_folder} ${init_folder}/*)
list(SORT init_files)
string(CONCAT init_source "// Made by emulator/cli/module.cmake.\n"
       "#include \"emulator/cli/init/templates.h\"\n\nnamespace caip::cli {\n\n"
       "const std::vector<TemplateFile>& TemplateFiles() {\n"
       "  static const std::vector<TemplateFile> files = {\n")
foreach(file ${init_files})
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${init_folder}/${file})
  file(READ ${init_folder}/${file} init_text)
  string(FIND ${file} "/" slash)
  string(SUBSTRING ${file} 0 ${slash} init_kind)
  math(EXPR begin "${slash} + 1")
  string(SUBSTRING ${file} ${begin} -1 init_path)
  string(REPLACE "dot_github" ".github" init_path ${init_path})
  string(APPEND init_source "      {\"${init_kind}\", \"${init_path}\", R\"~file~(${init_text})~file~\"},\n")
endforeach()
string(APPEND init_source "  };\n  return files;\n}\n\n}  // namespace caip::cli\n")
set(init_embedded ${CMAKE_BINARY_DIR}/generated/cli/templates.cc)
file(CONFIGURE OUTPUT ${init_embedded} CONTENT "${init_source}" @ONLY)
target_sources(caip_cli PRIVATE ${init_embedded})
target_compile_definitions(caip_cli PRIVATE CAIP_BUILD_TYPE="$<CONFIG>")
