#pragma once
// What an emulator keeps on disk, each with its owner here.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/api/optimizer/study_store.h"
#include "emulator/app/log_adapter.h"
#include "emulator/app/settings/options.h"
#include "emulator/app/storage_adapter.h"
#include "emulator/app/storage_faces.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/logging/book/log_book.h"
#include "fakes/metadata/token_mint.h"
#include "host/store/job_store.h"
#include "host/store/state_directory.h"

namespace caip::app {

class Interference;

/// In the order of their making; nothing is empty once it is open.
struct KeptState {
  std::optional<host::StateDirectory> owner;
  std::unique_ptr<engine::JobStore> jobs;
  std::unique_ptr<api::StudyStore> studies;
  std::unique_ptr<logging::LogBook> book;
  std::unique_ptr<LogAdapter> log;  // `book` as the engine writes to it
  std::unique_ptr<metadata::TokenMint> mint;
  std::unique_ptr<gcs::DirectoryStore> buckets;
  std::unique_ptr<StorageAdapter> storage;    // `buckets` as the engine reads them
  std::unique_ptr<gcs::BucketStore> watched;  // around `buckets`, where somebody interferes
  std::unique_ptr<StorageFaces> faces;        // `buckets` as clients reach them
};

/// `clock` is the service's, `wall` the one that others know; both outlive what is made. Errors:
/// kAborted when another emulator owns the directory, kDataLoss, kPermissionDenied, ...
Result<KeptState> OpenState(const EmulatorOptions& options, const Clock& clock, const Clock& wall,
                            Interference* interference);

/// The directory, made (0700) where there is none. What version 0.1 kept in <state>/storage-keys is
/// moved there: its HMAC and public keys, and its signing key where there is no other. Where there
/// is, the old one goes: what it signed is known by its public half.
Result<Path> OpenKeyHome(const Path& state);

}  // namespace caip::app
