// SPDX-License-Identifier: Apache-2.0
//
// The two forms in which git calls its `gpg.program`, and nothing else: who needs gpg has gpg.

/// What git wants.
enum GitRequest: Equatable {
  /// The program's name and version.
  case version
  /// An armored detached signature of standard input, on standard output.
  /// - Parameter key: `user.signingkey`, or the committer's name and address.
  case sign(key: String, statusDescriptor: Int32?)
  /// A judgement of the signature in a file, over standard input.
  case verify(signature: String, statusDescriptor: Int32?)

  /// Reads a command line.
  /// - Throws: an error of usage for any other form.
  init(_ arguments: [String]) throws {
    if arguments == ["--version"] {
      self = .version
      return
    }
    var descriptor: Int32?
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
        self = .sign(key: key, statusDescriptor: descriptor)
        return
      } else if word == "--verify", rest.count == 2, rest.last == "-", let file = rest.popFirst() {
        self = .verify(signature: file, statusDescriptor: descriptor)
        return
      } else {
        break
      }
    }
    throw Failure.usage(
      "only what git calls is here (sign, verify, --version)",
      hint: "git config gpg.program \(GitProgram.name)")
  }

  private static func descriptor(_ text: Substring) throws -> Int32 {
    guard let number = Int32(text), number > 0 else {
      throw Failure.usage("--status-fd wants the number of a descriptor")
    }
    return number
  }
}
