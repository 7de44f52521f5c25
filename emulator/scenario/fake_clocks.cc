#include "emulator/scenario/fake_clocks.h"

#include <chrono>

#include "host/process/child_process.h"
#include "host/watch/call_source.h"

namespace caip::scenario {

std::optional<Path> FindFakeTimeLibrary() {
  // Debian's paths, by architecture, then the paths of other distributions.
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

namespace {

// Fakes the wall clock, but not the monotonic clock. Our library comes first: see preload/sleep.c.
void AddFakeTime(const Path& library, const Path& file, engine::Environment& environment) {
  const std::string preload = host::OwnPreloadLibrary().string() + ":" + library.string();
  environment.emplace_back("LD_PRELOAD", preload);
  environment.emplace_back("FAKETIME_TIMESTAMP_FILE", file.string());
  environment.emplace_back("FAKETIME_NO_CACHE", "1");
  environment.emplace_back("FAKETIME_DONT_FAKE_MONOTONIC", "1");
}

// Some versions of libfaketime break sleeping, which would kill every trainer.
std::string TrySleeping(const Path& library) {
  const auto scratch = TemporaryDirectory::Make("caip-clock-");
  if (!scratch.ok()) return scratch.error().message;
  const Path offset = scratch->path() / "offset";
  host::Tool sleeper;
  sleeper.argv = {"python3", "-c", "import time; time.sleep(0.001); print(time.time() > 4e9)"};
  sleeper.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  sleeper.timeout = std::chrono::seconds(20);
  AddFakeTime(library, offset, sleeper.environment);
  if (!WriteFile(offset, "+3000000000\n").ok()) return "no temporary file can be made";
  const auto slept = host::CaptureTool(std::move(sleeper));
  if (!slept.ok()) return "";  // no Python to try it with
  if (!slept->result.ok()) return "with libfaketime, programs cannot sleep: " + slept->err;
  return slept->out.starts_with("True") ? "" : "libfaketime does not change the clock";
}

}  // namespace

std::string DescribeMissingFakeTime() {
  const auto library = FindFakeTimeLibrary();
  if (!library) return "libfaketime is not installed (Debian: apt install faketime)";
  static const std::string missing = TrySleeping(*library);
  return missing;
}

void FakeClocks::Give(const std::string& replica, engine::ReplicaLaunch& launch) {
  const auto library = FindFakeTimeLibrary();
  if (!library) return;
  {
    const std::lock_guard lock(mutex_);
    offsets_[replica] = Duration(0);
    (void)Write(replica);
  }
  std::erase_if(launch.environment,
                [](const auto& variable) { return variable.first == "LD_PRELOAD"; });
  AddFakeTime(*library, directory_ / replica, launch.environment);
  launch.needs.push_back(directory_.string());  // a step replaces the file
}

Status FakeClocks::Step(const std::string& replica, Duration by) {
  const std::lock_guard lock(mutex_);
  offsets_[replica] += by;
  return Write(replica);
}

// Mutex held. Writes "+3600.000000": the seconds to add to the host's time.
Status FakeClocks::Write(const std::string& replica) {
  // a trial's replica is in a folder: master-0/2
  RETURN_IF_ERROR(MakeDirectories((directory_ / replica).parent_path()));
  const double seconds = std::chrono::duration<double>(offsets_[replica]).count();
  std::string text = std::to_string(seconds);
  if (seconds >= 0) text.insert(0, "+");
  return WriteFile(directory_ / replica, text + "\n");
}

}  // namespace caip::scenario
