// SPDX-License-Identifier: Apache-2.0
//
// What the QR codes of a picture have (Specs/contacts.md). A picture may show others beside the one that is meant, such
// as the address of a web page; what they have is never shown, opened or stored.

public import Secrets

/// What a public part in armor begins with, in lower case.
private let armorHead = "-----begin pgp public key block-----"

/// What a QR code has, told by how it begins.
public enum CodeKind: String, CaseIterable, Sendable {
  /// The URL of a public part, well made or not, or a public part in armor.
  case publicPart = "public_part"
  /// `OPENPGP4FPR:`, with a fingerprint or something else.
  case fingerprint
  /// An address of a web page.
  case webAddress = "web_address"
  /// Anything else.
  case other

  /// What a text is.
  public init(_ text: RawSpan) {
    func begins(_ scheme: String) -> Bool {
      let scheme = Array(scheme.utf8)
      return text.byteCount >= scheme.count
        && scheme.indices.allSatisfy { index in
          let octet = text.octet(index)
          return ((0x41...0x5A).contains(octet) ? octet | 0x20 : octet) == scheme[index]
        }
    }
    if begins("openpgp4fpr:") {
      self = .fingerprint
    } else if PublicPartURL.isMeant(by: text) || begins(armorHead) {
      self = .publicPart
    } else if begins("http:") || begins("https:") {
      self = .webAddress
    } else {
      self = .other
    }
  }
}

/// The one code of a picture that is meant.
public struct MeantCode: Sendable {
  /// `.publicPart` or `.fingerprint`.
  public let kind: CodeKind
  /// Its text, without blanks and line ends around it.
  public let text: SharedSecretBytes

  /// The public parts that the text is: of a URL one, of armor all.
  /// - Throws: `ContactError`, as for a URL or a file.
  public func publicParts() throws(ContactError) -> PublicParts {
    guard text.withBytes({ PublicPartURL.isMeant(by: $0) }) else { return try PublicParts(text) }
    return try text.withBytes { (text) throws(ContactError) in try PublicParts(url: text) }
  }

  /// Why no code is meant.
  @nonexhaustive
  public enum Problem: Error, Equatable, Sendable {
    /// There is no code.
    case noCode
    /// There are only others, of these kinds.
    case foreign([CodeKind])
    /// Several different ones could be meant; the kinds of all codes.
    case several([CodeKind])
  }

  /// Chooses among the texts of a picture.
  ///
  /// A code is meant if it begins like a public part or a fingerprint, well made or not. Others beside it do not count.
  public init(of texts: [SharedSecretBytes]) throws(Problem) {
    var found: [(kind: CodeKind, text: SharedSecretBytes)] = []
    for text in texts.map(\.trimmed)
    where !found.contains(where: { $0.text.isEqual(to: text) }) {
      found.append((text.withBytes { CodeKind($0) }, text))
    }
    let meant = found.filter { $0.kind == .publicPart || $0.kind == .fingerprint }
    guard meant.count <= 1 else { throw .several(found.map(\.kind)) }
    guard let one = meant.first else {
      throw found.isEmpty ? .noCode : .foreign(found.map(\.kind))
    }
    (kind, text) = one
  }
}

extension SharedSecretBytes {
  fileprivate var trimmed: SharedSecretBytes {
    withBytes { SharedSecretBytes(SecretBytes(copying: $0.extracting($0.trimmedRange))) }
  }

  fileprivate func isEqual(to other: SharedSecretBytes) -> Bool {
    withBytes { left in other.withBytes { right in constantTimeEqual(left, right) } }
  }
}

extension RawSpan {
  /// What is left without blanks, tabs and line ends at its ends.
  fileprivate var trimmedRange: Range<Int> {
    func isBlank(_ offset: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(octet(offset)) }
    var (start, end) = (0, byteCount)
    while start < end, isBlank(start) { start += 1 }
    while end > start, isBlank(end - 1) { end -= 1 }
    return start..<end
  }
}
