#include "emulator/app/connect.h"

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/emulator.h"
#include "emulator/app/owner.h"
#include "emulator/cli/gcloud_properties.h"
#include "host/job_store.h"

namespace caip::app {
namespace {

class HttpConnection : public cli::Connection {
 public:
  explicit HttpConnection(const std::string& url) : client_(url) {}
  Result<http::ClientResponse> Send(const http::ClientRequest& request) override {
    return client_.Send(request);
  }
  std::string base_url() const override { return client_.base(); }

 private:
  http::Client client_;
};

// The emulator lives as long as the connection; requests go through its own front door, so that
// there is one way in.
class EmbeddedConnection final : public HttpConnection {
 public:
  explicit EmbeddedConnection(std::unique_ptr<Emulator> emulator)
      : HttpConnection(emulator->base_url()), emulator_(std::move(emulator)) {}

 private:
  std::unique_ptr<Emulator> emulator_;
};

// The flags given now must be among those the running emulator was started with.
Status FitsRunning(http::Client& client, const cli::EmulatorFlags& flags) {
  const std::vector<std::string> wanted = FlagWords(flags);
  if (wanted.empty()) return Ok{};
  ASSIGN_OR_RETURN(const http::ClientResponse health,
                   client.Send({.target = "/emulator/v1/health"}));
  ASSIGN_OR_RETURN(const Json body, ParseJson(health.body));
  std::vector<std::string> present;
  if (const Json* words = Member(body, "flags")) {
    present = words->get<std::vector<std::string>>();
  }
  // Word by word in order: "--gpus share" is found as a run of two.
  auto at = present.begin();
  for (const std::string& word : wanted) {
    at = std::find(at, present.end(), word);
    if (at == present.end()) {
      return Error{Code::kFailedPrecondition,
                   "an emulator runs already at " + client.base() + ", and was started " +
                       (present.empty() ? "without flags" : "with " + Join(present, " ")) +
                       "; it cannot take up " + Join(wanted, " ") +
                       " any more. End it with `caip stop`, or use another --state."};
    }
    ++at;
  }
  return Ok{};
}

bool HasUnfinishedJobs(const Path& state) {
  std::error_code ignored;
  if (!std::filesystem::exists(state / "jobs.db", ignored)) return false;
  const auto store = host::SqliteJobStore::Open(state / "jobs.db");
  const auto unfinished =
      store.ok() ? (*store)->Unfinished() : Result<std::vector<engine::JobRecord>>(store.error());
  return unfinished.ok() && !unfinished->empty();
}

using MaybeConnection = Result<std::unique_ptr<cli::Connection>>;

MaybeConnection ConnectTo(const std::string& url, const cli::EmulatorFlags& flags) {
  http::Client client(url);
  RETURN_IF_ERROR(FitsRunning(client, flags));
  return std::unique_ptr<cli::Connection>(std::make_unique<HttpConnection>(url));
}

MaybeConnection Embed(const cli::EmulatorFlags& flags, const Path& state) {
  ASSIGN_OR_RETURN(const EmulatorOptions options, ReadOptions(flags, state));
  ASSIGN_OR_RETURN(auto emulator, Emulator::Start(options, flags));
  return std::unique_ptr<cli::Connection>(
      std::make_unique<EmbeddedConnection>(std::move(emulator)));
}

}  // namespace

MaybeConnection ConnectToEmulator(const cli::EmulatorFlags& flags, cli::Lifetime lifetime) {
  // An endpoint that somebody else runs, such as a recorder that judges what commands send.
  if (const char* endpoint = std::getenv("CAIP_ENDPOINT"); endpoint && *endpoint) {
    return std::unique_ptr<cli::Connection>(std::make_unique<HttpConnection>(endpoint));
  }
  const Path state = cli::StateDirectory(flags);
  ASSIGN_OR_RETURN(const auto owner, FindOwner(state));
  if (owner) return ConnectTo(*owner, flags);
  const bool background = lifetime == cli::Lifetime::kBackground ||
                          (lifetime == cli::Lifetime::kBriefly && HasUnfinishedJobs(state));
  if (!background) return Embed(flags, state);
  ASSIGN_OR_RETURN(const std::string url, StartInBackground(flags, state));
  return ConnectTo(url, flags);
}

}  // namespace caip::app
