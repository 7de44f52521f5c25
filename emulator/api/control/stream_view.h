#pragma once
// What a client that streams a job's log is told of the job.
//
// gcloud's --stream-logs asks for entries up to five seconds ago, and stops as soon as it reads the
// job's endTime; what the job said in its last five seconds would be lost. The real service hides
// that by taking a while between a job's last line and its endTime. Here a job ends at once, for
// everybody but the one run of gcloud that has not yet asked for the last lines: to that one it
// goes on until it has.

#include <vector>

#include "engine/engine.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/book/log_book.h"
#include "http/router.h"
#include "ml/job.h"

namespace caip::api {

/// The job as it was before it ended.
ml::Job BeforeItsEnd(ml::Job job);

/// `routes` with ml.projects.jobs.get answering so. The others outlive them.
std::vector<http::Route> ForStreamReaders(std::vector<http::Route> routes, engine::Engine& engine,
                                          const logging::LogBook& book,
                                          const logging::StreamReaders& readers);

}  // namespace caip::api
