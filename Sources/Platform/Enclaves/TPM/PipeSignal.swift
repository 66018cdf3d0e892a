// SPDX-License-Identifier: Apache-2.0
//
// The library writes to the chip's socket or pipe with plain `write`. If the other end has gone, the kernel sends
// SIGPIPE, which ends a process that does not expect it; without the signal the library reports the error.

#if TPM
  internal import Glibc

  /// Calls the library while this thread takes no SIGPIPE. One that the call has caused is removed; the process keeps
  /// its own way to take the signal.
  func withoutPipeSignal<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    var signals = sigset_t()
    var former = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe sigpending(&pending)
    let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &former)
    defer {
      var now = timespec()
      if !wasPending { _ = unsafe sigtimedwait(&signals, nil, &now) }
      unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    }
    return try body()
  }
#endif
