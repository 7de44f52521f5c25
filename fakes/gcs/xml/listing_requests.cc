// GET /bucket: version 1 with markers, version 2 (list-type=2) with continuation tokens, and all
// generations (?versions).
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/store/listing_page.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr int kListingRequestsPageMax = 1000;

struct Asked {
  std::string prefix;
  std::string delimiter;
  std::string after;  // marker or start-after
  std::string token;  // of the JSON API: continuation-token, generation-marker
  int max_keys = kListingRequestsPageMax;
  bool version_two = false;
  bool versions = false;
  bool url_encoded = false;
};

Result<Asked> AskedOf(const http::Request& request) {
  Asked asked;
  asked.version_two = request.Query("list-type") == "2";
  asked.versions = request.HasQuery("versions");
  asked.prefix = std::string(request.Query("prefix"));
  asked.delimiter = std::string(request.Query("delimiter"));
  asked.after = std::string(request.Query(asked.version_two ? "start-after" : "marker"));
  if (asked.versions && request.HasQuery("key-marker")) {
    asked.after = std::string(request.Query("key-marker"));
  }
  asked.token = std::string(request.Query(asked.version_two ? "continuation-token"
                                          : asked.versions  ? "generation-marker"
                                                            : ""));
  asked.url_encoded = LowerCase(request.Query("encoding-type")) == "url";
  const std::string_view keys = request.Query("max-keys");
  if (!keys.empty()) {
    const auto [end, error] =
        std::from_chars(keys.data(), keys.data() + keys.size(), asked.max_keys);
    if (error != std::errc() || end != keys.data() + keys.size() || asked.max_keys < 0) {
      return Error{Code::kInvalidArgument, "max-keys must be a number from 0 to 1000"};
    }
  }
  asked.max_keys = std::min(asked.max_keys, kListingRequestsPageMax);
  return asked;
}

// The first name behind the marker: a marker within a common prefix stands for all below it.
std::string StartOf(const Asked& asked) {
  if (asked.after.empty()) return "";
  if (!asked.delimiter.empty() && asked.after.starts_with(asked.prefix)) {
    const size_t end = asked.after.find(asked.delimiter, asked.prefix.size());
    if (end != std::string::npos) {
      return AfterAllBelow(asked.after.substr(0, end + asked.delimiter.size()));
    }
  }
  return asked.after + '\0';
}

class Writer {
 public:
  Writer(const Asked& asked, XmlElement* root) : asked_(asked), root_(root) {}

  std::string Name(const std::string& raw) const {
    return asked_.url_encoded ? PercentEncoded(raw, "/") : raw;
  }

  void Item(const Json& object) {
    XmlElement& item = root_->Add(asked_.versions ? "Version" : "Contents");
    const std::string name = StringOr(object, "name");
    last_ = std::max(last_, name);
    item.Add("Key", Name(name));
    item.Add("Generation", StringOr(object, "generation"));
    item.Add("MetaGeneration", StringOr(object, "metageneration"));
    if (asked_.versions) {
      const std::string deleted = StringOr(object, "timeDeleted");
      item.Add("VersionId", StringOr(object, "generation"));
      item.Add("IsLatest", deleted.empty() ? "true" : "false");
      if (!deleted.empty()) item.Add("DeletedTime", deleted);
    }
    item.Add("LastModified", StringOr(object, "updated"));
    item.Add("ETag", XmlEtag(object));
    item.Add("Size", StringOr(object, "size"));
    item.Add("StorageClass", StringOr(object, "storageClass"));
    item.Add("Owner").Add("ID", "caip-owner");
  }

  void Prefix(const std::string& prefix) {
    last_ = std::max(last_, prefix);
    root_->Add("CommonPrefixes").Add("Prefix", Name(prefix));
  }

  const std::string& last() const { return last_; }

 private:
  const Asked& asked_;
  XmlElement* root_;
  std::string last_;
};

void AddHead(const Asked& asked, const std::string& bucket, const Writer& writer,
             XmlElement* root) {
  root->Add("Name", bucket);
  root->Add("Prefix", writer.Name(asked.prefix));
  if (!asked.delimiter.empty()) root->Add("Delimiter", writer.Name(asked.delimiter));
  if (asked.version_two) {
    if (!asked.token.empty()) root->Add("ContinuationToken", asked.token);
    if (!asked.after.empty()) root->Add("StartAfter", writer.Name(asked.after));
  } else {
    root->Add("Marker", writer.Name(asked.after));
  }
  root->Add("MaxKeys", std::to_string(asked.max_keys));
  if (asked.url_encoded) root->Add("EncodingType", "url");
}

void AddNext(const Asked& asked, const std::string& token, const Writer& writer, size_t count,
             XmlElement* root) {
  root->Add("IsTruncated", token.empty() ? "false" : "true");
  if (asked.version_two) {
    root->Add("KeyCount", std::to_string(count));
    if (!token.empty()) root->Add("NextContinuationToken", token);
    return;
  }
  if (token.empty()) return;
  root->Add(asked.versions ? "NextKeyMarker" : "NextMarker", writer.Name(writer.last()));
  if (asked.versions) {
    root->Add("NextMarker", writer.Name(writer.last()));
    root->Add("NextGenerationMarker", token);
  }
}

}  // namespace

http::Response ListObjectsXml(const XmlCall& call) {
  const auto asked = AskedOf(call.request);
  if (!asked.ok()) return ToResponse(xml_errors::InvalidArgument(asked.error().message));
  XmlElement root = XmlRoot("ListBucketResult");
  Writer writer(*asked, &root);
  AddHead(*asked, call.place.bucket, writer, &root);
  if (asked->max_keys == 0) {  // boto asks so whether a bucket is there
    const JsonAnswer bucket = call.Json("GET", BucketPath(call.place.bucket));
    if (!bucket.ok()) return call.Failure(bucket.response);
    AddNext(*asked, "", writer, 0, &root);
    return XmlResponse(root);
  }
  QueryList query = {{"maxResults", std::to_string(asked->max_keys)},
                     {"prefix", asked->prefix},
                     {"delimiter", asked->delimiter}};
  if (asked->versions) query.emplace_back("versions", "true");
  if (!asked->token.empty()) query.emplace_back("pageToken", asked->token);
  if (const std::string start = StartOf(*asked); !start.empty()) {
    query.emplace_back("startOffset", start);
  }
  const JsonAnswer page = call.Json("GET", BucketPath(call.place.bucket) + "/o", std::move(query));
  if (!page.ok()) return call.Failure(page.response);
  size_t count = 0;
  if (const Json* items = Member(page.json, "items")) {
    for (const Json& item : *items) writer.Item(item);
    count += items->size();
  }
  if (const Json* prefixes = Member(page.json, "prefixes")) {
    for (const Json& prefix : *prefixes) writer.Prefix(prefix.get<std::string>());
    count += prefixes->size();
  }
  AddNext(*asked, StringOr(page.json, "nextPageToken"), writer, count, &root);
  return XmlResponse(root);
}

}  // namespace caip::gcs
