// SPDX-License-Identifier: Apache-2.0
//
// Runs command lines of `coffer` in the process of the test, many at once: each has an environment, streams and a
// folder of its own. A crash there ends the process of the test; who looks for crashes runs this in a child process.

import CSystem
package import CofferCommands
import Enclaves
import Foundation
import Glibc
package import Keychains
import OpenPGP
import Primitives
import Synchronization

/// How a command line ended.
package struct CommandOutcome: Sendable {
  /// The exit code.
  package var status: Int32
  /// Standard output.
  package var output: [UInt8]
  /// Standard error.
  package var error: [UInt8]

  /// Standard output as text.
  package var text: String { String(decoding: output, as: UTF8.self) }
  /// Standard error as text.
  package var errorText: String { String(decoding: error, as: UTF8.self) }
}

/// Command lines in this process.
package enum CommandRuns {
  /// Something that a run needs could not be made.
  package struct Failure: Error {
    let what: String
    let code: Int32
  }

  /// A derivation that costs microseconds, for passphrases that nobody guesses.
  package static var cheapDerivation: SlotKDF {
    get throws { .argon2id(try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1)) }
  }

  /// Runs a command line, without the program's own name, to its end.
  ///
  /// It has no terminal, no chip and no reader of fingers, and nothing of this process's environment.
  /// - Parameters:
  ///   - variables: all variables of its environment: `HOME`, `COFFER_HOME` and what else it needs.
  ///   - input: what it reads on standard input.
  ///   - folder: where relative paths begin; nil for the folder of this process, and no thread of its own.
  ///   - executable: the path of `coffer`, which is started as an agent or a decoder; a command that needs neither starts
  ///     nothing.
  ///   - change: changes other values of the run, and may keep its interruption.
  package static func run(
    _ arguments: [String], variables: [String: String], input: [UInt8] = [], folder: String? = nil,
    executable: String = "/nonexistent/coffer", change: (inout RunEnvironment) -> Void = { _ in }
  ) throws -> CommandOutcome {
    let reading = try inputDescriptor(input)
    defer { close(reading) }
    let (output, error) = (try memoryFile(), try memoryFile())
    defer {
      close(output)
      close(error)
    }
    var environment = RunEnvironment(
      variables: variables, streams: .init(input: reading, output: output, error: error),
      executable: executable)
    environment.derivation = try cheapDerivation
    environment.enclaves = [SoftwareEnclave()]
    change(&environment)
    let made = environment
    // Keys and messages that it locks with Argon2 cost microseconds, as slots do.
    let run = { @Sendable in Argon2Costs.$current.withValue(.least) { CofferMain.run(arguments, in: made) } }
    let status = if let folder { try inFolder(folder, run) } else { run() }
    return CommandOutcome(status: status, output: try content(output), error: try content(error))
  }

  // MARK: Threads with a folder

  /// Whether a thread of this process can have a folder of its own: not where a sandbox forbids unshare(2).
  package static let haveFolders = (try? inFolder("/") { 0 }) != nil

  /// Calls `body` in a thread that has a folder and a umask of its own, and waits for it. Its stack is that of a main thread.
  private static func inFolder(_ folder: String, _ body: @escaping @Sendable () -> Int32) throws -> Int32 {
    let done = DispatchSemaphore(value: 0)
    let kept = Kept()
    let thread = Thread {
      let outcome: Result<Int32, Failure> =
        if unshare(cloneFolder) != 0 {
          .failure(Failure(what: "unshare", code: errno))
        } else if chdir(folder) != 0 {
          .failure(Failure(what: "chdir", code: errno))
        } else {
          .success(body())
        }
      kept.set(outcome)
      done.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
    done.wait()
    return try kept.get()
  }

  private final class Kept: Sendable {
    private let result = Mutex<Result<Int32, Failure>>(.failure(Failure(what: "thread", code: 0)))

    func set(_ outcome: Result<Int32, Failure>) { result.withLock { $0 = outcome } }

    func get() throws -> Int32 { try result.withLock { $0 }.get() }
  }

  /// unshare(2), which Swift does not see.
  private static func unshare(_ flags: Int32) -> Int32 {
    guard let function = dlsym(nil, "unshare") else {
      errno = ENOSYS
      return -1
    }
    return unsafeBitCast(function, to: (@convention(c) (Int32) -> Int32).self)(flags)
  }

  /// CLONE_FS: folder, root and umask.
  private static let cloneFolder: Int32 = 0x200

  // MARK: Streams

  /// Most bytes that a pipe takes at once.
  private static let pipeByteCount = 60_000

  /// A pipe with these bytes, as from a shell; a file in memory for more than one takes.
  private static func inputDescriptor(_ bytes: [UInt8]) throws -> Int32 {
    guard bytes.count <= pipeByteCount else {
      let file = try memoryFile()
      guard bytes.withUnsafeBytes({ coffer_write_all(file, $0.baseAddress, $0.count) }) == 0 else {
        throw Failure(what: "input", code: errno)
      }
      lseek(file, 0, SEEK_SET)
      return file
    }
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    guard coffer_pipe(&ends.reading, &ends.writing) == 0,
      bytes.withUnsafeBytes({ coffer_write_all(ends.writing, $0.baseAddress, $0.count) }) == 0
    else { throw Failure(what: "pipe", code: errno) }
    close(ends.writing)
    return ends.reading
  }

  private static func memoryFile() throws -> Int32 {
    let file = coffer_memory_file()
    guard file >= 0 else { throw Failure(what: "memory file", code: errno) }
    return file
  }

  private static func content(_ file: Int32) throws -> [UInt8] {
    let count = Int(lseek(file, 0, SEEK_END))
    return [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
      filled = max(0, pread(file, buffer.baseAddress, max(count, 0), 0))
    }
  }
}
