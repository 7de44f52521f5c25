#pragma once
// Who changes which study: one at a time for each, so that one that thinks keeps no other waiting.

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace caip::api {

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
