#pragma once
// One line of a run's event list: something that a replica did or suffered, or that the service
// decided. Everything but `time` is the same in two runs of one scenario with one seed.

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace caip::harness {

struct Happening {
  enum class Kind {
    kState,
    kStart,
    kExit,
    kStorage,
    kLog,
    kStep,
    kMetric,
    kFault,
    kLive,
    kPrepare,
    kApi
  };

  Kind kind = Kind::kState;
  int64_t number = 0;        // from 1, in the order of the list
  Instant time{};            // the service's clock
  std::string replica = {};  // "master-0"; "" of the job itself
  int boot = 0;              // of the replica, from 1

  std::string text = {};    // state; log message; name of the fault; metric tag; method
  std::string detail = {};  // kFault: the occasion, in words; kLog: severity; kExit: what took it;
                            // kStorage: where a copy or move comes from
  // kStorage
  std::string op = {};      // create overwrite copy move delete read list; write close rename
  std::string object = {};  // "bucket/path", of kList the prefix
  uint64_t bytes = 0;
  bool failed = false;
  // kStep and kMetric
  int64_t step = 0;
  Json record = {};  // what the trainer said
  // kExit
  int exit_code = 0;
  int signal = 0;
  // kStart
  bool fresh_disk = true;
};

/// The line's object; `time` is left out where it is not wanted.
Json ToJson(const Happening& happening, bool with_time = true);
Result<Happening> HappeningFromJson(const Json& json);

/// "create job/out/ckpt-10/weights by master-0": for reports.
std::string Describe(const Happening& happening);

/// "master-0" of a task name "master-replica-0", and back. Other words are left as they are.
std::string ReplicaName(std::string task);
std::string TaskNameOf(std::string replica);

}  // namespace caip::harness
