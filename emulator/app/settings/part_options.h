#pragma once
// What an emulator's options mean to each of its parts.

#include <string>

#include "base/clock.h"
#include "emulator/app/settings/options.h"
#include "emulator/front/guest_launcher.h"
#include "engine/engine.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/metadata/machine.h"
#include "ml/training_api.h"

namespace caip::app {

/// Who replicas are when their job names nobody.
std::string ServiceAccountOf(const EmulatorOptions& options);

/// The machine that the emulator itself runs on, for whoever asks its main listener who he is.
metadata::Machine HostGuest(const EmulatorOptions& options, Instant now);

/// `bundle`: the certificate authorities that replicas are to trust.
front::GuestOptions GuestSettings(const EmulatorOptions& options, const Path& bundle);

/// Under which each bucket is found beside storage.googleapis.com.
std::vector<std::string> NamesOfBuckets(const gcs::DirectoryStore& buckets);

/// `base_url`: where replicas reach the emulator. `buckets` outlives the engine.
engine::EngineOptions EngineSettings(const EmulatorOptions& options, const std::string& base_url,
                                     const gcs::DirectoryStore& buckets);

/// The rules and names of AI Platform Training.
ml::TrainingApiOptions TrainingSettings(const EmulatorOptions& options);

}  // namespace caip::app
