#pragma once
// Reports which files below a directory change, through inotify instead of polling. A directory may
// appear and vanish at any time.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"

namespace caip::host {

/// One thread. Numbers are the caller's, one for each place that is watched.
class DirectoryWatch {
 public:
  using Number = uint64_t;
  /// A file was written, closed, or moved to its place; or it lay in a directory that has just
  /// come. An empty path: too much has happened, anything may have changed.
  using Changed = std::function<void(Number number, const Path& file)>;

  explicit DirectoryWatch(Changed changed);

  /// Readable when there is something to Handle(); -1 where the kernel has none to give.
  int descriptor() const { return inotify_.get(); }
  /// Files right in `directory`; `deep`: and in all below it. It need not exist yet. False:
  /// the kernel watches no more (fs.inotify.max_user_watches), so some changes are not reported.
  bool Add(Number number, const Path& directory, bool deep);
  void Remove(Number number);
  /// Takes what has happened, and reports each file once, however often it was written.
  void Handle();

 private:
  struct Place {
    Path directory;
    bool deep = false;
  };
  /// Whom a watched directory is watched for; one of the kernel's watches serves many.
  struct Use {
    Number number = 0;
    Path directory;
    bool is_ancestor = false;  // watched until the place itself comes
  };
  bool Settle(Number number, bool tell);
  bool Descend(Number number, const Path& directory, bool tell);
  bool Watch(const Use& use);
  void Unwatch(Number number, bool ancestors_only);
  void Happened(int watch, uint32_t what, const std::string& name);

  Changed changed_;
  Fd inotify_;
  std::map<Number, Place> places_;
  std::map<int, std::vector<Use>> uses_;  // by the kernel's number of the watch
  std::map<Number, std::set<Path>> dirty_;
  std::set<Number> unsettled_;
};

}  // namespace caip::host
