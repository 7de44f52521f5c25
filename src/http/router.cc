#include "http/router.h"

#include <algorithm>
#include <optional>

#include "base/encoding.h"
#include "base/text.h"
#include "http/message.h"

namespace caip::http {
namespace {

// Splits "/a//b" into {"a", "", "b"}.
std::vector<std::string_view> SplitSegments(std::string_view path) {
  std::vector<std::string_view> segments;
  segments.reserve(8);
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

// Removes ":verb" from the end of a segment; nullopt if it does not end that way.
std::optional<std::string_view> RemoveVerb(std::string_view segment, std::string_view verb) {
  if (verb.empty()) return segment;
  if (segment.size() <= verb.size() || !segment.ends_with(verb)) return std::nullopt;
  segment.remove_suffix(verb.size());
  if (segment.back() != ':') return std::nullopt;
  segment.remove_suffix(1);
  return segment;
}

bool IsWord(std::string_view segment, std::string_view word) {
  return segment == word || (segment.find('%') != std::string_view::npos &&
                             PercentDecoded(segment).value_or("") == word);
}

constexpr char kOverrideHeader[] = "X-HTTP-Method-Override";
constexpr std::string_view kOverridingMethods[] = {"GET", "PUT", "PATCH", "DELETE"};
constexpr size_t kFormBytesMax = 1 << 20;

bool IsForm(const Request& request) {
  const std::string type = LowerCase(request.headers.Get("Content-Type"));
  return type.starts_with("application/x-www-form-urlencoded");
}

}  // namespace

struct Router::Match {
  const Route* route = nullptr;
  const std::vector<Segment>* pattern = nullptr;
  std::string allow;  // the methods of all routes whose pattern fits
};

std::optional<Request> ApplyMethodOverride(const Request& request) {
  if (request.method != "POST" || !request.headers.Has(kOverrideHeader)) return std::nullopt;
  const std::string method = UpperCase(Trim(request.headers.Get(kOverrideHeader)));
  if (std::find(std::begin(kOverridingMethods), std::end(kOverridingMethods), method) ==
      std::end(kOverridingMethods)) {
    return std::nullopt;
  }
  Request applied = request;
  applied.method = method;
  if (method == "GET" && IsForm(request)) {
    const auto form = request.ReadBody(kFormBytesMax);
    if (!form.ok()) return std::nullopt;
    const auto target = ParseTarget("/?" + *form);
    if (!target) return std::nullopt;
    applied.query.insert(applied.query.end(), target->query.begin(), target->query.end());
  }
  return applied;
}

const std::string& PathParameters::At(std::string_view name) const {
  static const std::string none;
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return none;
}

Router::Router(NoRoute no_route) : no_route_(std::move(no_route)) {}

void Router::Add(Route route) {
  const size_t index = routes_.size();
  compiled_.push_back(Compile(patterns_.emplace_back(route.pattern)));
  routes_.push_back(std::move(route));
  all_.push_back(index);
  const Segment& first = compiled_.back().front();
  if (first.kind == Segment::Kind::kWord && first.verb.empty()) {
    AddTo(by_word_.try_emplace(first.text, open_).first->second, index, compiled_.back());
    return;
  }
  AddTo(open_, index, compiled_.back());
  for (auto& [word, lists] : by_word_) AddTo(lists, index, compiled_.back());
}

void Router::AddTo(BySize& lists, size_t index, const std::vector<Segment>& pattern) {
  const size_t first = std::min(pattern.size(), lists.size() - 1);
  const size_t last = HasRest(pattern) ? lists.size() - 1 : first;
  for (size_t size = first; size <= last; ++size) lists[size].push_back(index);
}

void Router::Add(std::vector<Route> routes) {
  for (Route& route : routes) Add(std::move(route));
}

std::vector<Router::Segment> Router::Compile(std::string_view pattern) {
  const std::vector<std::string_view> segments = SplitSegments(pattern);
  std::vector<Segment> compiled;
  compiled.reserve(segments.size());
  for (std::string_view segment : segments) {
    const size_t colon = segment.rfind(':');
    const std::string_view verb =
        colon == std::string_view::npos ? std::string_view() : segment.substr(colon + 1);
    segment = segment.substr(0, colon);
    if (!segment.starts_with('{')) {
      compiled.push_back({Segment::Kind::kWord, segment, verb});
      continue;
    }
    assert(segment.ends_with('}'));
    segment = segment.substr(1, segment.size() - 2);
    const bool rest = segment.ends_with("...");
    if (rest) segment.remove_suffix(3);
    compiled.push_back({rest ? Segment::Kind::kRest : Segment::Kind::kOne, segment, verb});
  }
  return compiled;
}

bool Router::HasRest(const std::vector<Segment>& pattern) {
  return std::any_of(pattern.begin(), pattern.end(),
                     [](const Segment& segment) { return segment.kind == Segment::Kind::kRest; });
}

bool Router::HasSizeFor(const std::vector<Segment>& pattern,
                        const std::vector<std::string_view>& path) {
  return path.size() == pattern.size() || (path.size() > pattern.size() && HasRest(pattern));
}

bool Router::FitsOne(const Segment& segment, std::string_view text) {
  const auto bare = RemoveVerb(text, segment.verb);
  if (!bare) return false;
  return segment.kind == Segment::Kind::kWord ? IsWord(*bare, segment.text) : !bare->empty();
}

// From the end, because the first segments of the candidates are mostly the same.
bool Router::Fits(const std::vector<Segment>& pattern, const std::vector<std::string_view>& path) {
  if (!HasSizeFor(pattern, path)) return false;
  const size_t more = path.size() - pattern.size();  // segments that {name...} has beyond one
  size_t at = path.size();
  for (auto segment = pattern.rbegin(); segment != pattern.rend(); ++segment) {
    if (segment->kind == Segment::Kind::kRest) {
      at -= more + 1;
    } else if (!FitsOne(*segment, path[--at])) {
      return false;
    }
  }
  return true;
}

// From left to right: a word precedes a name, a name with a verb precedes one without, and
// {name...} comes last.
bool Router::MoreSpecific(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].kind != b[i].kind) return a[i].kind < b[i].kind;
    if (a[i].verb.empty() != b[i].verb.empty()) return !a[i].verb.empty();
  }
  return a.size() > b.size();
}

