#pragma once
// Routes as data: a table from methods and path patterns to handlers.

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace caip::http {

/// The decoded values of the {names} of a pattern.
class PathParameters {
 public:
  void Set(std::string name, std::string value) {
    values_.emplace_back(std::move(name), std::move(value));
  }
  /// The value of that name, or "" if the pattern does not have it.
  const std::string& At(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

using RouteHandler = std::function<Response(const Request&, const PathParameters&)>;

/// One method of an API. `pattern` is a path whose segments are words, `{name}` (one segment),
/// `{name}:verb`, `word:verb`, or one `{name...}` (one segment or more). `id` names the method as
/// the discovery document does: "storage.objects.get".
struct Route {
  std::string method;
  std::string pattern;
  std::string id;
  RouteHandler handler;
  bool emulated = true;  // false: a method of the service that answers an error here
};

/// X-HTTP-Method-Override replaces the method of a POST. Google's client for Java sends PATCH this
/// way; Google's client for Python sends a GET whose query is too long for a URL as a form, which
/// is read to its end and becomes the query. nullopt: the request has no valid override.
std::optional<Request> ApplyMethodOverride(const Request& request);

/// Finds the route of a request. Segments are split before they are decoded, so that %2F is part of
/// a name. Filled once, then read by any thread.
class Router {
 public:
  /// Answers a request that no route fits: 404, or 405 with the methods of that path in `allow`.
  using NoRoute =
      std::function<Response(int status, const Request& request, const std::string& allow)>;

  explicit Router(NoRoute no_route);
  Router(Router&&) = default;
  Router& operator=(Router&&) = default;
  Router(const Router&) = delete;  // its patterns point into it
  Router& operator=(const Router&) = delete;
  void Add(Route route);
  void Add(std::vector<Route> routes);
  /// The route of GET also answers HEAD if HEAD has no route. OPTIONS answers 204 with the methods
  /// of the path. Applies X-HTTP-Method-Override.
  Response Handle(const Request& request) const;
  /// The route that would serve the request; nullptr if none would.
  const Route* Find(std::string_view method, std::string_view path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Segment {
    enum class Kind { kWord, kOne, kRest } kind;
    std::string_view text;  // the word, or the parameter's name; of patterns_
    std::string_view verb;  // after the colon, or ""
  };
  struct Match;
  static std::vector<Segment> Compile(std::string_view pattern);
  static bool HasRest(const std::vector<Segment>& pattern);
  static bool HasSizeFor(const std::vector<Segment>& pattern,
                         const std::vector<std::string_view>& path);
  static bool FitsOne(const Segment& segment, std::string_view text);
  static bool Fits(const std::vector<Segment>& pattern, const std::vector<std::string_view>& path);
  static bool MoreSpecific(const std::vector<Segment>& a, const std::vector<Segment>& b);
  Response HandleUnrouted(const Request& request, const std::string& allow) const;
  static std::optional<PathParameters> ReadParameters(const std::vector<Segment>& pattern,
                                                      std::string_view path);
  Match Lookup(std::string_view method, std::string_view path) const;

  NoRoute no_route_;
  std::vector<Route> routes_;
  std::deque<std::string> patterns_;            // one per route; they stay where they are
  std::vector<std::vector<Segment>> compiled_;  // likewise
  // Indices of routes, in order, so that a request is not compared with hundreds of routes.
  using Indices = std::vector<size_t>;
  // By the number of segments; the last ones fit that number and more.
  using BySize = std::array<Indices, 12>;
  const Indices& CandidatesFor(const std::vector<std::string_view>& path) const;
  static void AddTo(BySize& lists, size_t index, const std::vector<Segment>& pattern);
  Indices all_;
  BySize open_;                                 // those that do not begin with a plain word
  std::map<std::string_view, BySize> by_word_;  // those that do, and open_
};

}  // namespace caip::http
