#pragma once
// A metadata server without a network: requests in, answers out.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/metadata_api.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"
#include "http/text_body.h"
#include "tests/support/a_signing_key.h"

namespace caip::metadata {

inline Machine AReplica() {
  return {.project_id = "demo-project",
          .project_number = "123456789012",
          .project_attributes = {{"ssh-keys", "none"}},
          .instance_id = 4711,
          .name = "cmle-training-worker-e118e0f997-1",
          .hostname = "cmle-training-worker-e118e0f997-1.c.demo-project.internal",
          .zone = "us-central1-b",
          .machine_type = "n1-standard-4",
          .attributes = {{"job-name", "census_1"}, {"a/b c", "slash & blank"}},
          .tags = {"bread", "butter"},
          .service_account = "trainer@demo-project.iam.gserviceaccount.com",
          .job = "census_1",
          .replica = "worker-replica-1"};
}

inline http::Request ARequest(const std::string& method, const std::string& target,
                              http::TextBody* body) {
  http::Request request;
  const auto parsed = http::ParseTarget(target);
  request.method = method;
  request.path = parsed->path;
  request.query = parsed->query;
  request.host = "127.0.0.1:2247";
  request.body = body;
  return request;
}

struct MetadataWorld {
  static constexpr char kReplica[] = "worker";  // the listener it asks at
  static constexpr int64_t kNow = 1'637'487'600;

  TemporaryDirectory directory;
  VirtualClock wall{Instant(std::chrono::seconds(kNow))};
  std::unique_ptr<TokenMint> mint = *TokenMint::Open(directory.path() / "keys", wall);
  MachineTable book{Machine{.project_id = "host-project", .project_number = "1"}};
  MetadataApi api{book, *mint};

  MetadataWorld() {
    PutTestKey(directory.path() / "keys");  // read when somebody first needs it
    book.Put(kReplica, AReplica());
  }

  http::Response Get(const std::string& target,
                     const std::vector<std::pair<std::string, std::string>>& headers =
                         {{"Metadata-Flavor", "Google"}},
                     const std::string& method = "GET") const {
    http::TextBody nothing("");
    http::Request request = ARequest(method, target, &nothing);
    for (const auto& [name, value] : headers) request.headers.Set(name, value);
    return api.Handle(request, kReplica);
  }
  std::string Text(const std::string& below_v1) const {
    return Get("/computeMetadata/v1/" + below_v1).body;
  }
  Json Parsed(const std::string& below_v1) const {
    auto parsed = ParseJson(Text(below_v1));
    return parsed.ok() ? *parsed : Json("not JSON: " + Text(below_v1));
  }
};

}  // namespace caip::metadata
