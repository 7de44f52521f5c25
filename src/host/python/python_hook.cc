#include "host/python/python_hook.h"

#include "base/hash.h"
#include "host/python/python_errors.h"

namespace caip::host {

constexpr size_t kHookDigestLength = 16;

Result<Path> InstallPythonHook(const Path& state) {
  const std::string_view text = PythonHookText();
  const Path directory = state / "python" / Sha256Hex(text).substr(0, kHookDigestLength);
  const Path file = directory / "sitecustomize.py";
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

}  // namespace caip::host
