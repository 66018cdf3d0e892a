// SPDX-License-Identifier: Apache-2.0
//
// Signals during long work. Each test knows by a pipe, a FIFO or a name that appears how far the command is.

import Extents
import Foundation
import Testing

@Suite("Interrupted work")
struct InterruptionTests {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let messageCount = 3_000
  private let place: Place

  init() throws {
    place = try Place()
    try place.makeCoffer()
  }

  /// More than a pipe holds, whatever is done with it.
  private func fill() throws {
    let text = String(repeating: "plain ", count: 30)
    let lines = (1...Self.messageCount).map { "{\"title\":\"heron \($0)\",\"content\":\"\(text)\"}\n" }
    try place.write(lines.joined(), to: "many.jsonl")
    let run = try place.run(["message", "import", "jsonl", "many.jsonl", "--passphrase-file", "pass"])
    #expect(run.status == 0, "\(run.error)")
  }

  /// A command that has been started.
  private final class Running {
    let process: Process
    let output = Pipe()
    let errors = Pipe()

    init(_ arguments: [String], in place: Place) throws {
      // The threads of tests block signals, and what they start would inherit that.
      let unblocked =
        "sigprocmask(SIG_SETMASK, POSIX::SigSet->new); $SIG{$_} = 'DEFAULT' for qw(HUP INT TERM); exec @ARGV"
      process = place.process(
        URL(filePath: "/usr/bin/perl"),
        ["-MPOSIX", "-e", unblocked, Place.coffer.path] + arguments + ["--passphrase-file", "pass"], [:])
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = errors
      try process.run()
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Whether SIGSTOP has stopped it.
    var isStopped: Bool {
      let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      return status?.contains("State:\tT") == true
    }

    func end() throws -> (status: Int32, isExit: Bool, output: String, error: String) {
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      let said = try errors.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (
        process.terminationStatus, process.terminationReason == .exit,
        String(decoding: printed, as: UTF8.self), String(decoding: said, as: UTF8.self)
      )
    }
  }

  /// Waits until somebody reads the FIFO.
  private func writer(_ name: String) -> FileHandle {
    FileHandle(
      fileDescriptor: open(place.folder.appending(path: name).path(), O_WRONLY), closeOnDealloc: true)
  }

  private func fifo(_ name: String) {
    #expect(mkfifo(place.folder.appending(path: name).path(), 0o600) == 0)
  }

  @Test(
    "The first signal ends an import that waits for its input, and what came is stored", arguments: signals)
  func waitingImport(signal: Int32) throws {
    fifo("in")
    let import_ = try Running(["--json", "message", "import", "jsonl", "in", "--print-ids"], in: place)
    let writer = writer("in")
    try writer.write(contentsOf: Data("{\"content\":\"one\"}\n{\"content\":\"tw".utf8))
    import_.send(signal)
    let (status, isExit, output, error) = try import_.end()
    #expect(isExit && status == 130)
    // The signal may have come before the first line was read.
    let list = try place.run(["message", "list", "--passphrase-file", "pass"]).output
    let stored = list.split(separator: "\n").map { String($0.prefix(36)) }
    #expect(stored.count <= 1)
    #expect(output.contains("\"imported\":\(stored.count)") && stored.allSatisfy(output.contains))
    let count = stored.count == 1 ? "1 message" : "0 messages"
    #expect(error.contains("interrupted; \(count) imported so far, and safe"))
    #expect(error.contains("run it again to go on"))
    let audit = try place.run(["audit", "--passphrase-file", "pass"]).output
    #expect(audit.contains("messages added: 1") == (stored.count == 1))
    try writer.close()
  }

