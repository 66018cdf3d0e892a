// SPDX-License-Identifier: Apache-2.0
//
// Indirect values: an input is a file, `@ENV:NAME` or `@FD:n`; a second output is a new file or `@FD:n`.
//
// What goes to a second output is written before the data comes out, so that a full disk leaves standard
// output empty. A file appears under its name when the subcommand has done its work, and not before.

internal import Glibc
internal import OpenPGP
internal import Secrets

/// Where something is to be read from.
struct InputDesignator {
  private enum Place {
    case file(String)
    case descriptor(Int32)
    case variable(String)
  }

  private let place: Place

  /// - Throws: 71 for another prefix, 73 when a file has the name of a designator, 61 when there is no such
  ///   descriptor or variable.
  init(_ text: String) throws(Failure) {
    guard text.hasPrefix("@") else {
      place = .file(text)
      return
    }
    if let name = text.suffix(after: "@ENV:") {
      place = .variable(name)
    } else if let number = text.suffix(after: "@FD:") {
      guard let descriptor = Self.descriptor(number, for: .reading) else {
        throw Failure(.missingInput, "there is no descriptor '\(text)' open for reading")
      }
      place = .descriptor(descriptor)
    } else {
      throw Self.unknownPrefix(text)
    }
    if unsafe access(text, F_OK) == 0 {
      throw Failure(
        .ambiguousInput, "there is a file with the name '\(text)'",
        hint: "write ./\(text) if the file is meant")
    }
  }

  /// Refuses words that name a descriptor which is not open, whatever it would be used for. Later, a file of this
  /// program's own could have the number: call it before anything is opened.
  /// - Throws: 61.
  static func checkDescriptors(in words: [String]) throws(Failure) {
    for word in words {
      guard let number = word.suffix(after: "@FD:"), descriptor(number, for: nil) == nil else { continue }
      throw Failure(.missingInput, "there is no open descriptor '\(word)'")
    }
  }

  /// The descriptor of that number, when it is open for that use.
  fileprivate static func descriptor(_ number: String, for use: InheritedDescriptor.Use?) -> Int32? {
    guard let descriptor = Int32(number), InheritedDescriptor.isOpen(descriptor, for: use) else {
      return nil
    }
    return descriptor
  }

  static func unknownPrefix(_ text: String) -> Failure {
    Failure(
      .unsupportedSpecialPrefix, "'\(text)' begins with @ and is not a known designator",
      hint: "write ./\(text) if a file is meant")
  }

  /// Lends the bytes of the file, variable or descriptor.
  /// - Throws: 61 when the file or the variable is not there.
  func withSource<R>(_ body: (any ByteSource) throws(Failure) -> R) throws(Failure) -> R {
    switch place {
    case .descriptor(let descriptor): return try body(FileDescriptorSource(descriptor: descriptor))
    case .variable(let name):
      return try body(MemorySource(SharedSecretBytes(try Self.variable(name))))
    case .file(let path):
      let descriptor = try Self.open(path)
      defer { close(descriptor) }
      return try body(FileDescriptorSource(descriptor: descriptor))
    }
  }

  /// All that is there, for passwords and session keys.
  /// - Throws: 41 when it is longer than `byteCountLimit`.
  func readSecret(byteCountLimit: Int) throws(Failure) -> SecretBytes {
    switch place {
    case .variable(let name): return try Self.variable(name)
    case .descriptor(let descriptor): return try Self.read(descriptor, byteCountLimit)
    case .file(let path):
      let descriptor = try Self.open(path)
      defer { close(descriptor) }
      return try Self.read(descriptor, byteCountLimit)
    }
  }

  private static func read(_ descriptor: Int32, _ byteCountLimit: Int) throws(Failure) -> SecretBytes {
    do {
      return try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: byteCountLimit)
    } catch .tooLong {
      throw Failure(.badData, "a password or session key is longer than \(byteCountLimit) bytes")
    } catch {
      throw Failure(.missingInput, "a password or session key cannot be read")
    }
  }

  private static func open(_ path: String) throws(Failure) -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure(.missingInput, "cannot open '\(path)' (\(SystemError.text(errno)))")
    }
    return descriptor
  }

  private static func variable(_ name: String) throws(Failure) -> SecretBytes {
    guard let value = unsafe getenv(name) else {
      throw Failure(.missingInput, "there is no environment variable '\(name)'")
    }
    return unsafe SecretBytes(copying: RawSpan(_unsafeStart: value, byteCount: strlen(value)))
  }
}

extension String {
  /// What comes after `prefix`; nil when the text begins with something else.
  func suffix(after prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}

/// An output besides standard output.
final class OutputDesignator {
  private enum Target {
    case file(AtomicFileSink)
    case descriptor(FileDescriptorSink)
  }

  private let target: Target
  private let name: String
  /// Standard output itself, given as a descriptor: this comes after the data.
  private let isStandardOutput: Bool
  private var held = SecretBytes(zeroed: 0)

  /// - Throws: 59 when there is such a file, 71 for another prefix than `@FD:`, 61 for a descriptor that is not
  ///   open for writing, 19 when there is no name.
  init(_ text: String) throws(Failure) {
    guard !text.isEmpty else { throw Failure(.missingArgument, "the name of an output is empty") }
    name = text
    if let number = text.suffix(after: "@FD:") {
      guard let descriptor = InputDesignator.descriptor(number, for: .writing) else {
        throw Failure(.missingInput, "there is no descriptor '\(text)' open for writing")
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
  func prepare(_ text: String) throws(Failure) { try prepare(Array(text.utf8).rawSpan) }

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

  /// Gives the prepared file its name: the last step of a subcommand.
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
      Failure(.outputExists, "the output '\(name)' is there already", hint: "name one that is not")
    case .inputOutput(let number):
      Failure(.unspecifiedFailure, "cannot write '\(name)' (\(SystemError.text(number)))")
    default: Failure(error, .output)
    }
  }
}
