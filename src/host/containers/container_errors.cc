#include "host/containers/container_errors.h"

namespace caip::host::errors {
namespace {

Error CannotUseEngine(std::string text) {
  return {Code::kFailedPrecondition,
          std::move(text) +
              " The bundled engine needs no other program (--container-engine "
              "bundled)."};
}

}  // namespace

Error EngineMissing(std::string_view engine) {
  return CannotUseEngine("The program '" + std::string(engine) + "' is not on PATH. Install it.");
}

Error EngineSilent(std::string_view engine, std::string_view last) {
  return CannotUseEngine("The container engine " + std::string(engine) +
                         " does not answer: " + std::string(last) + ".");
}

Error EngineOnMachines(std::string_view engine) {
  return CannotUseEngine("Containers of " + std::string(engine) +
                         " have the network of this host, so that replicas cannot be machines. "
                         "Leave out --isolation machine.");
}

Error EngineWithout(std::string_view engine, std::string_view flag) {
  return CannotUseEngine(std::string(flag) + " has no effect on containers of " +
                         std::string(engine) + ". Leave it out.");
}

Error EngineCannotLoad(std::string_view engine, std::string_view last) {
  return {Code::kUnavailable, std::string(engine) + " cannot load it: " + std::string(last)};
}

Error EngineCannotRemove(std::string_view engine, std::string_view container,
                         std::string_view last) {
  const std::string name(engine);
  return {Code::kUnavailable, name + " cannot remove the container " + std::string(container) +
                                  ", which may still run: " + std::string(last) +
                                  ". Remove it with `" + name + " rm --force " +
                                  std::string(container) + "`."};
}

}  // namespace caip::host::errors
