// SPDX-License-Identifier: Apache-2.0
//
// What the courier could do if a server had taken it over: nothing but speak to its own port and to coffer.

import Foundation
import Glibc
import Testing

@Suite("The courier's sandbox")
struct CourierSandboxTests {
  enum Verdict: Equatable {
    case killed
    case returned(Int32)
    case refused(Int32)
  }

  struct Attempt: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let verdict: Verdict

    init(_ call: String, _ verdict: Verdict) {
      testDescription = call
      self.verdict = verdict
    }
  }

  static let attempts = [
    // Files: authorities and names are read, and nothing else.
    Attempt("access t/etc/hosts i4", .returned(0)),
    Attempt("open t/etc/hosts i0", .returned(3)),
    Attempt("open t/etc/ssl/certs i0", .returned(3)),
    Attempt("open t/etc/passwd i0", .refused(EACCES)),
    Attempt("open t/root i65536", .refused(EACCES)),
    Attempt("open t/proc/self/environ i0", .refused(EACCES)),
    Attempt("open t/etc/hosts i1", .refused(EPERM)),
    Attempt("open t/etc/hosts i2", .refused(EPERM)),
    Attempt("open t/etc/hosts i512", .refused(EPERM)),
    Attempt("open t/tmp/courier-probe i65 i384", .refused(EPERM)),
    Attempt("openat i-100 t/tmp/courier-probe i65 i384", .refused(EPERM)),
    Attempt("unlink t/etc/no-such-file", .refused(EPERM)),
    Attempt("mkdir t/tmp/courier-probe i448", .refused(EPERM)),
    Attempt("rename t/etc/no-such-file t/etc/no-such-file", .refused(EPERM)),
    Attempt("chmod t/etc/no-such-file i0", .refused(EPERM)),
    // Programs and processes.
    Attempt("execv t/bin/true", .killed),
    Attempt("fork", .killed),
    Attempt("vfork", .killed),
    Attempt("ptrace i16 i1", .killed),
    Attempt("process_vm_readv i1", .killed),
    Attempt("process_vm_writev i1", .killed),
    Attempt("kill p i0", .refused(EPERM)),
    Attempt("tgkill p p i0", .refused(EPERM)),
    Attempt("fcntl i0 i8 p", .refused(EPERM)),
    Attempt("fcntl i0 i10 i9", .refused(EPERM)),
    Attempt("ioctl i0 i35073 t", .refused(EPERM)),
    Attempt("ioctl i0 i35074 t", .refused(EPERM)),
    Attempt("fcntl i1 i3", .returned(1)),
    Attempt("raise i0", .returned(0)),
    Attempt("prlimit p i7", .refused(EPERM)),
    Attempt("prctl i4 i1", .refused(EPERM)),
    Attempt("unshare i0", .killed),
    Attempt("personality i0", .killed),
    // Sockets: those of the Internet, to one port. A local one would reach the agent.
    Attempt("socket i1 i1 i0", .refused(EAFNOSUPPORT)),
    Attempt("socket i17 i3 i0", .refused(EAFNOSUPPORT)),
    Attempt("socket i2 i1 i0", .returned(3)),
    Attempt("socket i10 i1 i6", .returned(3)),
    Attempt("socket i2 i2 i17", .returned(3)),
    // Multipath TCP, and a message that connects.
    Attempt("socket i2 i1 i262", .refused(EPROTONOSUPPORT)),
    Attempt("sendto i0 t i0 i536870912", .refused(EPERM)),
    Attempt("sendmsg i0 i0 i536870912", .refused(EPERM)),
    Attempt("sendmmsg i0 i0 i0 i536870912", .refused(EPERM)),
    Attempt("socketpair i1 i2", .refused(EPERM)),
    Attempt("socketpair i1 i524289", .refused(EFAULT)),
    Attempt("listen i0 i1", .refused(EPERM)),
    Attempt("accept i0 i0 i0", .refused(EPERM)),
    // Memory.
    Attempt("posix_memalign tthe-address i4096 i1073741824", .returned(0)),
    Attempt("mmap i0 i3221225472 i3 i34 i-1 i0", .refused(ENOMEM)),
    // Machine code.
    Attempt("mmap i0 i4096 i7 i34 i-1 i0", .refused(EPERM)),
    Attempt("memfd_create tx i0", .killed),
  ]

  @Test("It lets the courier do what it needs, and refuses or ends all else", arguments: attempts)
  func attempt(attempt: Attempt) throws {
    #expect(try verdict(attempt.testDescription) == attempt.verdict)
  }

  @Test("It connects to its own port and to no other")
  func ports() throws {
    // Nobody listens on either; the second is refused before that is found out.
    #expect(try verdict("connect 9") == .refused(ECONNREFUSED))
    #expect(try verdict("connect 10") == .refused(EACCES))
  }

  private func verdict(_ call: String) throws -> Verdict {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: courierProgram).deletingLastPathComponent().appending(
      path: "courier-probe")
    process.arguments = ["9"] + call.split(separator: " ").map(String.init)
    process.standardOutput = output
    process.environment = ["LLVM_PROFILE_FILE": "/dev/null"]
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationReason == .uncaughtSignal {
      #expect(process.terminationStatus == SIGSYS)
      return .killed
    }
    #expect(process.terminationStatus == 0)
    let numbers = text.split(separator: " ").compactMap { Int32($0) }
    try #require(numbers.count == 2, "\(text)")
    return numbers[0] == -1 ? .refused(numbers[1]) : .returned(numbers[0])
  }
}
