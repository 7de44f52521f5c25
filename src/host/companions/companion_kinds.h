#pragma once
// The names of the Cloud SDK's emulators, and how each is started. Private to companions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

struct CompanionStart {
  Path program;
  Path data;  // a directory of its own
  std::string project;
  std::string address;  // of this host, where it listens and replicas find it
  uint16_t port = 0;
};

struct CompanionKind {
  std::string_view name;
  std::string_view below_root;  // its program below the SDK's root
  std::string_view on_path;     // or by this name on PATH
  bool speaks_http = false;     // answers GET / when it is well; the others gRPC only
  std::vector<std::string> (*command)(const CompanionStart&);
  engine::Environment (*variables)(const CompanionStart&);
};

std::span<const CompanionKind> CompanionKinds();
const CompanionKind* CompanionNamed(std::string_view name);

}  // namespace caip::host
