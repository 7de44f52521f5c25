#include "host/images/image_user.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>
#include <set>

#include "base/text.h"
#include "host/images/image_errors.h"
#include "host/images/image_files.h"

namespace caip::host {
namespace {

constexpr size_t kTableBytesMax = 1 << 20;
// As podman and docker. 4294967295 would mean to the kernel that a process keeps its user.
constexpr uint64_t kIdMax = 0x7fffffff;

using Row = std::vector<std::string>;

// A table that is too long is cut after a whole line.
std::string ReadTable(const ImageFiles& files, std::string_view path) {
  std::string text = files.ReadHead(path, kTableBytesMax);
  if (text.size() == kTableBytesMax) text.resize(text.rfind('\n') + 1);
  return text;
}

// The rows that have an ID.
std::vector<Row> RowsOf(const std::string& text) {
  std::vector<Row> rows;
  for (const std::string& line : Split(text, '\n')) {
    Row row = Split(line, ':');
    if (row.size() >= 3) rows.push_back(std::move(row));
  }
  return rows;
}

// A number that is too large for the type is the largest one.
std::optional<uint64_t> ParseId(std::string_view text) {
  if (!IsDigits(text)) return std::nullopt;
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? number : UINT64_MAX;
}

// The first row of that ID, if the name is a number, else of that name; nullptr: there is none.
const Row* FindRow(const std::vector<Row>& table, const std::string& name) {
  const auto id = ParseId(name);
  for (const Row& row : table) {
    if (id ? ParseId(row[2]) == id : row[0] == name) return &row;
  }
  return nullptr;
}

// The groups of which the user is a member, without `main`.
Result<std::vector<uint32_t>> GroupsOfMember(const std::vector<Row>& table, const std::string& user,
                                             uint32_t main) {
  std::set<uint32_t> groups;
  for (const Row& row : table) {
    if (row.size() < 4) continue;
    const std::vector<std::string> members = Split(row[3], ',');
    const auto id = ParseId(row[2]);
    if (!id || std::find(members.begin(), members.end(), user) == members.end()) continue;
    if (*id > kIdMax) return errors::GroupIdTooLarge(row[0], row[2]);
    if (*id != main) groups.insert(static_cast<uint32_t>(*id));
  }
  if (groups.size() >= NGROUPS_MAX) return errors::TooManyGroups(user, groups.size());
  return std::vector<uint32_t>(groups.begin(), groups.end());
}

Result<uint32_t> FindGroup(const std::vector<Row>& table, const std::string& name) {
  const Row* row = FindRow(table, name);
  const std::string& text = row ? (*row)[2] : name;
  const auto id = ParseId(text);
  if (!id) return errors::GroupNotInImage(name);
  if (*id > kIdMax) return errors::GroupIdTooLarge(name, text);
  return static_cast<uint32_t>(*id);
}

// What a row of /etc/passwd says of the user.
Result<ImageUser> UserOf(const Row& row) {
  ImageUser found;
  const auto id = ParseId(row[2]);
  if (!id) return errors::UserNotInImage(row[0]);
  if (*id > kIdMax) return errors::UserIdTooLarge(row[0], row[2]);
  found.user = static_cast<uint32_t>(*id);
  const uint64_t group = row.size() > 3 ? ParseId(row[3]).value_or(0) : 0;
  if (group > kIdMax) return errors::GroupIdTooLarge(row[0], row[3]);
  found.group = static_cast<uint32_t>(group);
  if (row.size() > 5 && row[5].starts_with('/')) found.home = row[5];
  return found;
}

Result<ImageUser> UserWithoutRow(const std::string& name) {
  ImageUser found;
  const auto id = ParseId(name);
  if (!id) return errors::UserNotInImage(name);
  if (*id > kIdMax) return errors::UserIdTooLarge(name, name);
  found.user = static_cast<uint32_t>(*id);
  if (found.user == 0) found.home = "/root";
  return found;
}

}  // namespace

Result<ImageUser> FindImageUser(const std::string& user, const std::vector<Path>& layers) {
  const ImageFiles files(layers);
  return FindUserInTables(
      user, UserTables{ReadTable(files, "etc/passwd"), ReadTable(files, "etc/group")});
}

Result<ImageUser> FindUserInTables(const std::string& user, const UserTables& tables) {
  const size_t colon = user.find(':');
  const std::string name = colon == 0 || user.empty() ? "0" : user.substr(0, colon);
  const std::string group = colon == std::string::npos ? "" : user.substr(colon + 1);
  const std::vector<Row> users = RowsOf(tables.users);
  const Row* row = FindRow(users, name);
  ASSIGN_OR_RETURN(ImageUser found, row ? UserOf(*row) : UserWithoutRow(name));
  const std::vector<Row> groups = RowsOf(tables.groups);
  if (!group.empty()) {
    ASSIGN_OR_RETURN(found.group, FindGroup(groups, group));
  } else if (row) {
    ASSIGN_OR_RETURN(found.groups, GroupsOfMember(groups, (*row)[0], found.group));
  }
  return found;
}

}  // namespace caip::host