const Router::Indices& Router::CandidatesFor(const std::vector<std::string_view>& path) const {
  if (path.front().find('%') != std::string_view::npos) return all_;
  const auto found = by_word_.find(path.front());
  const BySize& lists = found == by_word_.end() ? open_ : found->second;
  return lists[std::min(path.size(), lists.size() - 1)];
}

Router::Match Router::Lookup(std::string_view method, std::string_view path) const {
  const std::vector<std::string_view> segments = SplitSegments(path);
  const Indices& candidates = CandidatesFor(segments);
  Match match;
  for (const std::string_view wanted : {method, std::string_view(method == "HEAD" ? "GET" : "")}) {
    for (const size_t i : candidates) {
      if (!HasSizeFor(compiled_[i], segments) || routes_[i].method != wanted) continue;
      if (!Fits(compiled_[i], segments)) continue;
      if (match.route == nullptr || MoreSpecific(compiled_[i], *match.pattern)) {
        match.route = &routes_[i];
        match.pattern = &compiled_[i];
      }
    }
    if (match.route != nullptr) return match;
  }
  for (const size_t i : candidates) {
    const std::string& known = routes_[i].method;
    if (match.allow.find(known) != std::string::npos || !Fits(compiled_[i], segments)) continue;
    match.allow += (match.allow.empty() ? "" : ", ") + known;
  }
  return match;
}

const Route* Router::Find(std::string_view method, std::string_view path) const {
  return Lookup(method, path).route;
}

Response Router::HandleUnrouted(const Request& request, const std::string& allow) const {
  if (request.method == "OPTIONS" && (!allow.empty() || request.path == "*")) {
    Response response;
    response.status = 204;
    response.headers.Add(
        "Allow", allow.empty() ? "GET, HEAD, OPTIONS, POST, PUT, DELETE" : allow + ", OPTIONS");
    return response;
  }
  Response response = no_route_(allow.empty() ? 404 : 405, request, allow);
  if (!allow.empty()) response.headers.Set("Allow", allow);
  return response;
}

std::optional<PathParameters> Router::ReadParameters(const std::vector<Segment>& pattern,
                                                     std::string_view path) {
  PathParameters parameters;
  const std::vector<std::string_view> segments = SplitSegments(path);
  const size_t more = segments.size() - pattern.size();
  size_t at = 0;
  for (const Segment& segment : pattern) {
    const size_t last = at + (segment.kind == Segment::Kind::kRest ? more : 0);
    std::string raw(RemoveVerb(segments[at], segment.verb).value_or(""));
    while (at < last) raw.append("/").append(segments[++at]);
    ++at;
    if (segment.kind == Segment::Kind::kWord) continue;
    auto value = PercentDecoded(raw);
    if (!value) return std::nullopt;
    parameters.Set(std::string(segment.text), std::move(*value));
  }
  return parameters;
}

Response Router::Handle(const Request& request) const {
  if (const auto applied = ApplyMethodOverride(request)) return Handle(*applied);
  const Match match = Lookup(request.method, request.path);
  if (match.route == nullptr) return HandleUnrouted(request, match.allow);
  const auto parameters = ReadParameters(*match.pattern, request.path);
  if (!parameters) return no_route_(404, request, "");  // a broken escape
  return match.route->handler(request, *parameters);
}

}  // namespace caip::http
