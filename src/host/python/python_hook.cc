#include "host/python/python_hook.h"

#include <algorithm>

#include "base/hash.h"
#include "host/process/child_process.h"
#include "host/python/python_errors.h"

namespace caip::host {

namespace {

namespace fs = std::filesystem;

constexpr size_t kHookDigestLength = 16;
constexpr const char* kHookFile = "sitecustomize.py";
constexpr std::chrono::seconds kHookCompilationMax{5};

// The files are __pycache__/sitecustomize.cpython-311.pyc or .pypy310.pyc (PEP 3147).
bool IsCompiled(const Path& directory, const PythonMinor& minor) {
  const std::string end = std::to_string(minor.major) + std::to_string(minor.minor) + ".pyc";
  std::error_code error;
  const auto written = fs::last_write_time(directory / kHookFile, error);
  const fs::directory_iterator files(directory / "__pycache__", error);
  return std::any_of(begin(files), fs::directory_iterator(), [&](const auto& file) {
    std::error_code absent;
    return file.path().string().ends_with(end) && file.last_write_time(absent) >= written;
  });
}

}  // namespace

Result<Path> InstallPythonHook(const Path& state) {
  const std::string_view text = PythonHookText();
  const Path directory = state / "python" / Sha256Hex(text).substr(0, kHookDigestLength);
  const Path file = directory / kHookFile;
  if (const Result<std::string> present = ReadFile(file); present.ok() && *present == text) {
    return directory;
  }
  if (Status made = MakeDirectories(directory); !made.ok()) {
    return errors::PythonHookUnwritable(made.error());
  }
  if (Status written = WriteFileDurably(file, text); !written.ok()) {
    return errors::PythonHookUnwritable(written.error());
  }
  return directory;
}

void CompilePythonHook(const Path& directory, const Interpreter& interpreter) {
  if (IsCompiled(directory, interpreter.minor)) return;
  const std::string file = directory / kHookFile;
  static_cast<void>(CaptureTool({.argv = {interpreter.executable, "-I", "-m", "py_compile", file},
                                 .environment = {},
                                 .timeout = kHookCompilationMax}));
}

}  // namespace caip::host
