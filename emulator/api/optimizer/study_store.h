#pragma once
// The durable store of studies, trials and operations, <state>/studies.db, and the locks of
// studies. See study_store.cc for the schema.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "base/sqlite.h"

namespace caip::api {

/// A resource to write, or (without a body) to delete together with everything below it.
struct StudyChange {
  std::string parent;  // "projects/p/locations/l/studies/s"
  std::string name;    // "projects/p/locations/l/studies/s/trials/1"
  std::optional<Json> body;
};

/// The schema of the file (PRAGMA user_version).
inline constexpr int64_t kStudyStoreVersion = 1;

/// Stores resources by name. Any thread.
class StudyStore {
 public:
  /// Makes the file if it is missing. kInternal: the file cannot be used. kDataLoss: a newer caip
  /// wrote it.
  static Result<std::unique_ptr<StudyStore>> Open(const Path& file);
  /// The same for a file that exists, but it is opened at its first use, which returns the errors.
  static std::unique_ptr<StudyStore> OpenLater(const Path& file);

  /// nullopt: no resource has this name.
  Result<std::optional<Json>> Get(const std::string& name) const;
  /// The children of `parent` whose names begin with `prefix`, in the order of their creation.
  Result<std::vector<Json>> Below(const std::string& parent, const std::string& prefix) const;
  /// Applies all changes or none. They survive a kill -9 and a power failure.
  Status Apply(const std::vector<StudyChange>& changes);

 private:
  explicit StudyStore(const Path& file);
  /// Opens the file unless it is open. The caller holds the mutex.
  Status Opened() const;
  Status Put(const StudyChange& change);
  Status Remove(const std::string& name);

  mutable std::mutex mutex_;  // guards the connection and its statements
  mutable SqliteDatabase db_;
  mutable bool is_open_ = false;
  mutable SqliteStatement get_;
  mutable SqliteStatement below_;
  mutable SqliteStatement put_;
  mutable SqliteStatement remove_;
};

/// Lets one thread at a time change a study, without blocking other studies. Any thread.
class StudyLocks {
 public:
  /// Locks a study for its own lifetime.
  class Held {
   public:
    Held(StudyLocks& locks, const std::string& study);  // waits for the lock
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held();

   private:
    StudyLocks& locks_;
    std::set<std::string>::iterator at_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> held_;  // by their complete names
};

}  // namespace caip::api
