// SPDX-License-Identifier: Apache-2.0
//
// For tests of growth: what takes time with the square of its length takes days instead of a second, and no machine is
// busy enough to hide that.

import Glibc

/// Seconds of this thread's work, without those in which others had the processor.
func secondsOfThisThread() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec
}
