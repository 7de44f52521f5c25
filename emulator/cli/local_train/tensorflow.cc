#include "emulator/cli/local_train/tensorflow.h"

#include <sys/stat.h>

#include <cstdlib>

#include "base/encoding.h"
#include "base/files.h"
#include "base/text.h"
#include "emulator/cli/errors.h"
#include "host/process/child_process.h"

namespace caip::cli {
namespace {

// Where it would be imported from; fails where it is not installed. Imports nothing itself.
constexpr const char* kFind =
    "import importlib.util, sys\n"
    "spec = importlib.util.find_spec('tensorflow')\n"
    "print(spec.origin) if spec and spec.origin else sys.exit(1)";
constexpr const char* kImport = "import tensorflow as tf; print(tf.version.VERSION)";

std::string Ask(const std::string& python, const char* program) {
  host::Tool tool;
  tool.argv = {python, "-c", program};
  tool.environment = host::OwnEnvironment();
  const Result<host::ToolOutput> said = host::CaptureTool(std::move(tool));
  return said.ok() && said->result.ok() ? std::string(Trim(said->out)) : "";
}

Path CacheDirectory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return Path(cache) / "caip" / "tensorflow";
  const char* home = std::getenv("HOME");
  return Path(home ? home : "/tmp") / ".cache" / "caip" / "tensorflow";
}

// One copy of TensorFlow as seen by one Python, until either changes.
std::string CacheName(const std::string& python, const std::string& origin) {
  struct stat interpreter {};
  struct stat package {};
  ::stat(python.c_str(), &interpreter);
  if (::stat(origin.c_str(), &package) != 0) return "";
  return PercentEncoded(python + " " + std::to_string(interpreter.st_mtim.tv_sec) + " " +
                        std::to_string(package.st_mtim.tv_sec) + " " +
                        std::to_string(package.st_ino));
}

}  // namespace

PrimaryName PrimaryNameFor(const std::string& python) {
  const std::string origin = Ask(python, kFind);
  if (origin.empty()) return {"chief", errors::TensorFlowNotImported(python)};
  const std::string name = CacheName(python, origin);
  const bool cached = !name.empty() && name.size() < 200;  // longer names fit no file system
  std::string version;
  if (cached) {
    const Result<std::string> kept = ReadFileUpTo(CacheDirectory() / name, 256);
    if (kept.ok()) version = *kept;
  }
  if (version.empty()) {
    version = Ask(python, kImport);
    if (version.empty()) return {"chief", errors::TensorFlowNotImported(python)};
    if (cached && MakeDirectories(CacheDirectory()).ok()) {
      (void)WriteFile(CacheDirectory() / name, version);  // else it is imported again next time
    }
  }
  if (version.starts_with("1.")) return {"master", ""};
  if (version.starts_with("2.")) return {"chief", ""};
  return {"chief", errors::TensorFlowVersionUnexpected(version)};
}

}  // namespace caip::cli
