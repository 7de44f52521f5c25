#pragma once
// Studies, their trials and their operations, durably: <state>/studies.db. See study_store.cc for
// the schema.

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

/// A resource that is to be there from now on, or (without a body) not any more, with all below it.
struct StudyChange {
  std::string parent;  // "projects/p/locations/l/studies/s"
  std::string name;    // "projects/p/locations/l/studies/s/trials/1"
  std::optional<Json> body;
};

/// Any thread.
class StudyStore {
 public:
  /// Makes the file if there is none. kDataLoss: it is no store of ours, or a newer caip's.
  static Result<std::unique_ptr<StudyStore>> Open(const Path& file);

  /// nullopt: there is none of that name.
  Result<std::optional<Json>> Get(const std::string& name) const;
  /// The children of `parent` whose names begin with `prefix`, in the order of their making.
  Result<std::vector<Json>> Below(const std::string& parent, const std::string& prefix) const;
  /// All of them or none; a kill -9 or a power cut later they are still there.
  Status Apply(const std::vector<StudyChange>& changes);

 private:
  explicit StudyStore(const Path& file);
  Status Prepare();
  Status Put(const StudyChange& change);
  Status Remove(const std::string& name);

  mutable std::mutex mutex_;  // of the connection and its statements
  SqliteDatabase db_;
  mutable SqliteStatement get_;
  mutable SqliteStatement below_;
  SqliteStatement put_;
  SqliteStatement remove_;
};

/// Any thread.
class StudyLocks {
 public:
  /// The study is the holder's for as long as this lives.
  class Held {
   public:
    Held(StudyLocks& locks, const std::string& study);  // waits for who has it
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
  std::set<std::string> held_;  // by their whole names
};

}  // namespace caip::api
