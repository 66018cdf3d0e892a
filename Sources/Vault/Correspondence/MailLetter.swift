// SPDX-License-Identifier: Apache-2.0
//
// A mail, read whole into locked memory. Only what is at its top is opened (Specs/mail.md).

internal import Glibc
public import MessageFormats
public import OpenPGP
internal import Primitives
public import Secrets

/// Why a mail is not opened, or not shown.
@nonexhaustive
public enum MailError: Error, Equatable, Sendable {
  /// It is not built as a mail must be.
  case malformed(MailTreeError)
  /// Larger than a message of the coffer may be.
  case tooLarge
  /// There is nothing to decrypt.
  case notEncrypted
  /// It has to be decrypted first.
  case encrypted
  /// There is no signature in a place where it counts.
  case notSigned
  /// The signature is not one.
  case badSignaturePart
  /// The parts with these numbers are encrypted.
  case severalCiphertexts([Int])
  /// One text has several encrypted or signed texts.
  case severalTexts
  /// The part with this number is encrypted, and others around it are not.
  case misplaced(Int)
  /// What was encrypted is encrypted once more.
  case nested
}

/// A mail with its parts.
public struct MailLetter: Sendable {
  /// All of it.
  public let bytes: SharedSecretBytes
  /// Its parts.
  public let tree: MailTree
  /// What it is at the top.
  public let shape: MailShape

  /// Reads a mail.
  /// - Throws: ``MailError/malformed(_:)``.
  public init(_ bytes: SharedSecretBytes) throws(MailError) {
    self.bytes = bytes
    do throws(MailTreeError) {
      tree = try bytes.withBytes { (mail) throws(MailTreeError) in try MailTree(mail) }
    } catch {
      throw .malformed(error)
    }
    let parts = tree
    shape = bytes.withBytes { MailShape(parts, $0) }
  }

  /// What is decrypted.
  public enum Ciphertext {
    /// The whole mail, but for other text around it.
    case mail(SharedSecretBytes, others: [SharedSecretBytes], isText: Bool)
    /// One part that was named.
    case part(SharedSecretBytes)
  }

  /// Whether there is something at the top that is decrypted.
  public var isEncrypted: Bool {
    switch shape {
    case .encrypted: true
    case .text(let block, _): block.kind == .message
    case .signed, .severalTexts, .plain: false
    }
  }

  /// What there is to decrypt: at the top, or in the part with a number that the user has named.
  /// - Throws: ``MailError``.
  public func ciphertext(part: Int?) throws(MailError) -> Ciphertext {
    switch shape {
    case .encrypted(let index, _):
      return .mail(SharedSecretBytes(content(index)), others: [], isText: false)
    case .text(let block, _) where block.kind == .message:
      return .mail(excerpt(block.range), others: others(around: block.range), isText: true)
    case .severalTexts: throw .severalTexts
    case .plain(let numbers):
      if let part {
        guard numbers.contains(part) else { throw .notEncrypted }
        return .part(try message(inPart: part))
      }
      guard let first = numbers.first else { throw .notEncrypted }
      throw numbers.count > 1 ? .severalCiphertexts(numbers) : .misplaced(first)
    case .signed, .text: throw .notEncrypted
    }
  }

  /// The message in a part: all of it, or the one block in its text.
  private func message(inPart number: Int) throws(MailError) -> SharedSecretBytes {
    let content = SharedSecretBytes(content(tree.leaves()[number - 1]))
    let blocks = content.withBytes { ArmoredBlock.all(in: $0) }
    guard blocks.count <= 1 else { throw .severalTexts }
    guard let block = blocks.first else { return content }
    return SharedSecretBytes(content.withBytes { SecretBytes(copying: $0.extracting(block.range)) })
  }

  /// A decoded part.
  private func content(_ index: Int) -> SecretBytes {
    bytes.withBytes { tree.content(of: index, in: $0) }
  }

  /// Where the one text of the mail is.
  var textPart: Int { MailShape.textPart(tree) ?? 0 }

  /// A piece of the one text of the mail.
  func excerpt(_ range: Range<Int>) -> SharedSecretBytes {
    let text = content(textPart)
    return SharedSecretBytes(text.withBytes { SecretBytes(copying: $0.extracting(range)) })
  }

  /// What is before and after a block, without what is blank.
  func others(around range: Range<Int>) -> [SharedSecretBytes] {
    let count = content(textPart).count
    return [0..<range.lowerBound, range.upperBound..<count].map(excerpt).filter { other in
      other.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe !$0.allSatisfy { [0x20, 0x09, 0x0D, 0x0A].contains($0) } }
      }
    }
  }
}

/// Takes content into locked memory, up to the size of a mail.
public final class MailSink: ByteSink {
  private var held = SecretBytes(zeroed: 64 << 10)
  private var count = 0
  /// Whether there was more than fits.
  public private(set) var isTooLong = false

  /// Nothing yet.
  public init() {}

  /// See `ByteSink`; fails with EFBIG for more than a mail may have.
  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    guard count + bytes.byteCount <= MessageLimits.messageByteCount else {
      isTooLong = true
      throw .inputOutput(errno: EFBIG)
    }
    if count + bytes.byteCount > held.count {
      var larger = SecretBytes(zeroed: max(2 * held.count, count + bytes.byteCount))
      held.withBytes { old in larger.withMutableBytes { $0.copy(old.extracting(first: count), to: 0) } }
      held = larger
    }
    held.withMutableBytes { $0.copy(bytes, to: count) }
    count += bytes.byteCount
  }

  /// What came.
  public func finish() -> SharedSecretBytes {
    var taken = SecretBytes(zeroed: 0)
    swap(&taken, &held)
    taken.shorten(to: count)
    return SharedSecretBytes(taken)
  }
}
