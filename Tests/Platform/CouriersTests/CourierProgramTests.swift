// SPDX-License-Identifier: Apache-2.0
//
// The program itself: found, started with nothing but a socket, confined, and what is said when it is missing or ends.

import CourierProtocol
import Foundation
import Glibc
import Remotes
import S3Server
import Testing

@testable import Couriers

@Suite("The courier as a process")
struct CourierProgramTests {
  @Test("It is beside this program, or in libexec")
  func finding() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "courier-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: home) }
    for folder in ["/bin", "/libexec/coffer"] {
      try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
    }
    #expect(CourierProgram.find(executable: home + "/bin/coffer") == nil)
    func install(_ folder: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: home + folder + "/coffer-courier", withDestinationPath: "/bin/true")
    }
    try install("/libexec/coffer")
    #expect(CourierProgram.find(executable: home + "/bin/coffer") == home + "/libexec/coffer/coffer-courier")
    try install("/bin")
    #expect(CourierProgram.find(executable: home + "/bin/coffer") == home + "/bin/coffer-courier")
  }

  @Test("A program that is missing, does not start or ends at once is told apart")
  func failures() throws {
    let server = try S3Server()
    let place = try server.place()
    for (program, failure) in [
      (nil, RemoteError.CourierFailure.missing), ("/nowhere/coffer-courier", .cannotStart),
      ("/bin/true", .ended), ("/bin/cat", .ended),
    ] as [(String?, RemoteError.CourierFailure)] {
      #expect(throws: RemoteError.courier(failure)) {
        _ = try CourierRemote(.s3(place), limits: .init(), program: program)
      }
    }
    #expect(server.requests == [])
  }

  @Test(
    "Its arguments and environment are empty, and it has the socket and no other descriptor",
    .enabled(
      if: geteuid() == 0, "needs root: a process that is not dumpable shows its descriptors to nobody else"))
  func emptyStart() throws {
    let held = open("/etc/passwd", O_RDONLY)
    defer { close(held) }
    let server = try S3Server()
    try withCourier(server) { remote, process in
      #expect(try read(process, "cmdline") == "coffer-courier\0")
      #expect(try read(process, "environ") == "")
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
      #expect(Set(descriptors) == ["0", "1", "2", "3"])
      for stream in ["0", "1", "2"] {
        let target = try FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/\(process)/fd/\(stream)")
        #expect(target == "/dev/null")
      }
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd") == "/")
    }
  }

  @Test("It has no new privileges, a filter of system calls in every thread, and is not dumpable")
  func confined() throws {
    let server = try S3Server()
    try withCourier(server) { remote, process in
      try remote.put("account/a", [1])
      for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
        let status = try read(process, "task/\(thread)/status")
        #expect(status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"))
      }
      #expect(try read(process, "limits").contains(/Max core file size +0 +0/))
      // What is not dumpable belongs to root.
      #expect(
        try FileManager.default.attributesOfItem(atPath: "/proc/\(process)/mem")[.ownerAccountID] as? Int == 0
      )
    }
  }

  @Test(
    "When it is killed, a request under way and each after it say so, and nobody is left",
    .timeLimit(.minutes(60)))
  func killed() throws {
    let server = try S3Server()
    try withCourier(server) { remote, process in
      try remote.put("account/a", [1])
      server.change { $0.onRequest = { _ in kill(process, SIGKILL) } }
      #expect(throws: RemoteError.courier(.ended)) { try remote.get("account/a") }
      #expect(throws: RemoteError.courier(.ended)) { try remote.stat("account/a") }
      #expect(throws: RemoteError.courier(.ended)) { try remote.list("") }
      Self.waitForEnd(process)
    }
  }

  @Test("It ends when it is no longer used", .timeLimit(.minutes(60)))
  func unused() throws {
    let server = try S3Server()
    var process = pid_t()
    try withCourier(server) { remote, child in
      process = child
      try remote.put("account/a", [1])
    }
    Self.waitForEnd(process)
  }

  @Test("Started by hand, it says by whom it is started")
  func byHand() throws {
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(filePath: courierProgram)
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(process.terminationStatus == 64 && text == "coffer-courier is started by coffer, with a socket\n")
  }

  /// Returns when the process has ended, whether this call takes its status or the remote's thread has done so.
  private static func waitForEnd(_ process: pid_t) {
    while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }

  private func read(_ process: pid_t, _ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "/proc/\(process)/\(name)")), as: UTF8.self)
  }

  private func withCourier(_ server: S3Server, _ body: (CourierRemote, pid_t) throws -> Void) throws {
    let remote = try server.remote()
    try body(remote, remote.conversation.process)
  }
}
