// SPDX-License-Identifier: Apache-2.0
//
// A file whose name says that it is the signature of the file beside it, and that is a signed message of its own. It
// says nothing about that file, unless it has the same content: whoever reads "good" would take it for an answer.

internal import Correspondence
internal import OpenPGP
internal import Primitives
internal import Secrets

extension VerifyCommand {
  /// Refuses a message that would be taken for a signature of the file beside it.
  /// - Parameter read: hands out the content of the message, whoever has signed it.
  /// - Throws: `not_detached` when the file beside it has another content.
  func checkBeside(
    isText: Bool, _ context: CommandContext, _ read: (any ByteSink) throws(OpenPGPError) -> Void
  ) throws {
    guard [".asc", ".sig"].contains(where: file.lowercased().hasSuffix),
      let document = LetterNames.stripped(file), CommandSurroundings.current.files.exists(document)
    else { return }
    let content = ContentDigest(isText: isText)
    // What cannot be read is told when it is verified.
    do throws(OpenPGPError) { try read(content) } catch { return }
    let input = try LetterInput(document)
    let other = ContentDigest(isText: isText)
    do throws(OpenPGPError) {
      try other.write(allOf: FileDescriptorSource(descriptor: input.descriptor))
    } catch { throw Failure(openPGP: error, writing: document) }
    if content.finish() == other.finish() { return context.remark("its content is that of '\(document)'") }
    throw Failure(
      .refused, "not_detached",
      "'\(file)' is a signed message of its own, with another content than '\(document)', whose signature it is not",
      hint: "nothing was checked; to read the message: coffer verify - <\(ShellWord.quoted(file))")
  }
}

/// The digest of a content; of a text, without blanks at the ends of lines and without line ends at its end, which a
/// cleartext signature does not cover (RFC 9580, section 7.1).
private final class ContentDigest: ByteSink {
  private var hash = SHA256()
  private let isText: Bool
  /// Blanks that are at the end of a line unless something follows, and line ends that are at the end of the text.
  private var pending: [UInt8] = []

  init(isText: Bool) { self.isText = isText }

  func write(_ bytes: RawSpan) {
    guard isText else { return hash.update(bytes) }
    for index in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      switch byte {
      case UInt8(ascii: "\r"): continue
      case UInt8(ascii: " "), UInt8(ascii: "\t"): pending.append(byte)
      case UInt8(ascii: "\n"):
        while let last = pending.last, last != byte { pending.removeLast() }
        pending.append(byte)
      default:
        pending.append(byte)
        hash.update(pending.rawSpan)
        pending.removeAll(keepingCapacity: true)
      }
    }
  }

  func finish() -> [UInt8] {
    var whole = SHA256()
    swap(&whole, &hash)
    return whole.finish()
  }
}
