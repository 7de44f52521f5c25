#pragma once
// Warnings in the logs of jobs whose programs do not trust caip's certificates. Such a program
// often repeats its requests without a message: TensorFlow 1.15 to 2.1 read only the host's file of
// authorities, and no variable names them another one.

#include <mutex>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"
#include "fakes/metadata/machine.h"
#include "http/server.h"

namespace caip::front {

/// Writes one warning for each replica. Any thread. Log, clock and machines outlive it.
class TrustWarnings {
 public:
  struct World {
    const metadata::MachineTable& machines;
    engine::LogSink& log;
    const Clock& clock;
  };
  /// `bundle` is the file that programs must trust.
  TrustWarnings(World world, Path bundle) : world_(world), bundle_(std::move(bundle)) {}

  /// Does nothing for a client that is not a replica.
  void Warn(const http::CertificateRejection& rejection);

 private:
  bool IsNew(const std::string& listener);

  const World world_;
  const Path bundle_;
  std::mutex mutex_;
  std::set<std::string> warned_;  // listeners; guarded by mutex_
};

}  // namespace caip::front
