#pragma once
// The capabilities of this host for `caip doctor`: whether each is present, and the consequences if
// it is missing.

#include <string>
#include <vector>

#include "base/files.h"
#include "host/devices/devices.h"
#include "host/python/interpreters.h"

namespace caip::host {

struct HostFact {
  enum class Found { kYes, kPartly, kNo } found = Found::kNo;
  std::string name;               // "python 3.7"
  std::string detail;             // what was found, or why it is missing
  std::string cost_when_missing;  // what does not work without it; "" if it is present
};

struct HostReportOptions {
  Path state;        // its file system is examined; it need not exist
  std::string path;  // $PATH
  DevicePlaces devices;
  Path launcher = {};  // caip-launcher; "": the one beside the running program
  std::vector<std::string> pythons = {"3.7"};  // versions that runtimes require
};

/// Examines the host. Starts tools only to read their versions, and a few processes that end at
/// once. A directory beside the state and a control group are made and removed again. Devices are
/// examined on a second thread.
std::vector<HostFact> ReportHost(const HostReportOptions& options, Interpreters& interpreters);

/// Whether replicas that are processes of this host can have loopback addresses with port 2222.
HostFact ReportLoopback();

/// Tries to put a process into new namespaces of these kinds (CLONE_NEW*). nullopt if it works,
/// else the reason. Ordinary users need CLONE_NEWUSER with any other kind.
std::optional<std::string> TryNamespaces(int flags);

}  // namespace caip::host
