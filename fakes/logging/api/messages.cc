
#include "fakes/logging/api/messages.h"

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/filter/fields.h"

namespace caip::logging {
namespace {

constexpr size_t kBodyBytesMax = 16u << 20;  // the service accepts 10 MB of entries
constexpr std::string_view kPageTokenMark = "caip-log:";

struct CodeRow {
  Code code;
  int http;
  std::string_view name;
};

// From google/rpc/code.proto: the codes that this API returns.
constexpr CodeRow kCodes[] = {
    {Code::kInvalidArgument, 400, "INVALID_ARGUMENT"},
    {Code::kFailedPrecondition, 400, "FAILED_PRECONDITION"},
    {Code::kOutOfRange, 400, "OUT_OF_RANGE"},
    {Code::kUnauthenticated, 401, "UNAUTHENTICATED"},
    {Code::kPermissionDenied, 403, "PERMISSION_DENIED"},
    {Code::kNotFound, 404, "NOT_FOUND"},
    {Code::kAlreadyExists, 409, "ALREADY_EXISTS"},
    {Code::kAborted, 409, "ABORTED"},
    {Code::kResourceExhausted, 429, "RESOURCE_EXHAUSTED"},
    {Code::kUnimplemented, 501, "UNIMPLEMENTED"},
    {Code::kUnavailable, 503, "UNAVAILABLE"},
    {Code::kInternal, 500, "INTERNAL"},
    {Code::kDataLoss, 500, "DATA_LOSS"},
};

const CodeRow& FindRow(Code code) {
  const auto row = std::find_if(std::begin(kCodes), std::end(kCodes),
                                [code](const CodeRow& each) { return each.code == code; });
  return row != std::end(kCodes) ? *row : kCodes[std::size(kCodes) - 2];
}

}  // namespace

Result<Json> ReadBody(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kBodyBytesMax));
  if (Trim(text).empty()) return Json::object();
  auto body = ParseJson(text);
  if (!body.ok()) return errors::BodyMalformed(body.error().message);
  if (!body->is_object()) return errors::BodyNotAnObject();
  return body;
}

Result<Json> CanonicalMembers(const Json& object, std::initializer_list<std::string_view> names) {
  Json members = Json::object();
  for (const auto& [name, value] : object.items()) {
    const std::string camel = LowerCamelCase(name);
    if (std::find(names.begin(), names.end(), camel) == names.end()) {
      return errors::MemberUnknown(name, "");
    }
    if (!value.is_null()) members[camel] = value;
  }
  return members;
}

http::Response MakeResponse(const http::Request& request, const Result<Json>& result) {
  if (!result.ok()) return MakeErrorResponse(result.error(), Json());
  const bool is_compact = request.Query("prettyPrint") == "false";
  return http::JsonResponse(200, is_compact ? CompactJson(*result) : PrettyJson(*result) + "\n");
}

http::Response MakeErrorResponse(const Error& error, const Json& details) {
  const CodeRow& row = FindRow(error.code);
  Json body = {{"code", row.http}, {"message", error.message}, {"status", row.name}};
  if (!details.is_null()) body["details"] = details;
  return http::JsonResponse(row.http, PrettyJson({{"error", std::move(body)}}) + "\n");
}

Result<size_t> LimitPageSize(long long asked, size_t standard, size_t most) {
  if (asked < 0) return errors::PageSizeNegative(asked);
  if (asked == 0) return standard;
  return std::min(static_cast<size_t>(asked), most);
}

std::string MakePageToken(const Json& token) {
  return Base64Url(std::string(kPageTokenMark) + CompactJson(token), true);
}

Result<Json> ParsePageToken(std::string_view text) {
  const auto bytes = FromBase64(text);
  if (!bytes || !bytes->starts_with(kPageTokenMark)) return errors::PageTokenInvalid();
  auto token = ParseJson(std::string_view(*bytes).substr(kPageTokenMark.size()));
  if (!token.ok() || !token->is_object()) return errors::PageTokenInvalid();
  return token;
}

namespace {

constexpr size_t kLogIdBytesMax = 511;  // "less than 512 characters"

bool IsLogIdCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("/_-.").find(c) != std::string_view::npos;
}

bool IsLogId(std::string_view id) {
  return !id.empty() && id.size() <= kLogIdBytesMax &&
         std::all_of(id.begin(), id.end(), IsLogIdCharacter);
}

}  // namespace

bool IsParentKind(std::string_view kind) {
  return kind == "projects" || kind == "organizations" || kind == "folders" ||
         kind == "billingAccounts";
}

std::optional<std::string> ParseParent(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos || !IsParentKind(text.substr(0, slash))) return std::nullopt;
  const std::string_view id = text.substr(slash + 1);
  if (id.empty() || id.find('/') != id.npos) return std::nullopt;
  return std::string(text);
}

Result<LogKey> ParseLogName(std::string_view text) {
  constexpr std::string_view kMark = "/logs/";
  const size_t mark = text.find(kMark);
  if (mark == text.npos) return errors::LogNameInvalid(std::string(text));
  const auto parent = ParseParent(text.substr(0, mark));
  const auto id = PercentDecoded(text.substr(mark + kMark.size()));
  if (!parent || !id || !IsLogId(*id)) return errors::LogNameInvalid(std::string(text));
  return LogKey{*parent, *id};
}

std::string LogNameText(const LogKey& log) {
  return log.parent + "/logs/" + PercentEncoded(log.log_id);
}

Result<ListedResource> ParseListedResource(std::string_view text) {
  if (const auto parent = ParseParent(text)) return ListedResource{*parent};
  const std::vector<std::string> parts = Split(text, '/');
  const bool is_view = parts.size() == 8 && parts[2] == "locations" && parts[4] == "buckets" &&
                       parts[6] == "views" && IsParentKind(parts[0]) && !parts[1].empty();
  if (!is_view) return errors::ResourceNameInvalid(std::string(text));
  const std::string parent = parts[0] + "/" + parts[1];
  const bool is_default =
      parts[5] == "_Default" && (parts[7] == "_AllLogs" || parts[7] == "_Default");
  const bool is_required = parts[5] == "_Required" && parts[7] == "_AllLogs";
  if (parts[3] != "global" || (!is_default && !is_required)) {
    return errors::ResourceNotFound("View", std::string(text));
  }
  return ListedResource{parent, is_required};
}

}  // namespace caip::logging
