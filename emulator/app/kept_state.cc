#include "emulator/app/kept_state.h"

#include "emulator/app/interference.h"
#include "emulator/app/key_home.h"
#include "emulator/app/version.h"

namespace caip::app {
namespace {

// Service accounts sign URLs with the key that signs their identity tokens.
gcs::SigningKeySource SignerOf(const metadata::TokenMint& mint) {
  return [&mint]() -> Result<gcs::SignerKey> {
    ASSIGN_OR_RETURN(const metadata::ServiceAccountKey* key, mint.key());
    return gcs::SignerKey{key->id(), key->private_key_pem()};
  };
}

}  // namespace

Result<KeptState> OpenState(const EmulatorOptions& options, const Clock& clock, const Clock& wall,
                            Interference* interference) {
  KeptState state;
  ASSIGN_OR_RETURN(state.owner, host::StateDirectory::Own(options.state, kVersion, clock.Now()));
  ASSIGN_OR_RETURN(state.jobs, host::OpenJobStore(options.state / "jobs.db"));
  ASSIGN_OR_RETURN(state.studies, api::StudyStore::Open(options.state / "studies.db"));
  ASSIGN_OR_RETURN(state.book,
                   logging::LogBook::Open(options.state / "logs.db", kTrainingLogNames));
  state.log = std::make_unique<LogAdapter>(*state.book);
  ASSIGN_OR_RETURN(const Path keys, OpenKeyHome(options.state));
  ASSIGN_OR_RETURN(state.mint, metadata::TokenMint::Open(keys, wall));
  ASSIGN_OR_RETURN(state.buckets,
                   gcs::DirectoryStore::Open({.root = options.state / "buckets",
                                              .durable = options.durable_storage,
                                              .create_buckets = options.create_buckets},
                                             clock));
  state.storage = std::make_unique<StorageAdapter>(*state.buckets, options.create_buckets);
  if (interference) state.watched = interference->Around(*state.buckets);
  gcs::BucketStore& shown = state.watched ? *state.watched : *state.buckets;
  ASSIGN_OR_RETURN(
      state.faces,
      StorageFaces::Open({options.state, keys, options.seed, SignerOf(*state.mint)}, shown, wall));
  return state;
}

}  // namespace caip::app
