target_compile_definitions(caip_app PUBLIC CAIP_VERSION="${PROJECT_VERSION}")
