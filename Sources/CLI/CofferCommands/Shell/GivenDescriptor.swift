// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Secrets

/// The number of a descriptor to read, as an option gives it. It is looked at when the command line is read: nothing that
/// the command opens can have the number.
struct GivenDescriptor: ExpressibleByArgument {
  private let opened: Result<Int32, SecretReadError>

  init?(argument: String) {
    guard let number = Int32(argument) else { return nil }
    let files = CommandSurroundings.current.files
    opened = Result { () throws(SecretReadError) in try files.inherited(number) }
  }

  /// The descriptor to read.
  /// - Throws: `SecretReadError.cannotOpen` when none was open for reading.
  func get() throws(SecretReadError) -> Int32 { try opened.get() }
}
