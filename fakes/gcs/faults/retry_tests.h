#pragma once
// The retry test API of Google's storage testbench: a client's test suite names the faults it
// wants, and its calls carry the test's id in the header x-retry-test-id.
// https://github.com/googleapis/storage-testbench#retry-test-api

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/random.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "http/router.h"

namespace caip::gcs {

/// Keeps tests in memory and drops the oldest when there are too many. Any thread.
class RetryTests final : public FaultPlan {
 public:
  static constexpr size_t kTestsMax = 10'000;

  /// `methods`: the ids of routes; instructions may name any verb of their resources. The older
  /// names of the testbench ("storage.bucket_acl.get", "storage.hmacKey.list") are understood as
  /// well.
  RetryTests(std::set<std::string> methods, Random random)
      : methods_(std::move(methods)), random_(random) {}

  std::optional<Fault> Take(const std::string& method, const http::Request& request) override;
  void PutBack(const std::string& method, const http::Request& request,
               const Fault& fault) override;

  /// Returns the test's id. kInvalidArgument names the method or instruction that is unknown.
  Result<std::string> Create(const Json& resource);
  /// {"id","instructions","transport","completed"}; kNotFound.
  Result<Json> Get(const std::string& id) const;
  Status Delete(const std::string& id);
  std::vector<Json> List() const;

 private:
  struct Step {
    std::string instruction;
    Fault fault;
  };
  struct Test {
    uint64_t number = 0;
    std::map<std::string, std::deque<Step>> pending;
    std::map<std::string, std::vector<Step>> taken;  // by method, faults already given out
    std::map<std::string, std::string> names;        // by method, the client's name for it
  };
  Json Shown(const std::string& id, const Test& test) const;

  std::set<std::string> methods_;
  mutable std::mutex mutex_;
  Random random_;
  uint64_t made_ = 0;
  std::map<std::string, Test> tests_;
};

/// POST and GET /retry_test, GET /retry_tests, GET and DELETE /retry_test/{id}.
std::vector<http::Route> RetryTestRoutes(std::shared_ptr<RetryTests> tests);

/// The ids of the routes, for RetryTests.
std::set<std::string> MethodsOf(const std::vector<http::Route>& routes);

}  // namespace caip::gcs
