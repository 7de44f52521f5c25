#include "base/abandoned_work.h"

#include <cassert>
#include <utility>

namespace caip {
namespace {

thread_local const std::function<bool()>* asked = nullptr;

}  // namespace

AbandonableWork::AbandonableWork(std::function<bool()> is_abandoned)
    : is_abandoned_(std::move(is_abandoned)) {
  assert(asked == nullptr);
  asked = &is_abandoned_;
}

AbandonableWork::~AbandonableWork() { asked = nullptr; }

bool IsWorkAbandoned() { return asked && (*asked)(); }

}  // namespace caip
