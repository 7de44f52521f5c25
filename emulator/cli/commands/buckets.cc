// `caip buckets create|list`.

#include "base/json.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

std::string MessageOf(const http::ClientResponse& response) {
  const auto body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  return error ? StringOr(*error, "message") : "HTTP status " + std::to_string(response.status);
}

}  // namespace

int RunBucketsCreate(const BucketsCreateCommand& command, const Surroundings& world) {
  auto connection = world.connect(command.emulator, app::Lifetime::kBriefly);
  if (!connection.ok()) return Fail(world.io, "buckets.create", connection.error().message);
  int exit_code = kExitSuccess;
  for (const std::string& bucket : command.buckets) {
    http::ClientRequest request{.method = "POST", .target = "/storage/v1/b"};
    request.headers.Set("Content-Type", "application/json");
    request.body = CompactJson({{"name", bucket}});
    const auto response = (*connection)->Send(request);
    if (!response.ok()) return Fail(world.io, "buckets.create", response.error().message);
    const std::string name = "gs://" + bucket;
    if (response->status == 200) {
      world.io.err("Created " + name + " = " +
                   (app::StateDirectory(command.emulator) / "buckets" / bucket).string() + "/\n");
    } else if (response->status == 409) {
      world.io.err(name + " is there already.\n");
    } else {
      exit_code = Fail(world.io, "buckets.create", name + ": " + MessageOf(*response));
    }
  }
  return exit_code;
}

int RunBucketsList(const BucketsListCommand& command, const Surroundings& world) {
  auto connection = world.connect(command.emulator, app::Lifetime::kBriefly);
  if (!connection.ok()) return Fail(world.io, "buckets.list", connection.error().message);
  const auto response = (*connection)->Send({.target = "/storage/v1/b?project=caip"});
  if (!response.ok()) return Fail(world.io, "buckets.list", response.error().message);
  const auto body = ParseJson(response->body);
  if (response->status != 200 || !body.ok())
    return Fail(world.io, "buckets.list", MessageOf(*response));
  const Json* items = Member(*body, "items");
  for (const Json& bucket : items ? *items : Json::array()) {
    world.io.out("gs://" + StringOr(bucket, "name") + "/\n");
  }
  return kExitSuccess;
}

}  // namespace caip::cli
