// POST /bucket with multipart/form-data: what an HTML form uploads, under a policy or without one.
// https://cloud.google.com/storage/docs/xml-api/post-object-forms
#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/signing/post_policy.h"
#include "fakes/gcs/wire/multipart.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kFieldBytesMax = 256 << 10;
constexpr size_t kFieldsMax = 200;

// form-data; name="file"; filename="a.txt" -> one of them.
std::string Parameter(std::string_view disposition, std::string_view name) {
  for (const std::string& part : Split(disposition, ';')) {
    std::string_view field = Trim(part);
    if (!field.starts_with(std::string(name) + "=")) continue;
    field.remove_prefix(name.size() + 1);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    return std::string(field);
  }
  return "";
}

struct Form {
  FormFields fields;
  std::string file_name;
  std::string file_type;
};

// Reads up to the file's bytes, which are then the reader's current part.
Result<Form> ReadFields(MultipartReader& parts) {
  Form form;
  while (form.fields.size() <= kFieldsMax) {
    ASSIGN_OR_RETURN(const bool another, parts.NextPart());
    if (!another) break;
    const std::string_view disposition = parts.headers().Get("Content-Disposition");
    const std::string name = LowerCase(Parameter(disposition, "name"));
    if (name == "file") {
      form.file_name = Parameter(disposition, "filename");
      form.file_type = std::string(parts.headers().Get("Content-Type"));
      return form;
    }
    ASSIGN_OR_RETURN(std::string value, parts.ReadPart(kFieldBytesMax));
    form.fields[name] = std::move(value);
  }
  return Error{Code::kInvalidArgument, "the form has no field 'file'"};
}

// Bytes that must not be fewer or more than a policy allows.
class Bounded final : public http::BodyReader {
 public:
  Bounded(http::BodyReader& source, const PostPolicy* policy) : source_(source) {
    if (policy && policy->bytes_min) least_ = *policy->bytes_min;
    if (policy && policy->bytes_max) most_ = *policy->bytes_max;
  }
  Result<size_t> Read(char* buffer, size_t size) override {
    ASSIGN_OR_RETURN(const size_t count, source_.Read(buffer, size));
    total_ += count;
    if (most_ && total_ > *most_) refusal_ = xml_errors::EntityTooLarge(*most_);
    if (count == 0 && total_ < least_) refusal_ = xml_errors::EntityTooSmall(total_, least_);
    if (refusal_) return Error{Code::kInvalidArgument, refusal_->message};
    return count;
  }
  const std::optional<XmlError>& refusal() const { return refusal_; }

 private:
  http::BodyReader& source_;
  uint64_t least_ = 0;
  std::optional<uint64_t> most_;
  uint64_t total_ = 0;
  std::optional<XmlError> refusal_;
};

http::Response FlawResponse(const SignatureFlaw& flaw) {
  return ToResponse(XmlError{flaw.status, flaw.code, flaw.message, flaw.details});
}

std::string Field(const Form& form, const std::string& name) {
  const auto field = form.fields.find(name);
  return field == form.fields.end() ? "" : field->second;
}

// The form's fields as the headers of a PUT.
http::Request AsPut(const Form& form) {
  http::Request put;
  for (const auto& [name, value] : form.fields) put.headers.Set(name, value);
  put.headers.Set("Content-Type", Field(form, "content-type").empty()
                                      ? form.file_type
                                      : Field(form, "content-type"));
  return put;
}

// 204, or what the form wants to see.
http::Response Success(const XmlCall& call, const Form& form, const Place& made,
                       const Json& object) {
  std::string redirect = Field(form, "success_action_redirect");
  if (redirect.empty()) redirect = Field(form, "redirect");
  const std::string location = call.request.scheme + "://" + call.request.host + PathOf(made);
  const std::string etag = XmlEtag(object);
  http::Response response = Nothing(204);
  if (!redirect.empty()) {
    response = Nothing(303);
    response.headers.Add(
        "Location", redirect + (redirect.find('?') == std::string::npos ? "?" : "&") +
                        "bucket=" + PercentEncoded(made.bucket) +
                        "&key=" + PercentEncoded(made.object) + "&etag=" + PercentEncoded(etag));
  } else if (Field(form, "success_action_status") == "201") {
    XmlElement root("PostResponse");
    root.Add("Location", location);
    root.Add("Bucket", made.bucket);
    root.Add("Key", made.object);
    root.Add("ETag", etag);
    response = XmlResponse(root, 201);
    response.headers.Add("Location", location);
  } else {
    response = Nothing(Field(form, "success_action_status") == "200" ? 200 : 204);
    response.headers.Add("Location", location);
  }
  AddWriteHeaders(object, &response.headers);
  return response;
}

// The policy of the form, checked; nothing in `policy` where it has none.
std::optional<http::Response> CheckForm(const XmlCall& call, const Form& form,
                                        std::optional<PostPolicy>* policy) {
  const std::string text = Field(form, "policy");
  if (text.empty()) return std::nullopt;
  auto parsed = ParsePostPolicy(text);
  if (!parsed.ok()) return ToResponse(xml_errors::InvalidPolicy(parsed.error().message));
  if (const auto flaw = CheckPolicySignature(call.services.signatures, form.fields)) {
    return FlawResponse(*flaw);
  }
  if (const auto flaw =
          CheckPolicy(*parsed, form.fields, call.place.bucket, call.services.clock.Now())) {
    return FlawResponse(*flaw);
  }
  *policy = std::move(*parsed);
  return std::nullopt;
}

}  // namespace

http::Response FormUploadXml(const XmlCall& call) {
  auto boundaries = BoundariesOf(call.request.headers.Get("Content-Type"));
  if (boundaries.empty()) return ToResponse(xml_errors::MalformedPost("there is no boundary"));
  MultipartReader parts(*call.request.body, std::move(boundaries));
  auto form = ReadFields(parts);
  if (!form.ok()) return ToResponse(xml_errors::MalformedPost(form.error().message));
  if (Field(*form, "key").empty()) {
    return ToResponse(xml_errors::InvalidArgument("the form needs a field 'key'"));
  }
  std::optional<PostPolicy> policy;
  if (auto refused = CheckForm(call, *form, &policy)) return std::move(*refused);
  const http::Request put = AsPut(*form);
  Place made = call.place;
  made.object = ReplaceAll(Field(*form, "key"), "${filename}", form->file_name);
  Insertion insertion{made.bucket, made.object, MetadataOf(put), PreconditionQuery(put)};
  std::string acl = Field(*form, "acl");
  if (acl.empty()) acl = Extension(put, "acl");
  if (!acl.empty()) insertion.query.emplace_back("predefinedAcl", CannedAcl(acl));
  Bounded bytes(parts, policy ? &*policy : nullptr);
  const JsonAnswer stored =
      call.services.storage.Insert(call.request, insertion, SumsOf(put), BoundaryFor(call), bytes);
  if (bytes.refusal()) return ToResponse(*bytes.refusal());
  if (!stored.ok()) {
    return FailureOf(call.services.storage, call.request, made, stored.response);
  }
  return Success(call, *form, made, stored.json);
}

}  // namespace caip::gcs
