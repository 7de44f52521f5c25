#pragma once
// The commands on buckets and objects as values.

#include <string>
#include <vector>

#include "emulator/app/settings/emulator_flags.h"
#include "emulator/cli/commands/gcloud_flags.h"
#include "emulator/cli/storage/copy_plan.h"

namespace caip::cli {

/// `buckets create BUCKET...`.
struct BucketsCreateCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<std::string> buckets;  // bare names
};

/// `buckets list`.
struct BucketsListCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
};

/// `buckets rm BUCKET...`.
struct BucketsRmCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<std::string> buckets;  // bare names
  bool recursive = false;
};

/// `ls [URI...]`.
struct LsCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<google::GcsUri> uris;  // empty: the buckets
  bool long_listing = false;         // -l
  bool recursive = false;            // -r
};

/// `cp SOURCE... DESTINATION`.
struct CpCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<CopyPlace> sources;  // with the destination, not all are local
  CopyPlace destination;
  bool recursive = false;  // -r
};

/// `cat URI...`.
struct CatCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<google::GcsUri> uris;
};

/// `rm URI...`.
struct RmCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<google::GcsUri> uris;
  bool recursive = false;  // -r
};

}  // namespace caip::cli
