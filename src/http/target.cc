#include "http/target.h"

#include "base/encoding.h"

namespace caip::http {
namespace {

std::optional<std::string> DecodeQueryText(std::string_view text) {
  if (text.find_first_of("%+") == std::string_view::npos) return std::string(text);
  std::string blanks(text);
  for (char& c : blanks) {
    if (c == '+') c = ' ';
  }
  return PercentDecoded(blanks);
}

}  // namespace

std::optional<Target> ParseTarget(std::string_view text) {
  std::string authority;
  if (const size_t scheme = text.find("://");
      scheme != std::string_view::npos && !text.starts_with('/')) {
    const std::string_view rest = text.substr(scheme + 3);
    const size_t path = rest.find_first_of("/?#");
    authority = std::string(rest.substr(0, path));
    if (authority.empty()) return std::nullopt;
    text = path == std::string_view::npos ? "/" : rest.substr(path);
  }
  text = text.substr(0, text.find('#'));
  const size_t mark = text.find('?');
  Target target{std::string(text.substr(0, mark)), {}, std::move(authority)};
  if (target.path.empty()) target.path = "/";
  if (target.path != "*" && target.path[0] != '/') return std::nullopt;
  if (mark == std::string_view::npos) return target;
  std::string_view rest = text.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const auto key = DecodeQueryText(pair.substr(0, equals));
    const auto value = DecodeQueryText(equals == std::string_view::npos ? std::string_view()
                                                                        : pair.substr(equals + 1));
    if (!key || !value) return std::nullopt;
    target.query.emplace_back(*key, *value);
  }
  return target;
}

}  // namespace caip::http
