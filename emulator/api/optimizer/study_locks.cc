#include "emulator/api/optimizer/study_locks.h"

namespace caip::api {

StudyLocks::Held::Held(StudyLocks& locks, const std::string& study) : locks_(locks) {
  std::unique_lock lock(locks_.mutex_);
  locks_.released_.wait(lock, [&] { return !locks_.held_.contains(study); });
  at_ = locks_.held_.insert(study).first;
}

StudyLocks::Held::~Held() {
  {
    std::lock_guard lock(locks_.mutex_);
    locks_.held_.erase(at_);
  }
  locks_.released_.notify_all();
}

}  // namespace caip::api
