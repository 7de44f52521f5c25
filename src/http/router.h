#pragma once
// Routes as data: what is served is what the table says, and the table can be listed.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace caip::http {

/// What the {names} of a pattern stood for, decoded.
class PathParameters {
 public:
  void Set(std::string name, std::string value) {
    values_.emplace_back(std::move(name), std::move(value));
  }
  /// The value of that name, or "" where the pattern has none.
  const std::string& At(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

using RouteHandler = std::function<Response(const Request&, const PathParameters&)>;

/// One method of an API. `pattern` is a path whose segments are words, `{name}` (one segment),
/// `{name}:verb`, `word:verb`, or last `{name...}` (one segment or more). `id` names the method as
/// the discovery document does: "storage.objects.get".
struct Route {
  std::string method;
  std::string pattern;
  std::string id;
  RouteHandler handler;
  bool emulated = true;  // false: the service has it, and here it answers 501 with its name
};

/// Finds the route of a request. Segments are split before they are decoded, so that %2F is part of
/// a name. Filled once, then read by any thread.
class Router {
 public:
  /// Answers when no route fits: 404, or 405 with `allow` naming the methods that path knows.
  using NoRoute =
      std::function<Response(int status, const Request& request, const std::string& allow)>;

  explicit Router(NoRoute no_route);
  void Add(Route route);
  void Add(std::vector<Route> routes);
  /// HEAD is answered by GET's route where it has none of its own, OPTIONS with 204 and the
  /// methods that the path knows. X-HTTP-Method-Override is honoured.
  Response Handle(const Request& request) const;
  /// Which route would serve it; nullptr when none does.
  const Route* Find(std::string_view method, std::string_view path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Segment {
    enum class Kind { kWord, kOne, kRest } kind;
    std::string text;  // the word, or the parameter's name
    std::string verb;  // after the colon, or ""
  };
  struct Match;
  static std::vector<Segment> Compile(std::string_view pattern);
  static bool Fits(const std::vector<Segment>& pattern, const std::vector<std::string_view>& path);
  static bool MoreSpecific(const std::vector<Segment>& a, const std::vector<Segment>& b);
  Match Lookup(std::string_view method, std::string_view path) const;
  const std::vector<size_t>& CandidatesFor(std::string_view first_segment) const;

  NoRoute no_route_;
  std::vector<Route> routes_;
  std::vector<std::vector<Segment>> compiled_;  // one a route
  // Indices of routes, in their order: hundreds would be looked through for each request else.
  std::vector<size_t> all_;
  std::vector<size_t> open_;  // do not begin with a plain word
  std::map<std::string, std::vector<size_t>, std::less<>> by_word_;  // do so, and open_ with them
};

}  // namespace caip::http
