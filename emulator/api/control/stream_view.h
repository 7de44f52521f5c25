#pragma once
// The view of a job for a client that streams the job's log.
//
// gcloud's --stream-logs asks for entries up to five seconds ago, and stops as soon as it reads the
// job's endTime. The lines of the job's last five seconds would be lost. The real service avoids
// that because some time passes between a job's last line and its endTime. In caip a job ends at
// once. So a run of gcloud that has not yet asked for the last lines sees the job as still running.

#include <vector>

#include "engine/engine.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/book/log_book.h"
#include "http/router.h"
#include "ml/job.h"

namespace caip::api {

/// Returns the job as it was before it ended.
ml::Job BeforeItsEnd(ml::Job job);

/// Returns `routes`, in which ml.projects.jobs.get answers in this way. The other parameters must
/// outlive them.
std::vector<http::Route> ForStreamReaders(std::vector<http::Route> routes, engine::Engine& engine,
                                          const logging::LogBook& book,
                                          const logging::StreamReaders& readers);

}  // namespace caip::api
