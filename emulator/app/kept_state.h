#pragma once
// The state that an emulator keeps on disk, and the objects that own its parts.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/api/optimizer/study_store.h"
#include "emulator/app/image_registry.h"
#include "emulator/app/port_adapters.h"
#include "emulator/app/settings/options.h"
#include "emulator/app/storage_apis.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/logging/book/log_book.h"
#include "fakes/metadata/token_mint.h"
#include "host/store/job_store.h"
#include "host/store/state_directory.h"

namespace caip::app {

class EmulatorHooks;

/// A part comes after the parts that it uses. After OpenState only `watched` may be empty.
struct KeptState {
  std::optional<host::StateDirectory> owner;
  std::unique_ptr<engine::JobStore> jobs;
  std::unique_ptr<api::StudyStore> studies;
  std::unique_ptr<logging::LogBook> book;
  std::unique_ptr<LogAdapter> log;  // `book` in the form to which the engine writes
  std::unique_ptr<metadata::TokenMint> mint;
  std::unique_ptr<gcs::DirectoryStore> buckets;
  std::unique_ptr<StorageAdapter> storage;    // `buckets` in the form that the engine reads
  std::unique_ptr<gcs::BucketStore> watched;  // wraps `buckets` if a scenario interferes
  std::unique_ptr<StorageApis> apis;          // `buckets` in the form that clients use
  std::unique_ptr<ImageRegistry> registry;
};

/// `clock` is emulated time, `wall` real time; both outlive the state. Errors:
/// kAborted when another emulator owns the directory, kDataLoss, kPermissionDenied, ...
Result<KeptState> OpenState(const EmulatorOptions& options, const Clock& clock, const Clock& wall,
                            EmulatorHooks* hooks);

/// Returns <state>/keys, the directory of all signing keys, and makes it (0700) if it is missing.
/// Moves the keys that version 0.1 kept in <state>/storage-keys: HMAC keys, public keys, and the
/// signing key if there is no other. If there is another, the old signing key is deleted. Its
/// public key is kept and still verifies its signatures.
Result<Path> OpenKeyHome(const Path& state);

}  // namespace caip::app
