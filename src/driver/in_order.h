// Work on many threads, results in order. In: a count, a function to run for each index, a function that takes a
// result. Out: nothing; the taker runs on the calling thread, index by index. At most a few results wait, so memory is
// bounded.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace graphmend {

// `work(index)` runs on any thread and must not throw; `take(index, result)` returns false to stop early.
template <class Work, class Take>
void run_in_order(size_t count, unsigned jobs, const Work& work, const Take& take) {
  using Result = decltype(work(size_t{0}));
  const size_t wanted = std::min<size_t>(jobs, count);
  const auto run_here = [&](size_t from) {
    for (size_t index = from; index < count; ++index) {
      if (!take(index, work(index))) return;
    }
  };
  // One file is the common case of an editor or a hook: no thread is started for it.
  if (wanted <= 1) return run_here(0);

  std::mutex mutex;
  std::condition_variable changed;
  std::map<size_t, Result> ready;
  size_t next_to_start = 0;
  size_t next_to_take = 0;
  const size_t most_ahead = wanted * 8;

  const auto work_along = [&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return next_to_start >= count || next_to_start < next_to_take + most_ahead; });
      if (next_to_start >= count) return;
      const size_t index = next_to_start++;
      lock.unlock();
      Result result = work(index);
      lock.lock();
      ready.emplace(index, std::move(result));
      if (index == next_to_take) changed.notify_all();
    }
  };

  std::vector<std::thread> threads;
  threads.reserve(wanted);
  // However this function is left, no thread outlives what it refers to.
  struct JoinAll {
    std::mutex& mutex;
    std::condition_variable& changed;
    std::vector<std::thread>& threads;
    size_t& next_to_start;
    size_t count;
    ~JoinAll() {
      {
        const std::lock_guard lock(mutex);
        next_to_start = count;
      }
      changed.notify_all();
      for (std::thread& thread : threads) thread.join();
    }
  } join_all{mutex, changed, threads, next_to_start, count};
  try {
    while (threads.size() < wanted) threads.emplace_back(work_along);
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
    if (threads.empty()) return run_here(0);
  }

  std::unique_lock lock(mutex);
  while (next_to_take < count) {
    changed.wait(lock, [&] { return ready.count(next_to_take) != 0; });
    auto node = ready.extract(next_to_take);
    const size_t index = next_to_take;
    lock.unlock();
    const bool go_on = take(index, std::move(node.mapped()));
    lock.lock();
    ++next_to_take;
    if (!go_on) break;
    changed.notify_all();
  }
}

}  // namespace graphmend
