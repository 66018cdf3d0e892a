// SPDX-License-Identifier: Apache-2.0
//
// The files of OpenPGP messages: their names, room for them, and output that appears when it is complete. A name inside
// a message is never used.

internal import CSystem
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets

/// A file or standard input, open for reading.
final class LetterInput {
  /// The path; `-` for standard input.
  let path: String
  let descriptor: Int32
  /// Bytes, if it is a file.
  let byteCount: Int?
  let isDirectory: Bool

  var isStandardInput: Bool { path == "-" }

  /// - Throws: `wrong_kind` for a folder, unless they are allowed.
  init(_ path: String, allowsDirectory: Bool = false) throws {
    self.path = path
    if path == "-" {
      do throws(SecretReadError) {
        descriptor = try CommandSurroundings.current.files.inherited(STDIN_FILENO)
      } catch { throw Failure(cannotRead: "standard input", ENOENT) }
    } else {
      descriptor = CommandSurroundings.current.files.open(path)
      guard descriptor >= 0 else { throw Failure(cannotRead: path, errno) }
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Failure(cannotRead: path, errno) }
    byteCount = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    guard allowsDirectory || !isDirectory else { throw Failure(cannotRead: path, EISDIR) }
  }

  deinit { if !isStandardInput, descriptor >= 0 { close(descriptor) } }
}

/// Where a result goes: a new file, or standard output.
final class LetterOutput: ByteSink {
  /// Nil for standard output.
  let path: String?
  /// Bytes that were written.
  private(set) var byteCount = 0
  private let file: (any NewFile)?
  private let stream: FileDescriptorSink

  /// - Parameters:
  ///   - path: of a new file, which appears when it is complete; nil for standard output.
  ///   - record: is told of a name that the file has meanwhile, where the file system has no files without names.
  ///   - needsName: for tests: whether it has one anyway.
  init(path: String?, record: (any UnfinishedExportRecord)?, needsName: Bool = false) throws {
    self.path = path
    do throws(MessageFormatError) {
      file = try path.map { (path) throws(MessageFormatError) in
        try CommandSurroundings.current.files.make(path, record: record, needsName: needsName)
      }
    } catch {
      throw Failure(openPGP: OpenPGPError(writing: error), writing: path ?? "-")
    }
    stream = FileDescriptorSink(descriptor: file?.descriptor ?? CommandRun.current.environment.streams.output)
    if path == nil { Terminal.flush() }
  }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    byteCount += bytes.byteCount
    try stream.write(bytes)
  }

  /// Gives the file its name. Without it nothing remains.
  func finish() throws(OpenPGPError) {
    try stream.flush()
    do throws(MessageFormatError) {
      try file?.synchronise()
      try file?.claimName()
    } catch { throw OpenPGPError(writing: error) }
  }
}

extension OpenPGPError {
  /// The same failure, as the engine's sinks tell it.
  fileprivate init(writing error: MessageFormatError) {
    switch error {
    case .alreadyExists: self = .inputOutput(errno: EEXIST)
    case .notFound: self = .inputOutput(errno: ENOENT)
    case .cannotWrite(let code): self = .inputOutput(errno: code)
    default: self = .inputOutput(errno: EIO)
    }
  }
}

enum LetterNames {
  /// What is taken off the name of an encrypted or signed file.
  private static let endings = [".pgp", ".gpg", ".asc", ".sig"]

  static func encrypted(_ path: String, isArmored: Bool) -> String {
    withoutSlashes(path) + (isArmored ? ".asc" : ".pgp")
  }

  static func archive(_ path: String, isArmored: Bool) -> String {
    withoutSlashes(path) + ".tar" + (isArmored ? ".asc" : ".pgp")
  }

  static func signed(_ path: String) -> String { path + ".asc" }

  static func decrypted(_ path: String) -> String { stripped(path) ?? path + ".decrypted" }

  /// The name of the document that a detached signature belongs to; nil when the name does not say.
  static func stripped(_ path: String) -> String? {
    for ending in endings where path.lowercased().hasSuffix(ending) {
      let rest = String(path.dropLast(ending.count))
      return rest.isEmpty || rest.hasSuffix("/") ? nil : rest
    }
    return nil
  }

  private static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}

enum LetterRoom {
  /// Refuses a file that would not fit, before anybody is asked for anything.
  static func check(_ byteCount: Int?, for path: String?) throws {
    guard let byteCount, let path else { return }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard let free = CommandSurroundings.current.files.freeByteCount(in: folder) else { return }
    guard let failure = failure(needed: byteCount, free: free, folder) else { return }
    throw failure
  }

  static func failure(needed: Int, free: Int, _ folder: String) -> Failure? {
    guard needed > free else { return nil }
    return Failure(
      .noRoom, "full",
      "this needs \(ByteCount.text(needed)) in '\(folder)', and \(ByteCount.text(free)) are free",
      hint: "nothing was written; make room and try again")
  }
}

/// A source that shows how far it is, and ends when the user wants it to. Where there are several processors, a thread of
/// the engine reads it.
class WatchedSource: ByteSource {
  private let source: any ByteSource
  private let total: Int?
  private var done = 0
  private var bar: ProgressBar
  private let surroundings = CommandSurroundings.current

  init(_ source: any ByteSource, title: String, total: Int?, _ context: CommandContext) {
    self.source = source
    self.total = total
    bar = ProgressBar(title, isQuiet: context.isQuiet || context.isJSON)
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    if surroundings.run.interruption.isRequested { throw .inputOutput(errno: EINTR) }
    return try source.withNext(body)
  }

  func consume(_ count: Int) {
    source.consume(count)
    count > 0 ? advance(count) : ()
  }

  func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    if surroundings.run.interruption.isRequested { throw .inputOutput(errno: EINTR) }
    let count = try source.read(into: &target)
    advance(count)
    return count
  }

  /// Clears the bar.
  func finish() { bar.finish() }

  private func advance(_ count: Int) {
    done += count
    surroundings.here { bar.update(bytes: done, of: total) }
  }
}

/// The same for what is read twice.
final class WatchedInput: WatchedSource, RewindableSource {
  private let input: any RewindableSource

  init(rewindable input: any RewindableSource, title: String, total: Int?, _ context: CommandContext) {
    self.input = input
    super.init(input, title: title, total: total, context)
  }

  func rewind(recognising: Bool) throws(OpenPGPError) { try input.rewind(recognising: recognising) }
}

extension CommandContext {
  /// Runs work that leaves nothing when it is interrupted: what it writes has no name before it is complete. While a
  /// file is read, a signal is noticed between two pieces; a pipe may be silent for ever, so a signal ends it at once.
  func interruptibly<R>(_ input: LetterInput?, _ work: () throws -> R) throws -> R {
    let words = Failure.interrupted("nothing was written")
    if let input, input.byteCount == nil {
      return try Interruption.endingAtOnce(words, isJSON: isJSON, work)
    }
    Interruption.catchOnce()
    do { return try work() } catch {
      if Interruption.isRequested { throw words }
      throw error
    }
  }
}
