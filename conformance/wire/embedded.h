#pragma once
// `--endpoint embedded`: an emulator on a free port, with its own state directory, for the duration
// of the run.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/result.h"
#include "conformance/wire/child.h"

namespace conform {

/// A running emulator. Ends with the object.
struct Embedded {
  std::string url;
  std::unique_ptr<Companion> server;
};

/// Starts `caip serve` in a folder below `scratch`; `config` is its config.yaml.
Result<Embedded> StartEmbedded(const std::string& caip, const std::string& scratch,
                               const nlohmann::json& config);

}  // namespace conform
