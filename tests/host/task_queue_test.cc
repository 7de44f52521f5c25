#include "host/process/task_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace caip::host {
namespace {

using ::testing::ElementsAre;

TEST(WorkerThread, DoesItsWorkInOrderOnAThreadOfItsOwn) {
  std::vector<int> done;
  std::promise<std::thread::id> last;
  WorkerThread thread;
  for (int i = 1; i <= 3; ++i) thread.Do([&done, i] { done.push_back(i); });
  thread.Do([&last] { last.set_value(std::this_thread::get_id()); });
  EXPECT_NE(last.get_future().get(), std::this_thread::get_id());
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
}

TEST(WorkerThread, EndsAfterTheTaskThatIsRunningAndDropsTheRest) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::promise<void> gone;
  bool finished = false;
  bool later_done = false;
  auto thread = std::make_unique<WorkerThread>();
  thread->Do([&] {
    begun.set_value();
    go_on.get_future().wait();
    finished = true;
  });
  // Tells when the work that has it is dropped.
  std::shared_ptr<void> goes(nullptr, [&gone](void*) { gone.set_value(); });
  thread->Do([&later_done, goes = std::move(goes)] { later_done = true; });
  begun.get_future().wait();
  std::thread ender([&] { thread.reset(); });
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready)
      << "what waits in the queue was not dropped before the end of what is being done";
  go_on.set_value();
  ender.join();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(later_done);
}

}  // namespace
}  // namespace caip::host
