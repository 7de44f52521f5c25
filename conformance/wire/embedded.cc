#include "conformance/wire/embedded.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/problems.h"
#include "conformance/wire/pause.h"

namespace conform {
namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr int kLooks = 3000;

std::string TextOfEmbedded(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Reads "... serves AI Platform Training at http://127.0.0.1:1234\n".
std::string UrlIn(const std::string& text) {
  const std::string mark = " at http://";
  const size_t at = text.find(mark);
  const size_t end = at == std::string::npos ? at : text.find('\n', at);
  return end == std::string::npos ? "" : text.substr(at + 4, end - at - 4);
}

}  // namespace

Result<Embedded> StartEmbedded(const std::string& caip, const std::string& scratch,
                               const nlohmann::json& config) {
  std::filesystem::create_directories(scratch);
  std::ofstream(scratch + "/emulator.yaml") << config.dump(1);  // JSON is valid YAML
  const std::string log = scratch + "/emulator.log";
  Program program{{caip, "serve", "--port", "0", "--state", scratch + "/state", "--emulator-config",
                   scratch + "/emulator.yaml", "--access-log", "off"},
                  OwnEnvironment(),
                  ""};
  Result<Companion> started = Companion::Start(program, log);
  if (!started.ok()) return started.problem();
  Embedded embedded{"", std::make_unique<Companion>(std::move(started).value())};
  for (int i = 0; i < kLooks && embedded.url.empty(); ++i) {
    if (!embedded.server->alive()) break;
    Pause(kLook);
    embedded.url = UrlIn(TextOfEmbedded(log));
  }
  if (embedded.url.empty()) return problems::EmulatorNotStarted(caip, TextOfEmbedded(log));
  return embedded;
}

}  // namespace conform
