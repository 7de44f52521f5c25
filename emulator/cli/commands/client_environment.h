#pragma once
// What points Google's clients at an emulator: variables, and the files that some of them name
// (docs/service/clients.md, sections 1 and 6; docs/clients.md says what each is for).

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct ClientFacts {
  std::string base_url;  // "http://127.0.0.1:2247"
  std::string project;
  Path state;
  bool tls = false;      // also those for clients that insist on https
  std::string no_proxy;  // with tls: what the shell reaches without a proxy already
};

/// In a fixed order; names occur once.
Variables ClientVariables(const ClientFacts& facts);

/// A private gcloud configuration and two boto files for gsutil, below <state>/gcloud.
Status WriteClientFiles(const ClientFacts& facts);

/// Lines for a hosts file, and in comments what to start and set with them.
std::string HostsLines(const ClientFacts& facts, const std::vector<std::string>& regions);

}  // namespace caip::cli
