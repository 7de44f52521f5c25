#include "fakes/metadata/guest.h"

namespace caip::metadata {

GuestBook::GuestBook(Guest host) { guests_[""] = {std::move(host), ++versions_}; }

void GuestBook::Put(const std::string& listener, Guest guest) {
  {
    const std::lock_guard lock(mutex_);
    guests_[listener] = {std::move(guest), ++versions_};
  }
  changed_.notify_all();
}

bool GuestBook::Change(const std::string& listener, const std::function<void(Guest&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = guests_.find(listener);
    if (found == guests_.end()) return false;
    change(found->second.guest);
    found->second.version = ++versions_;
  }
  changed_.notify_all();
  return true;
}

void GuestBook::Remove(const std::string& listener) {
  {
    const std::lock_guard lock(mutex_);
    guests_.erase(listener);
    shared_.erase(listener);
  }
  changed_.notify_all();
}

void GuestBook::PutShared(const std::string& listener, Finder whose) {
  const std::lock_guard lock(mutex_);
  shared_[listener] = std::move(whose);
}

bool GuestBook::IsShared(const std::string& listener) const {
  const std::lock_guard lock(mutex_);
  return shared_.contains(listener);
}

std::string GuestBook::Behind(const std::string& listener, const std::string& peer) const {
  Finder whose;
  {
    const std::lock_guard lock(mutex_);
    const auto found = shared_.find(listener);
    if (found == shared_.end()) return listener;
    whose = found->second;
  }
  return whose(peer);
}

std::optional<GuestBook::Sight> GuestBook::Find(const std::string& listener) const {
  const std::lock_guard lock(mutex_);
  const auto found = guests_.find(listener);
  if (found == guests_.end()) return std::nullopt;
  return found->second;
}

GuestBook::News GuestBook::WaitForChange(const std::string& listener, uint64_t version,
                                         std::optional<Deadline> deadline) const {
  std::unique_lock lock(mutex_);
  News news = News::kNone;
  const auto heard = [&] {
    const auto found = guests_.find(listener);
    if (closed_ || found == guests_.end()) {
      news = News::kGone;
    } else if (found->second.version != version) {
      news = News::kChanged;
    }
    return news != News::kNone;
  };
  if (deadline) {
    changed_.wait_until(lock, *deadline, heard);
  } else {
    changed_.wait(lock, heard);
  }
  return news;
}

void GuestBook::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace caip::metadata
