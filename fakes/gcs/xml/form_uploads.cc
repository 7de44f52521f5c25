// POST /bucket with multipart/form-data: uploads from HTML forms, with or without a policy.
// https://cloud.google.com/storage/docs/xml-api/post-object-forms
#include <algorithm>
#include <optional>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/signing/post_policy.h"
#include "fakes/gcs/wire/multipart.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/upload_bounds.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kFieldBytesMax = 256 << 10;
constexpr size_t kFieldsMax = 200;

// Browsers send quotes and ends of lines as %22, %0D and %0A, and no other character so.
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
char EscapedByBrowser(std::string_view text) {
  if (text.starts_with("%22")) return '"';
  if (text.starts_with("%0D")) return '\r';
  return text.starts_with("%0A") ? '\n' : '\0';
}

// Takes the value at the head of `rest`: a quoted string, or the text up to the next ';'. In
// quotes, only \" and \\ are escapes of the backslash, because some browsers send paths such as
// "C:\a.txt".
std::string TakeValue(std::string_view* rest) {
  if (!rest->starts_with('"')) {
    const std::string_view word = rest->substr(0, rest->find(';'));
    rest->remove_prefix(word.size());
    return std::string(Trim(word));
  }
  std::string value;
  size_t at = 1;
  for (; at < rest->size() && (*rest)[at] != '"'; ++at) {
    const std::string_view pair = rest->substr(at, 2);
    if (pair == "\\\"" || pair == "\\\\") ++at;
    const char escaped = EscapedByBrowser(rest->substr(at));
    value += escaped ? escaped : (*rest)[at];
    if (escaped) at += 2;
  }
  rest->remove_prefix(std::min(at + 1, rest->size()));
  return value;
}

// Reads one parameter of `form-data; name="file"; filename="a.txt"`.
std::string Parameter(std::string_view disposition, std::string_view name) {
  while (!disposition.empty()) {
    const size_t end = std::min(disposition.find_first_of(";="), disposition.size());
    const bool has_value = disposition.substr(end).starts_with('=');
    const std::string_view found = Trim(disposition.substr(0, end));
    disposition = Trim(disposition.substr(std::min(end + 1, disposition.size())));
    if (!has_value) continue;
    std::string value = TakeValue(&disposition);
    if (found == name) return value;
  }
  return "";
}

std::string FromLatin1(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(byte >> 6 | 0xc0);
    text += byte >= 0x80 ? static_cast<char>((byte & 0x3f) | 0x80) : c;
  }
  return text;
}

// Reads a value such as `UTF-8'en'a%20b.txt` (RFC 5987). nullopt if it is not valid, or in another
// character set.
std::optional<std::string> ExtendedValue(std::string_view value) {
  const size_t language = value.find('\'');
  const size_t text = language == value.npos ? value.npos : value.find('\'', language + 1);
  if (text == value.npos) return std::nullopt;
  const std::string charset = LowerCase(value.substr(0, language));
  const auto bytes = PercentDecoded(value.substr(text + 1));
  if (!bytes) return std::nullopt;
  if (charset == "iso-8859-1") return FromLatin1(*bytes);
  if (charset == "utf-8" && IsUtf8(*bytes)) return bytes;
  return std::nullopt;
}

// filename*, where a client sends it, has the characters that filename cannot have (RFC 6266).
std::string FileName(std::string_view disposition) {
  const auto extended = ExtendedValue(Parameter(disposition, "filename*"));
  return extended ? *extended : Parameter(disposition, "filename");
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
      form.file_name = FileName(disposition);
      form.file_type = std::string(parts.headers().Get("Content-Type"));
      return form;
    }
    ASSIGN_OR_RETURN(std::string value, parts.ReadPart(kFieldBytesMax));
    form.fields[name] = std::move(value);
  }
  return xml_errors::MalformedPost("the form has no field 'file'");
}

std::string FieldOf(const Form& form, const std::string& name) {
  const auto field = form.fields.find(name);
  return field == form.fields.end() ? "" : field->second;
}

// Reads the fields. Reports mistakes as errors of the XML API.
Result<Form> ReadForm(MultipartReader& parts) {
  auto form = ReadFields(parts);
  if (!form.ok()) return xml_errors::MalformedPost(form.error().message);
  if (FieldOf(*form, "key").empty()) {
    return xml_errors::InvalidArgument("the form needs a field 'key'");
  }
  return form;
}

// Converts the form's fields to the headers of a PUT.
http::Request AsPut(const Form& form) {
  http::Request put;
  for (const auto& [name, value] : form.fields) put.headers.Set(name, value);
  put.headers.Set("Content-Type", FieldOf(form, "content-type").empty()
                                      ? form.file_type
                                      : FieldOf(form, "content-type"));
  return put;
}

