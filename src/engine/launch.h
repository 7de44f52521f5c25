#pragma once
// What a replica is started with: command, environment, directories. Pure, so the same replica gets
// the same bytes at every start.

#include <functional>
#include <string>
#include <vector>

#include "engine/image_map.h"
#include "engine/ports.h"
#include "engine/run_note.h"
#include "ml/environment.h"

namespace caip::engine {

/// The GPUs of its replicas, and the TPU of a TPU job, which the master drives.
std::vector<DeviceRequest> DeviceRequestsOf(const ml::ClusterPlan& plan);

/// The same for all replicas of this emulator.
struct LaunchSettings {
  std::string endpoint;  // "http://127.0.0.1:8080", "" none
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";  // PATH
  int cpus = 1;
  ImageMap images;  // for new jobs; a job keeps in its note what its images stood for
  /// What `--job-dir` becomes for the trainers of new jobs; unset: the URI itself.
  std::function<std::string(const std::string& uri)> storage_view;
  std::function<std::string(const ReplicaKey&)> boot_disk;  // as the replica sees it; "": its root
};

/// One start of one replica. Made for a call: the references must outlive it.
struct LaunchFacts {
  const LaunchSettings& settings;
  const ml::TrainingInput& input;
  const ml::ClusterPlan& plan;  // with addresses
  const RunNote& note;
  const Prepared& prepared;    // of a Python job
  const Environment& devices;  // of this replica
  ReplicaKey key;
  const ml::JobTexts* job_texts;  // see MakeJobTexts
};

/// Once for each run, for all its launches.
ml::JobTexts MakeJobTexts(const RunKey& run, const ml::TrainingInput& input,
                          const ml::ClusterPlan& plan, const RunNote& note);
ReplicaLaunch MakeLaunch(const LaunchFacts& facts, bool fresh_disk);
/// The launcher's first words, "Running task with arguments: ...".
std::string TaskLine(const LaunchFacts& facts);
/// "Running command: python3 -m trainer.task ...".
std::string CommandLine(const LaunchFacts& facts);

}  // namespace caip::engine
