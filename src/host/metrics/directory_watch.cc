#include "host/metrics/directory_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace caip::host {
namespace {

// The same mask for all uses of a directory, because a second call would replace the first mask.
constexpr uint32_t kEventMask =
    IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ONLYDIR | IN_DONT_FOLLOW;
// In one call of Handle. Programs may make events faster than this process handles them.
constexpr int kEventReadsMax = 2;
constexpr size_t kEventReadBytes = size_t{64} << 10;

bool Exists(const Path& path) {
  std::error_code error;
  return std::filesystem::is_directory(std::filesystem::symlink_status(path, error));
}

}  // namespace

bool DirectoryWatch::Add(Number number, const Path& directory, bool deep) {
  if (!inotify_.valid()) inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify_.valid()) return false;
  places_[number] = {directory, deep};
  return Settle(number, false);
}

void DirectoryWatch::Remove(Number number) {
  Unwatch(number, false);
  places_.erase(number);
  dirty_.erase(number);
  unsettled_.erase(number);
}

// Watches the place, or the nearest existing directory above it.
bool DirectoryWatch::Settle(Number number, bool tell) {
  const Place place = places_.at(number);
  Unwatch(number, true);
  for (Path above = place.directory; !Exists(place.directory);) {
    while (!Exists(above) && above.has_relative_path()) above = above.parent_path();
    if (!Watch({number, above, true})) return false;
    // Looks for files that appeared before the watch existed.
    Path next = place.directory;
    while (next.parent_path() != above && next.has_relative_path()) next = next.parent_path();
    if (!Exists(next)) return true;
    Unwatch(number, true);
    above = place.directory;
    tell = true;
  }
  return Descend(number, place.directory, tell);
}

// Creates the watch before it lists the directory, so that no file is missed.
bool DirectoryWatch::Descend(Number number, const Path& directory, bool tell) {
  if (!Watch({number, directory, false})) return !Exists(directory);
  bool all = true;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(entry->symlink_status(ignored))) {
      if (places_.at(number).deep) all = Descend(number, entry->path(), tell) && all;
    } else if (tell) {
      dirty_[number].insert(entry->path());
    }
  }
  return all;
}

bool DirectoryWatch::Watch(const Use& use) {
  const int watch = ::inotify_add_watch(inotify_.get(), use.directory.c_str(), kEventMask);
  if (watch < 0) return false;
  std::vector<Use>& uses = uses_[watch];
  const bool is_known = std::any_of(uses.begin(), uses.end(), [&](const Use& other) {
    return other.number == use.number && other.is_ancestor == use.is_ancestor;
  });
  if (!is_known) uses.push_back(use);
  return true;
}

void DirectoryWatch::Unwatch(Number number, bool ancestors_only) {
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    std::erase_if(entry->second, [&](const Use& use) {
      return use.number == number && (use.is_ancestor || !ancestors_only);
    });
    if (!entry->second.empty()) {
      ++entry;
      continue;
    }
    ::inotify_rm_watch(inotify_.get(), entry->first);
    entry = uses_.erase(entry);
  }
}

void DirectoryWatch::Handle() {
  alignas(struct inotify_event) std::array<char, kEventReadBytes> buffer{};
  for (int reads = 0; reads < kEventReadsMax; ++reads) {
    const ssize_t got = ::read(inotify_.get(), buffer.data(), buffer.size());
    for (ssize_t at = 0; at < got;) {
      struct inotify_event event {};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      HandleEvent(event.wd, event.mask, event.len > 0 ? std::string(name) : "");
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  for (const Number number : std::exchange(unsettled_, {})) {
    if (places_.contains(number)) Settle(number, true);
  }
  for (const auto& [number, files] : std::exchange(dirty_, {})) {
    const bool anything = files.contains(Path());
    for (const Path& file : anything ? std::set<Path>{Path()} : files) changed_(number, file);
  }
}

void DirectoryWatch::HandleEvent(int watch, uint32_t what, const std::string& name) {
  if (what & IN_Q_OVERFLOW) {
    for (const auto& [number, place] : places_) {
      dirty_[number].insert(Path());
      unsettled_.insert(number);
    }
    return;
  }
  const auto found = uses_.find(watch);
  if (found == uses_.end()) return;
  const std::vector<Use> uses = found->second;
  if (what & IN_IGNORED) uses_.erase(found);  // the directory was deleted
  for (const Use& use : uses) {
    const Place& place = places_.at(use.number);
    const bool came = (what & (IN_CREATE | IN_MOVED_TO)) != 0;
    if (what & IN_IGNORED) {
      if (use.is_ancestor || use.directory == place.directory) unsettled_.insert(use.number);
    } else if (use.is_ancestor) {
      if (what & IN_ISDIR) unsettled_.insert(use.number);
    } else if (!(what & IN_ISDIR)) {
      dirty_[use.number].insert(use.directory / name);
    } else if (came && place.deep) {
      Descend(use.number, use.directory / name, true);
    }
  }
}

}  // namespace caip::host
