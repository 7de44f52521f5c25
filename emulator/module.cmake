target_compile_definitions(caip_emulator PUBLIC CAIP_VERSION="${PROJECT_VERSION}")
