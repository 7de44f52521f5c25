#pragma once
// The options of each part of an emulator, made from the emulator's options.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "emulator/app/settings/options.h"
#include "emulator/front/metadata_launcher.h"
#include "engine/engine.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/metadata/machine.h"
#include "host/companions/companions.h"
#include "host/process/child_process.h"
#include "ml/training_api.h"
#include "vertex/training_api.h"

namespace caip::app {

/// The service account of jobs that name none.
std::string ServiceAccountOf(const EmulatorOptions& options);

/// This host, as the metadata server describes it to clients of the main listener.
metadata::Machine HostMachine(const EmulatorOptions& options, Instant now);

/// `bundle`: a file with the certificate authorities that replicas trust.
front::MetadataOptions MetadataSettings(const EmulatorOptions& options, const Path& bundle);

/// The host name of each bucket below storage.googleapis.com.
std::vector<std::string> NamesOfBuckets(const gcs::DirectoryStore& buckets);

/// `base_url`: the address at which replicas reach the emulator. `buckets` outlives the engine.
engine::EngineOptions EngineSettings(const EmulatorOptions& options, const std::string& base_url,
                                     const gcs::DirectoryStore& buckets);

/// The settings of the training API: which jobs it accepts, and whose names it uses.
ml::TrainingApiOptions TrainingSettings(const EmulatorOptions& options);
vertex::TrainingApiOptions VertexTrainingSettings(const EmulatorOptions& options);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// `own`: the environment of this process. Companions get the variables that Java and the host
/// need.
host::CompanionOptions CompanionsOf(const EmulatorOptions& options, const Variables& own);

/// The project that this process's environment names, else demo-project.
std::string ProjectOf(const Variables& own);

}  // namespace caip::app
