#include "host/python/python_hook.h"

#include <openssl/evp.h>

#include "base/encoding.h"
#include "host/python/python_errors.h"

namespace caip::host {
namespace {

constexpr size_t kDigestBytes = 8;

std::string DigestOf(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_Digest(text.data(), text.size(), digest, nullptr, EVP_sha256(), nullptr);
  return Hex({reinterpret_cast<const char*>(digest), kDigestBytes});
}

}  // namespace

Result<Path> InstallPythonHook(const Path& state) {
  const std::string_view text = PythonHookText();
  const Path directory = state / "python" / DigestOf(text);
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
