// Any text is a setup.py that caip understands, or one that pip runs. What is plain for a build is
// plain for an installation. A script that starts a program at its end is never plain.

#include "host/python/setup_script.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_plain = caip::host::IsPlainSetup(text);
  const bool installs = caip::host::InstallsWithoutReadingSources(text);
  if (!is_plain && !installs) return 0;
  Require(installs && text.find("setup") != std::string_view::npos);
  const std::string more = std::string(text) + "\nimport subprocess\nsubprocess.run(['true'])\n";
  Require(!caip::host::IsPlainSetup(more));
  Require(!caip::host::InstallsWithoutReadingSources(more));
  return 0;
}