// 303 to the page that the form names, with the object's facts in the query.
http::Response FormRedirect(const std::string& page, const Place& made, const std::string& etag) {
  http::Response response = EmptyResponse(303);
  response.headers.Add("Location", page + (page.find('?') == std::string::npos ? "?" : "&") +
                                       "bucket=" + PercentEncoded(made.bucket) +
                                       "&key=" + PercentEncoded(made.object) +
                                       "&etag=" + PercentEncoded(etag));
  return response;
}

// 201 with the object's facts in the body.
http::Response FormCreated(const std::string& location, const Place& made,
                           const std::string& etag) {
  XmlElement root("PostResponse");
  root.Add("Location", location);
  root.Add("Bucket", made.bucket);
  root.Add("Key", made.object);
  root.Add("ETag", etag);
  return XmlResponse(root, 201);
}

// 204, unless the form names another status or a redirect.
http::Response FormStored(const XmlCall& call, const Form& form, const ObjectInfo& object) {
  const Place made{object.bucket, object.name, call.place.bucket_in_host};
  std::string page = FieldOf(form, "success_action_redirect");
  if (page.empty()) page = FieldOf(form, "redirect");
  const std::string location = call.request.BaseUrl() + PathOf(made);
  const std::string status = FieldOf(form, "success_action_status");
  http::Response response = EmptyResponse(status == "200" ? 200 : 204);
  if (!page.empty()) {
    response = FormRedirect(page, made, XmlEtag(object));
  } else if (status == "201") {
    response = FormCreated(location, made, XmlEtag(object));
  }
  if (page.empty()) response.headers.Add("Location", location);
  AddWriteHeaders(object, &response.headers);
  return response;
}

// Returns the error response if the policy's signature is invalid or a condition does not hold.
std::optional<http::Response> CheckForm(const XmlCall& call, const Form& form,
                                        const PostPolicy& policy) {
  if (const auto flaw = CheckPolicySignature(call.services.signatures, form.fields)) {
    return XmlErrorResponse(*flaw);
  }
  if (const auto flaw =
          CheckPolicy(policy, form.fields, call.place.bucket, call.services.clock.Now())) {
    return XmlErrorResponse(*flaw);
  }
  return std::nullopt;
}

Result<std::optional<PostPolicy>> PolicyOf(const Form& form) {
  const std::string text = FieldOf(form, "policy");
  if (text.empty()) return std::optional<PostPolicy>();
  ASSIGN_OR_RETURN(PostPolicy policy, ParsePostPolicy(text));
  return std::optional<PostPolicy>(std::move(policy));
}

// Returns the policy's content-length-range.
UploadBounds BoundsOf(const std::optional<PostPolicy>& policy) {
  if (!policy) return {};
  return {policy->bytes_min.value_or(0), policy->bytes_max};
}

// Reads the form's fields as the headers of a PUT. Encryption keys are headers of the request
// itself.
Result<UploadPlan> PlanOfForm(const XmlCall& call, const Form& form) {
  const http::Request put = AsPut(form);
  UploadPlan plan;
  plan.info.bucket = call.place.bucket;
  plan.info.name = ReplaceAll(FieldOf(form, "key"), "${filename}", form.file_name);
  plan.info.content_type = "application/octet-stream";
  ApplyMetadataHeaders(put, &plan.info);
  ASSIGN_OR_RETURN(plan.preconditions, PreconditionHeaders(put));
  const std::string acl = FieldOf(form, "acl");
  RETURN_IF_ERROR(ApplyCannedAcl(acl.empty() ? Extension(put, "acl") : acl, &plan.info));
  ASSIGN_OR_RETURN(plan.info.customer_key_sha256, CustomerKeySha256(call.request));
  RETURN_IF_ERROR(AddHeaderSums(put, &plan.sums));
  return plan;
}

}  // namespace

Result<http::Response> FormUploadXml(const XmlCall& call) {
  auto boundaries = BoundariesOf(call.request.headers.Get("Content-Type"));
  if (boundaries.empty()) return xml_errors::MalformedPost("there is no boundary");
  MultipartReader parts(*call.request.body, std::move(boundaries));
  ASSIGN_OR_RETURN(const Form form, ReadForm(parts));
  ASSIGN_OR_RETURN(const std::optional<PostPolicy> policy, PolicyOf(form));
  if (policy) {
    if (auto refused = CheckForm(call, form, *policy)) return std::move(*refused);
  }
  ASSIGN_OR_RETURN(const UploadPlan plan, PlanOfForm(call, form));
  BoundedBody bounded(parts, BoundsOf(policy));
  return AnswerUpload(call, bounded, 0, [&](http::BodyReader& bytes) -> Result<http::Response> {
    ASSIGN_OR_RETURN(const ObjectInfo made, call.storage().Insert(plan, bytes));
    return FormStored(call, form, made);
  });
}

}  // namespace caip::gcs
