#include "emulator/app/kept_state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <string>

#include "base/terminal_text.h"
#include "emulator/app/emulator_hooks.h"
#include "emulator/app/state/upgrade.h"
#include "emulator/app/version.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

// If the process ends between two renames, the next start moves the other files.
Status MoveUnlessThere(const Path& from, const Path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return Ok{};
  if (!fs::exists(to, error)) {
    fs::rename(from, to, error);
    if (error) return CannotMove(from, error.value());
  }
  return Ok{};
}

Status TakeOver(const Path& old, const Path& keys) {
  RETURN_IF_ERROR(MoveUnlessThere(old / "hmac_keys.json", keys / "hmac_keys.json"));
  RETURN_IF_ERROR(MoveUnlessThere(old / "public_keys.json", keys / "public_keys.json"));
  RETURN_IF_ERROR(MoveUnlessThere(old / "signer.pem", keys / "service-account.pem"));
  RETURN_IF_ERROR(SyncDirectory(keys));
  std::error_code error;
  fs::remove(old / "signer.pem", error);
  fs::remove(old, error);  // fails if the directory holds other files
  return Ok{};
}

// Service accounts sign URLs with the key that also signs their identity tokens.
gcs::SigningKeySource SignerOf(const metadata::TokenMint& mint) {
  return [&mint]() -> Result<gcs::SignerKey> {
    ASSIGN_OR_RETURN(const metadata::ServiceAccountKey* key, mint.key());
    return gcs::SignerKey{key->id(), key->private_key_pem()};
  };
}

// Most emulators serve no study. UpgradeState has checked a file that exists.
Result<std::unique_ptr<api::StudyStore>> OpenStudies(const Path& file) {
  std::error_code error;
  if (fs::file_size(file, error) > 0 && !error) return api::StudyStore::OpenLater(file);
  return api::StudyStore::Open(file);
}

// An emulator in the background writes it to server.log.
void PrintWarning(const std::string& text) { WriteText(STDERR_FILENO, text + "\n"); }

}  // namespace

Result<Path> OpenKeyHome(const Path& state) {
  const Path keys = state / "keys";
  RETURN_IF_ERROR(MakeDirectories(keys));
  if (::chmod(keys.c_str(), 0700) != 0) {
    return CannotProtect(keys, errno);
  }
  const Path old = state / "storage-keys";
  std::error_code ignored;
  if (fs::is_directory(old, ignored)) RETURN_IF_ERROR(TakeOver(old, keys));
  return keys;
}

Result<KeptState> OpenState(const EmulatorOptions& options, const Clock& clock, const Clock& wall,
                            EmulatorHooks* hooks) {
  KeptState state;
  ASSIGN_OR_RETURN(state.owner, host::StateDirectory::Own(options.state, kVersion, clock.Now()));
  // What happens to the state is dated by real time. Emulated time may be years away.
  RETURN_IF_ERROR(UpgradeState(options.state, {.version = kVersion, .now = wall.Now()}));
  // To open a database, SQLite reads its whole write-ahead log. That of logs.db is the longest, so
  // the other databases are opened at the same time.
  auto book = std::async(std::launch::async, [&options] {
    return logging::LogBook::Open(options.state / "logs.db", kTrainingLogNames);
  });
  ASSIGN_OR_RETURN(state.jobs, host::OpenJobStore(options.state / "jobs.db"));
  ASSIGN_OR_RETURN(state.studies, OpenStudies(options.state / "studies.db"));
  ASSIGN_OR_RETURN(const Path keys, OpenKeyHome(options.state));
  ASSIGN_OR_RETURN(state.mint, metadata::TokenMint::Open(keys, wall));
  ASSIGN_OR_RETURN(state.buckets,
                   gcs::DirectoryStore::Open({.root = options.state / "buckets",
                                              .durable = options.durable_storage,
                                              .create_buckets = options.create_buckets},
                                             clock));
  state.storage = std::make_unique<StorageAdapter>(*state.buckets, options.create_buckets);
  if (hooks) state.watched = hooks->WrapStore(*state.buckets);
  gcs::BucketStore& shown = state.watched ? *state.watched : *state.buckets;
  ASSIGN_OR_RETURN(state.apis,
                   StorageApis::Open({options.state, keys, options.seed, options.project_number,
                                      SignerOf(*state.mint), PrintWarning},
                                     shown, wall));
  ASSIGN_OR_RETURN(state.book, book.get());
  state.log = std::make_unique<LogAdapter>(*state.book);
  state.registry = std::make_unique<ImageRegistry>(options.state / "images", options.seed);
  return state;
}

}  // namespace caip::app
