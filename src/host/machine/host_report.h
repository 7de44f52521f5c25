#pragma once
// What this host offers, for `caip doctor`: each thing, whether it is there, and what it costs when
// it is not.

#include <string>
#include <vector>

#include "base/files.h"
#include "host/devices/devices.h"
#include "host/python/interpreters.h"

namespace caip::host {

struct HostFact {
  enum class Found { kYes, kPartly, kNo } found = Found::kNo;
  std::string name;               // "python 3.7"
  std::string detail;             // what was found, or why not
  std::string cost_when_missing;  // what does not work without it; "" when nothing is missing
};

struct HostReportOptions {
  Path state;        // free space is looked up there
  std::string path;  // $PATH
  DevicePlaces devices;
  Path launcher = {};  // caip-launcher; "": the one beside the running program
  std::vector<std::string> pythons = {"3.7"};  // versions that runtimes ask for
};

/// Looks, without changing anything: starts tools only to ask their version, and a few processes
/// that end at once. The looks go on side by side; the slowest is given up after a second.
std::vector<HostFact> ReportHost(const HostReportOptions& options, Interpreters& interpreters);

/// nullopt when a process could be put into new namespaces of these kinds (CLONE_NEW*), else why
/// not. For ordinary users CLONE_NEWUSER is needed with any other.
std::optional<std::string> TryNamespaces(int flags);

}  // namespace caip::host
