#include "emulator/app/kept_state.h"

#include "emulator/app/version.h"

namespace caip::app {

Result<KeptState> OpenState(const EmulatorOptions& options, const Clock& clock, const Clock& wall) {
  KeptState state;
  ASSIGN_OR_RETURN(state.owner, host::StateDirectory::Own(options.state, kVersion, clock.Now()));
  ASSIGN_OR_RETURN(state.jobs, host::SqliteJobStore::Open(options.state / "jobs.db"));
  ASSIGN_OR_RETURN(state.book, logging::LogBook::Open(options.state / "logs.db"));
  state.log = std::make_unique<LogAdapter>(*state.book);
  ASSIGN_OR_RETURN(state.buckets,
                   gcs::DirectoryStore::Open({.root = options.state / "buckets",
                                              .durable = options.durable_storage,
                                              .create_buckets = options.create_buckets},
                                             clock));
  state.storage = std::make_unique<StorageAdapter>(*state.buckets, options.create_buckets);
  ASSIGN_OR_RETURN(state.faces,
                   StorageFaces::Open({options.state, options.seed}, *state.buckets, wall));
  return state;
}

}  // namespace caip::app
