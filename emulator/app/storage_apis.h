#pragma once
// The APIs of Cloud Storage: the JSON API with the faults that clients' test suites request, the
// XML API, and the keys of signatures.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "fakes/gcs/faults/retry_tests.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/signing/service_keys.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/xml/xml_api.h"
#include "http/router.h"

namespace caip::app {

/// The directories and keys of the APIs.
struct StorageApisOptions {
  Path state;
  Path keys;
  uint64_t seed = 0;
  std::string project_number = {};
  gcs::SigningKeySource signer;  // outlives the APIs
  gcs::StoredSettings::Warn warn = {};
};

/// Any thread, after Open.
class StorageApis {
 public:
  /// `store` and `wall`, the time that signers use, must outlive it.
  static Result<std::unique_ptr<StorageApis>> Open(const StorageApisOptions& options,
                                                   gcs::BucketStore& store, const Clock& wall);

  /// The routes of storage/v1 with hmacKeys. The caller adds the standard parameters and passes
  /// them to Faulty.
  std::vector<http::Route> JsonRoutes() const;
  std::vector<http::Route> Faulty(std::vector<http::Route> routes) const;
  /// The routes for the keys of accounts, and the retry test API.
  std::vector<http::Route> OtherRoutes() const;
  /// Answers a request for which gcs::IsXmlRequest() is true.
  http::Response AnswerXml(const http::Request& request) const { return xml_->Handle(request); }
  /// Ends the pauses of answers that stall on purpose, so that the server can stop.
  void EndPauses() { pause_->End(); }

 private:
  StorageApis() = default;

  std::shared_ptr<gcs::StorageService> service_;
  std::shared_ptr<gcs::ServiceKeys> keys_;
  std::shared_ptr<gcs::RetryTests> tests_;
  std::shared_ptr<gcs::Pause> pause_ = std::make_shared<gcs::Pause>();
  std::unique_ptr<gcs::XmlApi> xml_;
};

}  // namespace caip::app
