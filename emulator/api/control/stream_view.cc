#include "emulator/api/control/stream_view.h"

#include <utility>

#include "base/json.h"
#include "emulator/api/json_messages.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"

namespace caip::api {
namespace {

/// One run of gcloud that reads a job.
struct JobReader {
  std::string invocation;
  std::string project;
  std::string job_id;
};

// True if the log has entries after those that the run has asked for.
bool HasUnread(const logging::LogBook& book, const logging::StreamReaders& readers,
               const JobReader& reader) {
  const auto until = readers.ReadUpTo(reader.invocation, reader.project, reader.job_id);
  if (!until) return false;
  logging::EntryQuery query;
  query.project = reader.project;
  query.job_id = reader.job_id;
  query.from = *until;
  query.limit = 1;
  query.newest_first = true;
  const auto entries = book.Query(query);
  return entries.ok() && !entries->empty();
}

}  // namespace

ml::Job BeforeItsEnd(ml::Job job) {
  job.state = job.start_time ? run::JobState::kRunning : run::JobState::kQueued;
  job.end_time.reset();
  job.error_message.clear();
  return job;
}

std::vector<http::Route> ForStreamReaders(std::vector<http::Route> routes, engine::Engine& engine,
                                          const logging::LogBook& book,
                                          const logging::StreamReaders& readers) {
  for (http::Route& route : routes) {
    if (route.id != "ml.projects.jobs.get") continue;
    route.handler = [&engine, &book, &readers, plain = std::move(route.handler)](
                        const http::Request& request, const http::PathParameters& at) {
      const JobReader reader{logging::InvocationId(request.headers.Get("User-Agent")),
                             at.At("project"), at.At("job")};
      if (reader.invocation.empty()) return plain(request, at);
      const auto job = engine.Get(reader.project, reader.job_id);
      const bool is_over = job.ok() && job->end_time;
      if (!is_over || !HasUnread(book, readers, reader)) return plain(request, at);
      auto shown = ml::RenderJob(*job);
      if (!shown.ok()) return plain(request, at);
      return Respond(request, ml::ToJson(BeforeItsEnd(*std::move(shown))));
    };
  }
  return routes;
}

}  // namespace caip::api
