#pragma once
// Reports which files below a directory change, through inotify instead of polling. A directory may
// appear and vanish at any time.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace caip::host {

/// Watches directories. Each watched place has a number, which the caller chooses. One thread.
class DirectoryWatch {
 public:
  using Number = uint64_t;
  /// Called when a file was written, closed or moved to its place, or is in a directory that has
  /// just appeared. An empty path: events were lost, so any file may have changed.
  using Changed = std::function<void(Number number, const Path& file)>;

  explicit DirectoryWatch(Changed changed) : changed_(std::move(changed)) {}

  /// Readable when Handle() has events to read; -1 before the first Add, and if the kernel offers
  /// no inotify instance.
  int descriptor() const { return inotify_.get(); }
  /// Watches the files in `directory` and, if `deep`, in all directories below. The directory need
  /// not exist yet. False: the kernel offers no inotify instance, or its limit
  /// (fs.inotify.max_user_watches) is reached, so some changes are not reported.
  bool Add(Number number, const Path& directory, bool deep);
  void Remove(Number number);
  /// Reads a bounded number of events and reports each changed file once. The descriptor stays
  /// readable if there are more.
  void Handle();

 private:
  struct Place {
    Path directory;
    bool deep = false;
  };
  /// A place for which a directory is watched. One watch of the kernel can serve several places.
  struct Use {
    Number number = 0;
    Path directory;
    bool is_ancestor = false;  // watched until the place itself appears
  };
  bool Settle(Number number, bool tell);
  bool Descend(Number number, const Path& directory, bool tell);
  bool Watch(const Use& use);
  void Unwatch(Number number, bool ancestors_only);
  void HandleEvent(int watch, uint32_t what, const std::string& name);

  Changed changed_;
  Fd inotify_;
  std::map<Number, Place> places_;
  std::map<int, std::vector<Use>> uses_;  // by the kernel's number of the watch
  std::map<Number, std::set<Path>> dirty_;
  std::set<Number> unsettled_;
};

}  // namespace caip::host
