# `cmake --install build/release --prefix /opt/caip`: the program, its helpers, and what others build and run with it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(helpers ${CMAKE_INSTALL_LIBEXECDIR}/caip)
set(shared ${CMAKE_INSTALL_DATADIR}/caip)
# A package may bring libraries along in lib/caip (scripts/package). They find each other by the program's RPATH, which
# counts for the libraries of libraries, unlike RUNPATH.
set_target_properties(caip PROPERTIES INSTALL_RPATH $ORIGIN/../lib/caip)
set_target_properties(caip-nat caip-conform PROPERTIES INSTALL_RPATH $ORIGIN/../../lib/caip)
foreach(program caip caip-nat caip-conform)
  set_target_properties(${program} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags
                      $<$<BOOL:${CAIP_SHORT_RELOCATIONS}>:${caip_short_relocations}>)
endforeach()
install(TARGETS caip)
install(TARGETS caip-launcher caip-nat caip-nvidia-smi caip-other-host caip-conform RUNTIME DESTINATION ${helpers})
install(TARGETS caip-watch caip-nvml LIBRARY DESTINATION ${helpers})
install(FILES conformance/jobs.yaml DESTINATION ${shared}/conformance)
install(DIRECTORY conformance/cases conformance/rules conformance/targets conformance/probe
        DESTINATION ${shared}/conformance FILES_MATCHING PATTERN "*.yaml" PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES scenarios/schema.json RENAME scenario.schema.json DESTINATION ${shared}/schemas)
install(FILES docs/check-report.schema.json docs/explore-report.schema.json docs/conformance-report.schema.json
        DESTINATION ${shared}/schemas)
install(FILES tests/fixtures/caip_pytest.py DESTINATION ${shared}/python)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.yml")

# Completion scripts and manual pages, made by the program itself.
set(completions ${CMAKE_BINARY_DIR}/completions)
set(manual ${CMAKE_BINARY_DIR}/man1)
install(CODE "
  file(REMOVE_RECURSE \"${manual}\")
  execute_process(COMMAND \"$<TARGET_FILE:caip>\" help --man \"${manual}\" COMMAND_ERROR_IS_FATAL ANY)
  file(MAKE_DIRECTORY \"${completions}\")
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:caip>\" completion \${shell}
                    OUTPUT_FILE \"${completions}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completions}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME caip)
install(FILES ${completions}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _caip)
install(FILES ${completions}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME caip.fish)

# `find_package(caip)` for tests with the GoogleTest fixture: the target caip::gtest, and CAIP_PROGRAM.
add_library(caip_gtest INTERFACE)
set_target_properties(caip_gtest PROPERTIES EXPORT_NAME gtest)
target_compile_features(caip_gtest INTERFACE cxx_std_17)
target_include_directories(caip_gtest INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(caip_gtest INTERFACE GTest::gtest)
install(FILES tests/fixtures/caip_gtest.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS caip_gtest EXPORT caip)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/caip)
install(EXPORT caip NAMESPACE caip:: FILE caipTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/caipConfig.cmake.in ${CMAKE_BINARY_DIR}/caipConfig.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caipConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/caipConfig.cmake ${CMAKE_BINARY_DIR}/caipConfigVersion.cmake DESTINATION ${package})
