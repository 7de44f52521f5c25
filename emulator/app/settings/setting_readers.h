#pragma once
// Reads the values of settings into options. Each kind of value has its own function.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time_text.h"
#include "emulator/app/errors.h"
#include "emulator/app/settings/options.h"

namespace caip::app {

/// Returns a value as text. Numbers and booleans become the text that was written: `seed: 7`,
/// "2.4".
std::optional<std::string> SettingText(const Json& value);

// Settings that need their own reader.
SettingProblems SetIdleTimeout(const Json& value, EmulatorOptions& options);
SettingProblems SetLauncher(const Json& value, EmulatorOptions& options);
SettingProblems SetSeed(const Json& value, EmulatorOptions& options);
SettingProblems SetJobsMax(const Json& value, EmulatorOptions& options);
SettingProblems SetConnectionsMax(const Json& value, EmulatorOptions& options);
SettingProblems SetDiskLimits(const Json& value, EmulatorOptions& options);
SettingProblems SetPort(const Json& value, EmulatorOptions& options);
SettingProblems SetAllowedUsers(const Json& value, EmulatorOptions& options);
SettingProblems SetImages(const Json& value, EmulatorOptions& options);
SettingProblems SetPython(const Json& value, EmulatorOptions& options);
SettingProblems SetRuntimes(const Json& value, EmulatorOptions& options);
SettingProblems SetNfsExports(const Json& value, EmulatorOptions& options);
SettingProblems SetCompanions(const Json& value, EmulatorOptions& options);
SettingProblems SetCloudSdk(const Json& value, EmulatorOptions& options);

/// The interpreter that the user means: a program, a name on $PATH, or the directory of a virtual
/// environment. As an absolute path; nullopt: there is none.
std::optional<std::string> FindPython(const std::string& text);

/// An image and what replaces it, as `--map-image` takes it: "URI=COMMAND", "URI=oci:PATH".
struct ImageMapping {
  std::string uri;
  std::vector<std::string> entry;  // of a host::ImageMap
};
/// nullopt: the text has another form.
std::optional<ImageMapping> ReadImageMapping(std::string_view text);

// Readers for common kinds of values. `kMember` is the option that they set.

template <auto kMember>
SettingProblems SetText(const Json& value, EmulatorOptions& options) {
  const auto text = SettingText(value);
  if (!text) return {errors::NotAText()};
  options.*kMember = *text;
  return {};
}

template <auto kMember>
SettingProblems SetSwitch(const Json& value, EmulatorOptions& options) {
  if (!value.is_boolean()) return {errors::NotTrueOrFalse()};
  options.*kMember = value.get<bool>();
  return {};
}

template <auto kMember>
SettingProblems SetList(const Json& value, EmulatorOptions& options) {
  if (!value.is_array()) return {errors::NotAListOfTexts()};
  std::vector<std::string> texts;
  for (const Json& element : value) {
    const auto text = SettingText(element);
    if (!text) return {errors::NotAListOfTexts()};
    texts.push_back(*text);
  }
  options.*kMember = std::move(texts);
  return {};
}

template <typename Value>
using Choice = std::pair<std::string_view, Value>;

inline constexpr std::array kGpuModes = {Choice<GpuMode>{"queue", GpuMode::kQueue},
                                         Choice<GpuMode>{"share", GpuMode::kShare},
                                         Choice<GpuMode>{"cpu", GpuMode::kCpu}};
inline constexpr std::array kAddressings = {Choice<Addressing>{"loopback", Addressing::kLoopback},
                                            Choice<Addressing>{"ports", Addressing::kPorts}};
inline constexpr std::array kStorageViews = {Choice<StorageView>{"gs", StorageView::kGs},
                                             Choice<StorageView>{"path", StorageView::kPath}};
inline constexpr std::array kGsFronts = {Choice<GsFront>{"off", GsFront::kOff},
                                         Choice<GsFront>{"proxy", GsFront::kProxy}};
inline constexpr std::array kIsolations = {Choice<Isolation>{"process", Isolation::kProcess},
                                           Choice<Isolation>{"machine", Isolation::kMachine}};
inline constexpr std::array kContainerEngines = {
    Choice<host::ContainerEngineKind>{"bundled", host::ContainerEngineKind::kBundled},
    Choice<host::ContainerEngineKind>{"podman", host::ContainerEngineKind::kPodman},
    Choice<host::ContainerEngineKind>{"docker", host::ContainerEngineKind::kDocker}};
inline constexpr std::array kDurabilities = {Choice<bool>{"full", true},
                                             Choice<bool>{"relaxed", false}};

template <auto kMember, const auto& kChoices>
SettingProblems SetChoice(const Json& value, EmulatorOptions& options) {
  const std::string text = SettingText(value).value_or("");
  std::vector<std::string> names;
  for (const auto& [name, choice] : kChoices) {
    if (name == text) {
      options.*kMember = choice;
      return {};
    }
    names.emplace_back(name);
  }
  return {errors::NotOneOf(text, names)};
}

template <auto kMember>
SettingProblems SetDelay(const Json& value, EmulatorOptions& options) {
  auto model = run::ParseDelayModel(SettingText(value).value_or(""));
  if (!model.ok()) return {errors::Because(model.error())};
  options.*kMember = *model;
  return {};
}

template <auto kMember>
SettingProblems SetDuration(const Json& value, EmulatorOptions& options) {
  const std::string text = SettingText(value).value_or("");
  const auto duration = ParseDuration(text);
  if (!duration) return {errors::NotADuration(text)};
  options.*kMember = *duration;
  return {};
}

/// Splits a command into words as a POSIX shell does: at blanks, with '..', ".." and backslash.
/// Does not expand anything. nullopt if a quote is not closed.
std::optional<std::vector<std::string>> ShellWords(std::string_view text);

/// The words of a command that replaces an image, or the place of an image ("oci:PATH") as one
/// word. nullopt if a quote of a command is not closed.
std::optional<std::vector<std::string>> ImageWords(std::string_view text);

}  // namespace caip::app
