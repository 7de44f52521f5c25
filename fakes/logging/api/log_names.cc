#include "fakes/logging/api/log_names.h"

#include <algorithm>
#include <cctype>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/logging/api/errors.h"

namespace caip::logging {
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
