#pragma once
// The job as a client sees it that streams the job's log.
//
// gcloud's --stream-logs asks for entries up to five seconds ago, and stops as soon as it reads the
// job's endTime. The lines of the job's last five seconds would be lost. The real service avoids
// that because some time passes between a job's last line and its endTime. In caip a job ends at
// once. Only the run of gcloud that has not yet asked for the last lines sees the job as still
// running.

#include <vector>

#include "engine/engine.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/book/log_book.h"
#include "http/router.h"
#include "ml/job.h"

namespace caip::api {

/// The job as it was before it ended.
ml::Job BeforeItsEnd(ml::Job job);

/// `routes`, with ml.projects.jobs.get answering in this way. The other parameters outlive them.
std::vector<http::Route> ForStreamReaders(std::vector<http::Route> routes, engine::Engine& engine,
                                          const logging::LogBook& book,
                                          const logging::StreamReaders& readers);

}  // namespace caip::api
