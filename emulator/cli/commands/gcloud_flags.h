#pragma once
// The flags that all commands take.

#include <optional>
#include <string>

#include "client/gcloud_properties.h"

namespace caip::cli {

/// gcloud's flags of every command that have an effect in caip.
struct GcloudFlags : client::GcloudContext {
  std::optional<std::string> format;  // --format json|yaml|table|...; see print/resource_text.h
  std::string verbosity = "warning";  // --verbosity debug|info|warning|error|critical|none
  bool user_output_enabled = true;    // --no-user-output-enabled
};

}  // namespace caip::cli
