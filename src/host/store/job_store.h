#pragma once
// Jobs in SQLite: <state>/jobs.db. See job_schema.h for the schema.

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"

namespace caip::host {

/// The schema that OpenJobStore writes (PRAGMA user_version).
inline constexpr int64_t kJobStoreVersion = 4;

/// Opens a store on one file, and makes the file if it is missing. kDataLoss: the file is not a job
/// store, or a newer caip made it. Writes come from the engine's thread. Reads come from any
/// thread, at the same time.
///
/// A job that Create accepted survives a power cut. A change that Save accepted survives a kill -9.
/// Measured on ext4 with two busy cores: a Create takes 3.8 ms, a Save 0.08 ms, a synced Save would
/// take 6 ms. After a power cut, a job continues from its last synced state.
Result<std::unique_ptr<engine::JobStore>> OpenJobStore(const Path& file);

/// Whether the store has jobs that have not ended. Any process may ask, also while an emulator
/// makes the store: nothing is written. False if there is no store.
bool HasUnfinishedJobs(const Path& file);

/// A job as a shell's completion needs it.
struct StoredJobName {
  std::string api;  // as in run::Job
  std::string id;
  bool has_ended = false;
};

/// The newest jobs of a project, at most `most`. As HasUnfinishedJobs, any process may ask. Empty
/// if the store cannot be read.
std::vector<StoredJobName> NewestJobNames(const Path& file, const std::string& project,
                                          size_t most);

}  // namespace caip::host
