#pragma once
// The XML API of Cloud Storage. Serves path style and virtual-host style, and checks signatures.
// https://cloud.google.com/storage/docs/xml-api/overview

#include <memory>

#include "base/clock.h"
#include "base/files.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/signing/signature_check.h"
#include "fakes/gcs/xml/place.h"
#include "http/message.h"

namespace caip::gcs {

struct XmlServices;

struct XmlApiOptions {
  std::shared_ptr<StorageService> service;
  FaultyCalls faults = {nullptr, nullptr};
  /// Parts of multipart uploads, until they are completed: "<state>/xml-uploads".
  Path uploads;
  uint64_t seed = 0;
  SignatureOptions signatures = {};
};

/// Serves the XML API. Any thread.
class XmlApi {
 public:
  /// `keys` and `wall` (the clock that signers use) must outlive it.
  XmlApi(XmlApiOptions options, const KeyRing& keys, const Clock& wall);
  ~XmlApi();
  /// For requests for which IsXmlRequest() is true.
  http::Response Handle(const http::Request& request) const;

 private:
  std::unique_ptr<XmlServices> services_;
};

}  // namespace caip::gcs
