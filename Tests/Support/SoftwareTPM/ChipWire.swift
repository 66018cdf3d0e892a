// SPDX-License-Identifier: Apache-2.0
//
// The wires between a process and its chip, with somebody on them: who reads everything, and may change what
// the chip answers.

import Foundation

/// A socket before the chip's own.
public final class ChipWire: @unchecked Sendable {
  private let path: String
  private let chipPath: String
  private let listener: Int32
  private let lock = NSLock()
  private var passed: [UInt8] = []
  private var answers = 0
  private var change: (@Sendable (Int, inout [UInt8]) -> Void)?

  public init(_ chip: SoftwareTPM) throws {
    path = chip.path("wire")
    chipPath = chip.path("s")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".ctrl", withDestinationPath: chipPath + ".ctrl")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    guard Self.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
      throw SoftwareTPM.Failed(reason: "no socket for the wire")
    }
    let chipPath = chipPath
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        // Where the chip is dead the command is read all the same: who writes to what is closed already gets a
        // signal, and a chip's device has none.
        let isThere = Self.with(chipPath) { connect(server, $0, $1) } == 0
        while let command = Self.message(client) {
          self?.note(command)
          guard isThere, Self.send(server, command), var answer = Self.message(server) else { break }
          self?.pass(&answer)
          guard Self.send(client, answer) else { break }
        }
        close(client)
        close(server)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  public var tcti: String { "swtpm:path=\(path)" }

  /// All that went over the wire since the last call, both ways.
  public func takeRecord() -> [UInt8] {
    lock.withLock {
      defer { passed = [] }
      return passed
    }
  }

  /// Counts answers from zero again, and has each changed from now on.
  public func changeAnswers(_ change: (@Sendable (Int, inout [UInt8]) -> Void)?) {
    lock.withLock {
      answers = 0
      self.change = change
    }
  }

  /// How many answers came since they were last counted from zero.
  public var answerCount: Int { lock.withLock { answers } }

  private func note(_ bytes: [UInt8]) { lock.withLock { passed += bytes } }

  private func pass(_ answer: inout [UInt8]) {
    lock.lock()
    defer { lock.unlock() }
    passed += answer
    change?(answers, &answer)
    answers += 1
  }

  /// tag (2) ‖ length of all (4) ‖ code (4) ‖ …
  private static func message(_ descriptor: Int32) -> [UInt8]? {
    guard let head = receive(descriptor, 10) else { return nil }
    let count = head[2..<6].reduce(0) { $0 << 8 | Int($1) }
    guard (10...65_536).contains(count), let rest = receive(descriptor, count - 10) else { return nil }
    return head + rest
  }

  private static func receive(_ descriptor: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + done, count - done) }
      guard got > 0 else { return nil }
      done += got
    }
    return bytes
  }

  private static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
