#include "run/queueing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/time_text.h"
#include "run/texts.h"

namespace caip::run {
namespace {

using std::chrono::hours;

constexpr Duration kLongest = hours(24 * 365);

std::optional<Duration> ReadDelay(std::string_view text) {
  const auto delay = ParseDuration(text);
  return delay && *delay <= kLongest ? delay : std::nullopt;
}

// A whole text that is one number.
template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

using Settings = std::map<std::string, std::string, std::less<>>;

// "a=1,b=2" with names out of `known`, each at most once.
std::optional<Settings> ReadSettings(std::string_view text,
                                     std::initializer_list<std::string_view> known) {
  Settings settings;
  for (const std::string& part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = part.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) return std::nullopt;
    if (!settings.emplace(name, part.substr(equals + 1)).second) return std::nullopt;
  }
  return settings;
}

std::optional<DelayModel> ReadConstant(std::string_view text) {
  const auto delay = ReadDelay(text);
  if (!delay) return std::nullopt;
  return ConstantDelay{*delay};
}

std::optional<DelayModel> ReadUniform(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto least = ReadDelay(text.substr(0, dots));
  const auto most = ReadDelay(text.substr(dots + 2));
  if (!least || !most || *least > *most) return std::nullopt;
  return UniformDelay{*least, *most};
}

std::optional<DelayModel> ReadLognormal(std::string_view text) {
  const auto settings = ReadSettings(text, {"median", "sigma"});
  if (!settings || settings->size() != 2) return std::nullopt;
  const auto median = ReadDelay(settings->at("median"));
  const auto sigma = ReadNumber<double>(settings->at("sigma"));
  if (!median || !sigma || !(*sigma >= 0 && *sigma <= 5)) return std::nullopt;
  return LognormalDelay{*median, *sigma};
}

std::optional<DelayModel> ReadStockOut(std::string_view text) {
  const auto settings = ReadSettings(text, {"tries", "every"});
  if (!settings || !settings->contains("tries")) return std::nullopt;
  const auto tries = ReadNumber<int>(settings->at("tries"));
  if (!tries || *tries < 1 || *tries > kStockOutTriesMax) return std::nullopt;
  StockOut model{*tries};
  if (settings->contains("every")) {
    const auto every = ReadDelay(settings->at("every"));
    if (!every) return std::nullopt;
    model.every = *every;
  }
  return model;
}

std::optional<DelayModel> Read(std::string_view text) {
  if (text == "none") return NoDelay{};
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (kind == "constant") return ReadConstant(rest);
  if (kind == "uniform") return ReadUniform(rest);
  if (kind == "lognormal") return ReadLognormal(rest);
  if (kind == "stock-out") return ReadStockOut(rest);
  return std::nullopt;
}

// The text that ParseDuration reads back as exactly this.
std::string Brief(Duration delay) {
  const auto count = delay.count();
  constexpr std::pair<int64_t, const char*> kUnits[] = {
      {3'600'000'000'000, "h"}, {60'000'000'000, "m"}, {1'000'000'000, "s"},
      {1'000'000, "ms"},        {1'000, "us"},         {1, "ns"}};
  if (count == 0) return "0";
  for (const auto& [unit, name] : kUnits) {
    if (count % unit == 0) return std::to_string(count / unit) + name;
  }
  return "";
}

std::string Brief(double number) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, number);
  return std::string(text, end);
}

struct Writer {
  std::string operator()(const NoDelay&) const { return "none"; }
  std::string operator()(const ConstantDelay& m) const { return "constant:" + Brief(m.delay); }
  std::string operator()(const UniformDelay& m) const {
    return "uniform:" + Brief(m.least) + ".." + Brief(m.most);
  }
  std::string operator()(const LognormalDelay& m) const {
    return "lognormal:median=" + Brief(m.median) + ",sigma=" + Brief(m.sigma);
  }
  std::string operator()(const StockOut& m) const {
    return "stock-out:tries=" + std::to_string(m.tries) + ",every=" + Brief(m.every);
  }
};

struct Thrower {
  Random& random;

  Wait operator()(const NoDelay&) const { return {}; }
  Wait operator()(const ConstantDelay& m) const { return {m.delay}; }
  Wait operator()(const UniformDelay& m) const {
    const auto width = static_cast<uint64_t>((m.most - m.least).count());
    return {m.least + Duration(static_cast<int64_t>(random.Below(width + 1)))};
  }
  Wait operator()(const LognormalDelay& m) const {
    const double wait = static_cast<double>(m.median.count()) * std::exp(m.sigma * random.Normal());
    return {Duration(static_cast<int64_t>(std::min(wait, static_cast<double>(kLongest.count()))))};
  }
  Wait operator()(const StockOut& m) const {
    return {m.every * m.tries, m.tries, m.tries >= kStockOutTriesMax};
  }
};

}  // namespace

Result<DelayModel> ParseDelayModel(std::string_view text) {
  if (auto model = Read(text)) return *model;
  return texts::DelayModelMalformed(text);
}

std::string Text(const DelayModel& model) { return std::visit(Writer{}, model); }

Wait Throw(const DelayModel& model, Random& random) { return std::visit(Thrower{random}, model); }

}  // namespace caip::run
