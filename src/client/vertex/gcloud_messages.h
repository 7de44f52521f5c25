#pragma once
// The messages of Vertex AI as gcloud 528 knows them. They are the client's own: a newer service
// has fields and names that this client passes on or refuses. An enum's name is numbered as in
// gcloud, which is not its number on the wire.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "google/message_schema.h"

namespace caip::client::vertex {

/// CustomJobSpec, which the file of `custom-jobs create` is.
const google::MessageSchema& CustomJobSpecMessage();
/// HyperparameterTuningJob, which the file of `hp-tuning-jobs create` is.
const google::MessageSchema& TuningJobMessage();

/// The values of `accelerator-type` that gcloud accepts, sorted.
std::vector<std::string> AcceleratorTypes();
/// The values of --algorithm, as gcloud lists them: "grid-search".
std::vector<std::string> AlgorithmChoices();
/// "GRID_SEARCH" for "grid-search" or "GRID_SEARCH"; "" for other words.
std::string AlgorithmOfChoice(std::string_view choice);

}  // namespace caip::client::vertex
