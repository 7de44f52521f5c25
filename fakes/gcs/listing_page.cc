#include "fakes/gcs/listing_page.h"

#include <algorithm>

#include "base/text.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr int kResultsMax = 1000;  // per page, whatever is asked for
constexpr char kAfterName = 'n';   // a token continues after a name, or after a common prefix
constexpr char kAfterPrefix = 'p';

size_t Limit(const ListQuery& query) {
  const int wanted = query.max_results > 0 ? query.max_results : kResultsMax;
  return static_cast<size_t>(std::min(wanted, kResultsMax));
}

}  // namespace

std::string AfterAllBelow(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

ListingPage::ListingPage(const ListQuery& query, std::string from)
    : query_(query), seek_(std::max({query.prefix, query.start_offset, std::move(from)})) {}

bool ListingPage::BeyondEnd(const std::string& name) const {
  return !query_.end_offset.empty() && name >= query_.end_offset;
}

bool ListingPage::WantsBelow(const std::string& prefix) const {
  return !BeyondEnd(prefix) &&
         (prefix.starts_with(query_.prefix) || query_.prefix.starts_with(prefix));
}

bool ListingPage::Visit(const std::string& name, const std::string&) {
  if (!name.starts_with(query_.prefix)) return name < query_.prefix;
  if (BeyondEnd(name)) return false;
  const size_t at = query_.delimiter.empty() ? std::string::npos
                                             : name.find(query_.delimiter, query_.prefix.size());
  const std::string group =
      at == std::string::npos ? "" : name.substr(0, at + query_.delimiter.size());
  const bool as_item = group.empty() || (query_.include_trailing_delimiter && group == name);
  const size_t wanted = (group.empty() ? 0u : 1u) + (as_item ? 1u : 0u);
  if (!entries_.empty() && entries_.size() + wanted > Limit(query_)) {
    more_ = true;
    return false;
  }
  if (as_item) entries_.push_back({name, false});
  if (!group.empty()) {
    entries_.push_back({group, true});
    seek_ = AfterAllBelow(group);
  }
  return true;
}

std::string ListingPage::NextPageToken() const {
  if (!more_) return "";
  const PageEntry& last = entries_.back();
  std::string token = Base64((last.is_prefix ? kAfterPrefix : kAfterName) + last.name);
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  return token;
}

Result<std::string> ParsePageToken(const std::string& token) {
  if (token.empty()) return std::string();
  const auto text = FromBase64(token);
  if (!text || text->size() < 2 || !IsUtf8(*text)) return errors::PageTokenInvalid(token);
  std::string name = text->substr(1);
  if (text->front() == kAfterPrefix) return AfterAllBelow(std::move(name));
  if (text->front() != kAfterName) return errors::PageTokenInvalid(token);
  return name + '\0';
}

}  // namespace caip::gcs
