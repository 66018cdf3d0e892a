// SPDX-License-Identifier: Apache-2.0
//
// The registers of another process, of each of its threads (ptrace(2), PTRACE_GETREGSET): a copy that went
// through a vector register may stand there long after the memory was erased, and comes back into memory
// with the next signal, and into a file with a core dump.

import Foundation
import Glibc

/// Stops the threads of a process for a moment and reads their registers.
enum ProbeRegisters {
  struct Unreadable: Error {
    let errno: Int32
  }

  /// `ptrace` takes a variable number of arguments and cannot be imported; the four that it always has are passed
  /// alike either way on the processors that this runs on.
  private typealias Trace = @convention(c) (Int, Int, UInt, UInt) -> Int

  private static let seize = 0x4206
  private static let interrupt = 0x4207
  private static let detach = 17
  private static let getRegisterSet = 0x4204
  /// General registers, floating-point registers, and all of the processor's extended state (elf.h, NT_…).
  private static let sets: [UInt] = [1, 2, 0x202]
  /// AVX-512 and AMX take eleven KiB.
  private static let byteCountLimit = 1 << 16
  private static let allThreads: Int32 = 0x4000_0000

  /// All registers of all threads, one behind the other. The caller must be the parent of `process`.
  static func all(of process: pid_t) throws -> [UInt8] {
    guard let symbol = dlsym(nil, "ptrace") else { throw Unreadable(errno: ENOSYS) }
    let trace = unsafeBitCast(symbol, to: Trace.self)
    var registers: [UInt8] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
      guard let thread = Int(name) else { continue }
      registers += try registersOf(thread, trace)
    }
    return registers
  }

  private static func registersOf(_ thread: Int, _ trace: Trace) throws -> [UInt8] {
    guard trace(seize, thread, 0, 0) == 0 else { throw Unreadable(errno: errno) }
    defer { _ = trace(detach, thread, 0, 0) }
    guard trace(interrupt, thread, 0, 0) == 0 else { throw Unreadable(errno: errno) }
    var status: Int32 = 0
    while waitpid(pid_t(thread), &status, allThreads) < 0 {
      guard errno == EINTR else { throw Unreadable(errno: errno) }
    }
    var registers: [UInt8] = []
    for set in sets {
      var bytes = [UInt8](repeating: 0, count: byteCountLimit)
      let count = bytes.withUnsafeMutableBytes { buffer in
        var vector = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
        let result = withUnsafeMutablePointer(to: &vector) {
          trace(getRegisterSet, thread, set, UInt(bitPattern: $0))
        }
        return result == 0 ? vector.iov_len : 0
      }
      // Not every processor has the last of the three; the first two are everywhere.
      guard count > 0 || set == 0x202 else { throw Unreadable(errno: errno) }
      registers += bytes[..<count]
    }
    return registers
  }
}
