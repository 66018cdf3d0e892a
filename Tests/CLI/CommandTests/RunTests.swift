// SPDX-License-Identifier: Apache-2.0
//
// What is around a command are values of its run: several go on in one process, and none sees what is another's.

import CommandRuns
import Extents
import Foundation
import Glibc
import Synchronization
import OpenPGP
import Testing

@testable import CofferCommands

@Suite("Runs in one process", .enabled(if: !Place.needsProcesses, "commands run as processes here"))
struct RunTests {
  private static let pass = ["--passphrase-file", "pass"]

  @Test("Runs at once with other variables, folders and outputs do not mix")
  func apart() throws {
    let places = try (0..<4).map { _ in try Place() }
    for place in places { try place.makeCoffer() }
    let results = Mutex<[Int: [Place.Outcome]]>([:])
    DispatchQueue.concurrentPerform(iterations: places.count) { number in
      // The file "pass" is in the folder, and each home is the variable's.
      let lines = (1...5).map { ["add", "--title", "place \(number) text \($0)"] + Self.pass }
      let list = ["list", "--columns", "title"] + Self.pass
      let outcomes = (lines + [list]).compactMap { line in
        try? places[number].run(line, input: "of \(number)", environment: ["NO_COLOR": "\(number)"])
      }
      results.withLock { $0[number] = outcomes }
    }
    for (number, place) in places.enumerated() {
      let outcomes = try #require(results.withLock { $0[number] })
      #expect(outcomes.map(\.status) == Array(repeating: 0, count: 6), "\(outcomes)")
      let list = try #require(outcomes.last).output
      for text in 1...5 { #expect(list.contains("place \(number) text \(text)"), "\(list)") }
      for other in places.indices where other != number {
        #expect(!list.contains("place \(other)"), "\(list)")
      }
      #expect(try place.run(["show", "text 3", "--raw"] + Self.pass).output == "of \(number)")
    }
  }

  @Test("A request that one run ends does not end another")
  func interruption() throws {
    let places = [try Place(), try Place()]
    for place in places {
      try place.makeCoffer()
      #expect(mkfifo(place.folder.path + "/in", 0o600) == 0)
    }
    let interruptions = Mutex<[RunInterruption?]>([nil, nil])
    let outcomes = Mutex<[Place.Outcome?]>([nil, nil])
    let ended = (0..<2).map { _ in DispatchSemaphore(value: 0) }
    for (number, place) in places.enumerated() {
      Thread.detachNewThread {
        let outcome = try? place.run(["message", "import", "jsonl", "in"] + Self.pass) { environment in
          interruptions.withLock { $0[number] = environment.interruption }
        }
        outcomes.withLock { $0[number] = outcome }
        ended[number].signal()
      }
    }
    // Somebody reads, so both are in the midst of their work.
    var writers: [Int32] = [-1, -1]
    for (number, place) in places.enumerated() {
      #expect(
        Patience.until {
          writers[number] = open(place.folder.path + "/in", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
          return writers[number] >= 0
        })
    }
    defer { close(writers[0]) }
    let request = try #require(interruptions.withLock { $0[0] })
    request.request()
    ended[0].wait()
    let stopped = try #require(outcomes.withLock { $0[0] })
    #expect(stopped.status == 130 && stopped.error.contains("interrupted"), "\(stopped)")
    #expect(interruptions.withLock { $0[1]?.isRequested } == false)
    let line = #"{"title":"goes on","content":"text"}"# + "\n"
    #expect(write(writers[1], line, line.utf8.count) == line.utf8.count)
    close(writers[1])
    ended[1].wait()
    let done = try #require(outcomes.withLock { $0[1] })
    #expect(done.status == 0, "\(done)")
    #expect(try places[1].run(["list", "--columns", "title"] + Self.pass).output == "goes on\n")
    #expect(try places[0].run(["list"] + Self.pass).output.isEmpty)
  }

  private final class Kept: Sendable {
    let failed = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
  }

  @Test(
    "What a thread of the engine reads for a command ends by a request to that command's run, and to no other"
  )
  func otherThread() throws {
    let file = open("/dev/zero", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let streams = RunEnvironment.Streams(input: file, output: 1, error: 2)
    for isAsked in [true, false] {
      let environment = RunEnvironment(
        variables: ["HOME": "/nowhere"], streams: streams, executable: "/nowhere")
      let source = try SystemSurroundings(CommandRun(environment)).here {
        WatchedSource(
          FileDescriptorSource(descriptor: file), title: "reading", total: nil,
          CommandContext(try GlobalOptions.parse(["--quiet"])))
      }
      if isAsked { environment.interruption.request() }
      nonisolated(unsafe) let read = source
      let kept = Kept()
      Thread.detachNewThread {
        do throws(OpenPGPError) {
          _ = try read.withNext { (bytes) throws(OpenPGPError) in bytes.byteCount }
        } catch { kept.failed.store(true, ordering: .releasing) }
        kept.ended.signal()
      }
      kept.ended.wait()
      #expect(kept.failed.load(ordering: .acquiring) == isAsked)
    }
  }

  @Test("A run in a process gets its standard input, and no other descriptor of the process")
  func descriptors() throws {
    let place = try Place()
    try place.makeCoffer()
    let given = try place.run(["audit", "--passphrase-fd", "0"], input: Place.passphrase + "\n")
    #expect(given.status == 0 && given.output.hasSuffix("  coffer made\n"), "\(given)")
    let file = open(place.folder.path + "/pass", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let foreign = try place.run(["audit", "--passphrase-fd", "\(file)"])
    #expect(foreign.status == 2, "\(foreign)")
    #expect(lseek(file, 0, SEEK_CUR) == 0)
  }

  @Test("A run in a process leaves the process's folder, umask, variables and signals as they were")
  func processStays() throws {
    struct State: Equatable {
      let folder = FileManager.default.currentDirectoryPath
      let mask: mode_t
      let variables = ProcessInfo.processInfo.environment
      let actions: [Int]

      init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        mask = try #require(line.flatMap { mode_t($0.split(separator: "\t").last ?? "", radix: 8) })
        actions = [SIGINT, SIGTERM, SIGHUP, SIGPIPE].map { number in
          var action = sigaction()
          sigaction(number, nil, &action)
          return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        }
      }
    }
    let place = try Place()
    try place.makeCoffer()
    let before = try State()
    #expect(try place.run(["add", "--title", "a"] + Self.pass, input: "text").status == 0)
    #expect(try place.run(["message", "export", "jsonl", "out"] + Self.pass).status == 0)
    #expect(try place.run(["init", "--recovery-phrase-out", "w", "--home", "two"] + Self.pass).status == 0)
    #expect(try State() == before)
    #expect(FileManager.default.fileExists(atPath: place.folder.path + "/out"))
  }

  @Test("What a command writes that holds a secret is its owner's alone, whatever the umask")
  func modes() throws {
    let place = try Place()
    try place.makeCoffer()
    // Processes of their own: the umask is a process's.
    func run(_ words: [String]) throws -> Place.Outcome {
      try place.runProcess(
        ["-c", "umask 0; exec \"$@\"", "sh", Place.coffer.path] + words, program: URL(filePath: "/bin/sh"))
    }
    for words in [
      ["init", "--recovery-phrase-out", "new-words", "--home", "two"], ["add", "--title", "a"],
      ["message", "export", "jsonl", "messages"], ["backup", "copy"],
    ] {
      let outcome = try run(words + Self.pass)
      #expect(outcome.status == 0, "\(outcome)")
    }
    for name in ["new-words", "two", "two/coffer.db", "messages", "copy"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: place.folder.path + "/" + name)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(name): \(String(mode, radix: 8))")
    }
  }

  @Test("A command line does in the process of the caller what it does in its own")
  func same() throws {
    let place = try Place()
    try place.makeCoffer()
    for line in [
      ["add", "--title", "a"] + Self.pass, ["list", "--columns", "title"] + Self.pass, ["--version"],
      ["add", "--help"],
      ["audit", "--passphrase-file", "none"], ["lsit"], ["show", "b"] + Self.pass,
      ["--json", "show", "b"] + Self.pass,
    ] {
      let (here, there) = (try place.run(line, input: "x"), try place.runProcess(line, input: "x"))
      #expect(here.status == there.status && here.error == there.error, "\(line)")
      if line[0] == "add", !line.contains("--help") {
        #expect(here.output.count == there.output.count)
      } else if line[0] == "list" {
        #expect(here.output == "a\na\n" && here.output == there.output)
      } else {
        #expect(here.output == there.output, "\(line)")
      }
    }
  }
}
