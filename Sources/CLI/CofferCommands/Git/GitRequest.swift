// SPDX-License-Identifier: Apache-2.0
//
// The two forms in which git calls its `gpg.program`, and nothing else: who needs gpg has gpg.

internal import Secrets

/// What git wants.
enum GitRequest: Equatable {
  /// The program's name and version.
  case version
  /// An armored detached signature of standard input, on standard output.
  /// - Parameter key: `user.signingkey`, or the committer's name and address.
  case sign(key: String, status: InheritedDescriptor?)
  /// A judgement of the signature in a file, over standard input.
  case verify(signature: String, status: InheritedDescriptor?)

  /// Reads a command line. Nothing may be open yet but what was inherited.
  /// - Throws: an error of usage for any other form; `no_output`.
  init(_ arguments: [String]) throws {
    if arguments == ["--version"] {
      self = .version
      return
    }
    var descriptor: InheritedDescriptor?
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word.hasPrefix("--status-fd=") {
        descriptor = try Self.descriptor(word.dropFirst("--status-fd=".count))
      } else if word == "--status-fd", let number = rest.popFirst() {
        descriptor = try Self.descriptor(number[...])
      } else if word.hasPrefix("--keyid-format=") {
        // Key IDs always have 16 digits here.
        continue
      } else if word == "-bsau", rest.count == 1, let key = rest.popFirst(), !key.isEmpty {
        self = .sign(key: key, status: descriptor)
        return
      } else if word == "--verify", rest.count == 2, rest.last == "-", let file = rest.popFirst() {
        self = .verify(signature: file, status: descriptor)
        return
      } else {
        break
      }
    }
    throw Failure.usage(
      "only what git calls is here (sign, verify, --version)",
      hint: "git config gpg.program \(GitProgram.name)")
  }

  private static func descriptor(_ text: Substring) throws -> InheritedDescriptor {
    guard let number = Int32(text), number > 0 else {
      throw Failure.usage("--status-fd wants the number of a descriptor")
    }
    guard let found = InheritedDescriptor(number, for: .writing) else {
      throw StatusLines.unwritable(number)
    }
    return found
  }
}
