#pragma once
// The variables that point Google's clients at an emulator, the files that some of them name, and
// the text of the variables for shells and tools (docs/service/clients.md, sections 1 and 6).

#include <optional>
#include <string>
#include <string_view>
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
  bool tls = false;      // also the variables for clients that use only https
  std::string no_proxy;  // with tls: the hosts that the shell already reaches without a proxy
  /// For clients that need a token and do not see the state directory: those in containers, on
  /// other hosts, and of other users; else "".
  std::string token = {};
};

/// The variables in a fixed order. Each name occurs once. A token is the password of the URLs,
/// because most clients send no token to an emulator.
Variables ClientVariables(const ClientFacts& facts);

/// Writes a private gcloud configuration and two boto files for gsutil, below <state>/gcloud.
Status WriteClientFiles(const ClientFacts& facts);

/// Lines for a hosts file, with comments that name the flags and variables to use with them.
std::string HostsLines(const ClientFacts& facts, const std::vector<std::string>& regions);

using Variables = std::vector<std::pair<std::string, std::string>>;

enum class VariablesFormat { kShell, kDotenv, kJson, kGithub, kPowershell };

/// "shell", "dotenv", "json", "github", "powershell".
std::optional<VariablesFormat> VariablesFormatNamed(std::string_view name);
const std::vector<std::string>& VariablesFormatNames();

/// The text that sets the variables. github: lines for the file that $GITHUB_ENV names.
std::string SetText(const Variables& variables, VariablesFormat format);
/// The text that unsets the variables. dotenv and github can only make them empty; json makes them
/// null.
std::string UnsetText(const Variables& variables, VariablesFormat format);

}  // namespace caip::cli
