#include "emulator/play/fake_clocks.h"

#include <cmath>

namespace caip::play {

std::optional<Path> FakeTimeLibrary() {
  // Debian's places, by architecture; then those of other distributions.
  for (const char* place :
       {"/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib64/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1",
        "/usr/local/lib/faketime/libfaketime.so.1"}) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return Path(place);
  }
  return std::nullopt;
}

void FakeClocks::Give(const std::string& replica, engine::Environment& environment) {
  const auto library = FakeTimeLibrary();
  if (!library) return;
  {
    const std::lock_guard lock(mutex_);
    offsets_[replica] = Duration(0);
    (void)Write(replica);
  }
  std::erase_if(environment, [](const auto& variable) { return variable.first == "LD_PRELOAD"; });
  environment.emplace_back("LD_PRELOAD", library->string());
  environment.emplace_back("FAKETIME_TIMESTAMP_FILE", (directory_ / replica).string());
  environment.emplace_back("FAKETIME_NO_CACHE", "1");
  environment.emplace_back("FAKETIME_DONT_FAKE_MONOTONIC", "1");
}

Status FakeClocks::Step(const std::string& replica, Duration by) {
  const std::lock_guard lock(mutex_);
  offsets_[replica] += by;
  return Write(replica);
}

// Mutex held. "+3600.000000": so many seconds ahead of the host.
Status FakeClocks::Write(const std::string& replica) {
  RETURN_IF_ERROR(MakeDirectories((directory_ / replica).parent_path()));  // of a trial: master-0/2
  const double seconds = std::chrono::duration<double>(offsets_[replica]).count();
  std::string text = std::to_string(seconds);
  if (seconds >= 0) text.insert(0, "+");
  return WriteFile(directory_ / replica, text + "\n");
}

}  // namespace caip::play
