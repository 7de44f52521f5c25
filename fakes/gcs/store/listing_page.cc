#include "fakes/gcs/store/listing_page.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr int kResultsMax = 1000;  // per page
constexpr char kAfterName = 'n';   // a token continues after a name, or after a common prefix
constexpr char kAfterPrefix = 'p';
constexpr char kAfterVersion = 'v';  // of a name: "v<generation>/<name>"

size_t Limit(const ListQuery& query) {
  const int wanted = query.max_results > 0 ? query.max_results : kResultsMax;
  return static_cast<size_t>(std::min(wanted, kResultsMax));
}

std::string TokenOf(const std::string& text) {
  std::string token = Base64(text);
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  return token;
}

}  // namespace

std::string AfterAllBelow(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

ListingPage::ListingPage(const ListQuery& query, std::string from)
    : query_(query), seek_(std::max({query.prefix, query.start_offset, std::move(from)})) {
  if (query.match_glob.empty()) return;
  glob_ = std::make_unique<Glob>(query.match_glob);
  seek_ = std::max(seek_, glob_->literal_prefix());
}

ListingPage::~ListingPage() = default;

bool ListingPage::BeyondEnd(const std::string& name) const {
  return !query_.end_offset.empty() && name >= query_.end_offset;
}

bool ListingPage::WantsBelow(const std::string& prefix) const {
  if (glob_ && !glob_->literal_prefix().starts_with(prefix) &&
      !prefix.starts_with(glob_->literal_prefix())) {
    return false;
  }
  return !BeyondEnd(prefix) &&
         (prefix.starts_with(query_.prefix) || query_.prefix.starts_with(prefix));
}

// Names come in order, and so do folders.
bool ListingPage::AddInTurn(PageEntry entry) {
  if (!AddFolders(&entry.name)) return false;
  return entry.name < seek_ || Add(std::move(entry));
}

// Those before this name, which may be an item and a prefix at once; all that are left without one.
bool ListingPage::AddFolders(const std::string* up_to) {
  for (; folders_ < query_.folders.size(); ++folders_) {
    const std::string& folder = query_.folders[folders_];
    if (up_to != nullptr && folder >= *up_to) return true;
    if (folder >= seek_ && !Add({folder, true})) return false;
  }
  return true;
}

void ListingPage::Finish() {
  if (!more_) (void)AddFolders(nullptr);
}

bool ListingPage::Add(PageEntry entry) {
  const std::string& name = entry.name;
  if (!name.starts_with(query_.prefix)) return name < query_.prefix;
  if (BeyondEnd(name)) return false;
  if (glob_ && !glob_->Matches(name)) {
    const std::string& literal = glob_->literal_prefix();
    return name < literal || name.starts_with(literal);
  }
  const size_t at = query_.delimiter.empty() ? std::string::npos
                                             : name.find(query_.delimiter, query_.prefix.size());
  const std::string group =
      at == std::string::npos ? "" : name.substr(0, at + query_.delimiter.size());
  const bool as_item =
      !entry.is_prefix && (group.empty() || (query_.include_trailing_delimiter && group == name));
  const size_t wanted = (group.empty() ? 0u : 1u) + (as_item ? 1u : 0u);
  if (!entries_.empty() && entries_.size() + wanted > Limit(query_)) {
    more_ = true;
    return false;
  }
  if (as_item) entries_.push_back(std::move(entry));
  if (!group.empty()) {
    entries_.push_back({group, true});
    seek_ = AfterAllBelow(group);
  }
  return true;
}

std::string ListingPage::NextPageToken() const {
  if (!more_) return "";
  const PageEntry& last = entries_.back();
  if (last.is_prefix) return TokenOf(kAfterPrefix + last.name);
  if (last.generation == 0) return PageTokenAfter(last.name);
  return TokenOf(kAfterVersion + std::to_string(last.generation) + "/" + last.name);
}

std::string PageTokenAfter(const std::string& name) { return TokenOf(kAfterName + name); }

Result<PageStart> ParsePageToken(const std::string& token) {
  if (token.empty()) return PageStart{};
  const auto text = FromBase64(token);
  if (!text || text->size() < 2 || !IsUtf8(*text)) return errors::PageTokenInvalid(token);
  const std::string rest = text->substr(1);
  if (text->front() == kAfterPrefix) return PageStart{AfterAllBelow(rest)};
  if (text->front() == kAfterName) return PageStart{rest + '\0'};
  int64_t generation = 0;
  const char* const last = rest.data() + rest.size();
  const auto [end, error] = std::from_chars(rest.data(), last, generation);
  if (text->front() != kAfterVersion || error != std::errc() || end == last || *end != '/') {
    return errors::PageTokenInvalid(token);
  }
  return PageStart{std::string(end + 1, last), generation + 1};
}

}  // namespace caip::gcs
