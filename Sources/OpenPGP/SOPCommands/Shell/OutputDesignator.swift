// SPDX-License-Identifier: Apache-2.0
//
// Where a second output goes: a new file or `@FD:n`. What goes there is written before the data come out, so that a
// full disk leaves standard output empty; a file appears under its name when the subcommand has done its work, and
// not before.

internal import Glibc
internal import OpenPGP
internal import Secrets

/// An output besides standard output.
final class OutputDesignator {
  private enum Target {
    case file(AtomicFileSink)
    case descriptor(FileDescriptorSink)
  }

  private let target: Target
  private let name: String
  /// Standard output itself, given as a descriptor: this comes behind the data.
  private let isStandardOutput: Bool
  private var held = SecretBytes(zeroed: 0)

  /// - Throws: 59 when there is such a file, 71 for another prefix than `@FD:`, 61 for a descriptor that is not
  ///   open for writing, 19 when there is no name.
  init(_ text: String) throws(Failure) {
    guard !text.isEmpty else { throw Failure(.missingArgument, "the name of an output is empty") }
    name = text
    if let number = text.suffix(after: "@FD:") {
      guard let descriptor = InputDesignator.descriptor(number, unusableMode: O_RDONLY) else {
        throw Failure(.missingInput, "there is no descriptor «\(text)» open for writing")
      }
      target = .descriptor(FileDescriptorSink(descriptor: descriptor))
      isStandardOutput = descriptor == STDOUT_FILENO
      return
    }
    isStandardOutput = false
    guard !text.hasPrefix("@") else { throw InputDesignator.unknownPrefix(text) }
    do {
      target = .file(try AtomicFileSink(path: text))
    } catch {
      throw Self.failure(error, text)
    }
  }

  /// Writes `text` as all of the output.
  func prepare(_ text: String) throws(Failure) { try prepare(unsafe Array(text.utf8).span.bytes) }

  /// Writes `bytes` as all of the output, to the disk or the descriptor; a file does not have its name yet.
  func prepare(_ bytes: RawSpan) throws(Failure) {
    if isStandardOutput {
      held = SecretBytes(copying: bytes)
      return
    }
    do {
      switch target {
      case .file(let sink):
        try sink.write(bytes)
        try sink.sync()
      case .descriptor(let sink):
        try sink.write(bytes)
        try sink.flush()
      }
    } catch {
      throw Self.failure(error, name)
    }
  }

  /// Gives what was prepared its name: the last that a subcommand does.
  func finish() throws(Failure) {
    do {
      switch target {
      case .file(let sink): try sink.commit()
      case .descriptor(let sink):
        try held.withBytes { (bytes) throws(OpenPGPError) in try sink.write(bytes) }
        try sink.flush()
      }
    } catch {
      throw Self.failure(error, name)
    }
  }

  private static func failure(_ error: OpenPGPError, _ name: String) -> Failure {
    switch error {
    case .inputOutput(EEXIST):
      Failure(.outputExists, "the output «\(name)» is there already", hint: "name one that is not")
    case .inputOutput(let number):
      Failure(.unspecifiedFailure, "cannot write «\(name)» (\(SystemError.text(number)))")
    default: Failure(error, .output)
    }
  }
}
