# Compiles the descriptions of services, which schema.cc reads when the program runs.
set(grpc_protos ${CMAKE_SOURCE_DIR}/src/grpc/protos)
set(grpc_descriptor_set ${CMAKE_BINARY_DIR}/generated/grpc/descriptors.pb)
set(grpc_services
  google/cloud/aiplatform/v1/job_service.proto
  google/cloud/aiplatform/v1/pipeline_service.proto
  google/cloud/audit/audit_log.proto  # of log entries
  google/logging/v2/logging.proto
  google/logging/v2/logging_config.proto
  google/logging/v2/logging_metrics.proto
  google/longrunning/operations.proto
  google/rpc/error_details.proto  # of errors
)
file(GLOB_RECURSE grpc_files CONFIGURE_DEPENDS ${grpc_protos}/*.proto)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/grpc)
add_custom_command(OUTPUT ${grpc_descriptor_set}
  COMMAND protobuf::protoc --proto_path=${grpc_protos} --include_imports
          --descriptor_set_out=${grpc_descriptor_set} ${grpc_services}
  DEPENDS ${grpc_files} COMMENT "Compiling the descriptions of gRPC services" VERBATIM)
add_custom_target(caip_grpc_descriptors DEPENDS ${grpc_descriptor_set})
add_dependencies(caip_grpc caip_grpc_descriptors)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/grpc/descriptors.cc PROPERTIES
  OBJECT_DEPENDS ${grpc_descriptor_set} COMPILE_DEFINITIONS CAIP_DESCRIPTOR_SET="${grpc_descriptor_set}"
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
# protobuf's headers compile slowly, and no other file of the module waits for them.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/grpc/schema.cc PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON)
