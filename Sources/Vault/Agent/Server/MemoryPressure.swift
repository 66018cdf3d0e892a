// SPDX-License-Identifier: Apache-2.0
//
// The kernel's notice that tasks wait for memory (PSI, Documentation/accounting/psi.rst).

internal import Glibc

/// A trigger on `/proc/pressure/memory`: poll for `POLLPRI`.
struct MemoryPressure: ~Copyable {
  let descriptor: Int32

  /// Nil when the kernel has no PSI, or lets this user set no trigger.
  init?() {
    let opened = unsafe open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    // Ordinary users may have windows of whole multiples of 2 s only.
    let trigger = Array("some 200000 2000000\0".utf8)
    guard unsafe trigger.withUnsafeBytes({ unsafe write(opened, $0.baseAddress, $0.count) }) > 0 else {
      close(opened)
      return nil
    }
    descriptor = opened
  }

  deinit { close(descriptor) }
}