  @Test(
    "A signal before a service has answered anything ends with 130 and words, and the courier goes too",
    arguments: signals)
  func silentService(signal: Int32) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #expect(bind(listener, address, length) == 0 && listen(listener, 1) == 0)
        #expect(getsockname(listener, address, &length) == 0)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    try place.write("postgresql://user:pw@127.0.0.1:\(port)/db/acct?tls=off", to: "url")
    let check = try Running(["remote", "check", "--url-file", "url"], in: place)
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    check.send(signal)
    let (status, isExit, output, error) = try check.end()
    #expect(isExit && status == 130 && output.isEmpty, "\(status) \(error)")
    #expect(
      error == "coffer: interrupted; the service of the place was not waited for\nhint: run the same again\n")
    // What it has said until then, and then its end.
    var byte: UInt8 = 0
    while recv(connection, &byte, 1, 0) == 1 {}
  }

  @Test(
    "A signal while a message is awaited ends with 130 and words, and nothing is stored", arguments: signals)
  func waitingAdd(signal: Int32) throws {
    fifo("in")
    let add = try Running(["message", "add", "in"], in: place)
    let writer = writer("in")
    add.send(signal)
    let (status, isExit, output, error) = try add.end()
    #expect(isExit && status == 130 && output.isEmpty)
    #expect(error == "coffer: interrupted; nothing was stored\n")
    try writer.close()
    #expect(try place.run(["message", "list", "--passphrase-file", "pass"]).output.isEmpty)
  }

  @Test("A signal ends a search and an export to standard output, and says so", arguments: signals)
  func streams(signal: Int32) throws {
    try fill()
    for (words, said) in [
      (["message", "search", "heron"], "were searched, and nothing was changed"),
      (["message", "export", "jsonl", "-"], "the output is not complete"),
      (["message", "export", "mbox", "-"], "the output is not complete"),
    ] {
      let run = try Running(words, in: place)
      // The pipe is full before the work is done.
      let first = run.output.fileHandleForReading.availableData
      #expect(!first.isEmpty)
      run.send(signal)
      let (status, isExit, _, error) = try run.end()
      #expect(isExit && status == 130, "\(words)")
      #expect(error.hasPrefix("coffer: interrupted; ") && error.contains(said), "\(error)")
    }
  }

  /// An export of a directory that is under way, and stopped.
  private func exporting() throws -> (run: Running, unfinished: String) {
    let out = place.folder.appending(path: "out")
    for _ in 0..<100 {
      try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
      let run = try Running(["message", "export", "directory", "out/mail"], in: place)
      while run.process.isRunning, names.isEmpty { usleep(200) }
      run.send(SIGSTOP)
      _ = Patience.until { !run.process.isRunning || run.isStopped }
      if run.isStopped, let name = names.first, name.hasPrefix("coffer-unfinished-") { return (run, name) }
      // On a busy machine it was done before this test had its turn.
      run.send(SIGCONT)
      _ = try run.end()
      try FileManager.default.removeItem(at: out)
    }
    throw POSIXError(.ETIMEDOUT)
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: place.folder.appending(path: "out").path())) ?? []
  }

  @Test("A signal during an export to a directory leaves nothing, and says so", arguments: signals)
  func directory(signal: Int32) throws {
    try fill()
    let (run, unfinished) = try exporting()
    #expect(unfinished.hasPrefix("coffer-unfinished-"))
    run.send(signal)
    run.send(SIGCONT)
    let (status, isExit, output, error) = try run.end()
    #expect(isExit && status == 130 && output.isEmpty)
    #expect(error == "coffer: interrupted; nothing was written\n")
    #expect(names.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: place.home.appending(path: "unfinished").path()))
  }

  @Test("What a killed export leaves is named by doctor, and goes with the next export")
  func killed() throws {
    try fill()
    let (run, unfinished) = try exporting()
    run.send(SIGKILL)
    _ = try run.end()
    #expect(names == [unfinished])
    let doctor = try place.run(["doctor"])
    #expect(doctor.status == 0 && doctor.output.contains("/out/\(unfinished)'"), "\(doctor.output)")
    let export = try place.run(["message", "export", "mbox", "out/mail.mbox", "--passphrase-file", "pass"])
    #expect(export.status == 0 && export.error.contains("/out/\(unfinished)'"), "\(export.error)")
    #expect(names == ["mail.mbox"])
    #expect(!(try place.run(["doctor"])).output.contains(unfinished))
  }

  @Test("Under nohup a hangup ends nothing")
  func ignored() throws {
    fifo("in")
    let process = place.process(
      URL(filePath: "/usr/bin/nohup"),
      [Place.coffer.path, "message", "import", "jsonl", "in", "--passphrase-file", "pass"], [:])
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let writer = writer("in")
    kill(process.processIdentifier, SIGHUP)
    try writer.write(contentsOf: Data("{\"content\":\"one\"}\n".utf8))
    try writer.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }
}
