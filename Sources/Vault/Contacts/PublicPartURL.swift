// SPDX-License-Identifier: Apache-2.0
//
// A public part as a URL, which is also the content of a QR code (Specs/contacts.md). A page or a picture may hand any
// text to the reader, so it takes exactly one spelling of each certificate and says of everything else what is wrong.

public import OpenPGP
public import Secrets

/// Why a text is not a URL of a public part.
@nonexhaustive
public enum PublicPartURLProblem: Error, Equatable, Sendable {
  /// More than ``PublicPartURL/byteCountLimit`` octets.
  case tooLong
  /// `OPENPGP4FPR:`, which has a fingerprint and no public part.
  case fingerprintAlone
  /// The scheme is another one, or not in lower case.
  case scheme
  /// A user or a port before the path.
  case authority
  /// The version is not `v1`.
  case version
  /// What follows the scheme is not `//import/v1/`.
  case place
  /// Nothing follows the version.
  case empty
  /// A query or a fragment.
  case queryOrFragment
  /// A percent sign: nothing is escaped here.
  case percentEncoding
  /// An equals sign.
  case padding
  /// Another character outside of the alphabet.
  case foreignCharacter
  /// A number of characters that no octets are written with: it was cut off.
  case cutOff
  /// Bits after the last octet are not zero.
  case unusedBits
  /// The octets are not packets, but text, for example armor.
  case notBinary
  /// There is more than one certificate.
  case severalCertificates
}

/// The URL of a public part: reading and writing.
public enum PublicPartURL {
  /// Who registers a scheme decides which program opens the URL.
  public enum Scheme: String, CaseIterable, Sendable {
    /// The scheme that is written unless another one is asked for.
    case cypherair
    /// The scheme of newer programs.
    case cypherairx
  }

  /// Octets of a whole URL; a QR code holds fewer.
  public static let byteCountLimit = 4096
  /// Characters after the version.
  public static let characterCountLimit = 4000
  /// Octets of a certificate.
  public static let certificateByteCountLimit = characterCountLimit / 4 * 3

  private static let place = Array("//import/v1/".utf8)
  /// What an `OPENPGP4FPR` URL begins with, in any letter case.
  private static let fingerprintScheme = "openpgp4fpr"

  // MARK: Writing

  /// The URL of a certificate in packets.
  /// - Throws: ``PublicPartURLProblem/tooLong`` above ``certificateByteCountLimit``; `.empty`.
  public static func text(
    of certificate: [UInt8], scheme: Scheme = .cypherair
  ) throws(PublicPartURLProblem) -> String {
    guard !certificate.isEmpty else { throw .empty }
    guard certificate.count <= certificateByteCountLimit else { throw .tooLong }
    var text = Array(scheme.rawValue.utf8) + [UInt8(ascii: ":")] + place
    var (bits, bitCount) = (0, 0)
    for byte in certificate {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(alphabet[bits >> bitCount & 63])
      }
    }
    if bitCount > 0 { text.append(alphabet[bits << (6 - bitCount) & 63]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The URL of a certificate.
  /// - Throws: `.tooLong` above ``certificateByteCountLimit``; `.notBinary` for one that cannot be written.
  public static func text(
    of certificate: Certificate, scheme: Scheme = .cypherair
  ) throws(PublicPartURLProblem) -> String {
    let sink = ArraySink()
    do { try certificate.write(to: sink) } catch { throw .notBinary }
    return try text(of: sink.bytes, scheme: scheme)
  }

  // MARK: Reading

  /// Whether a text is meant as one of these URLs, well made or not: it begins with one of the schemes in any letter
  /// case, and a colon.
  public static func isMeant(by text: RawSpan) -> Bool {
    guard let scheme = scheme(text) else { return false }
    return scheme == fingerprintScheme || Scheme(rawValue: scheme) != nil
  }

  /// The octets that a URL has, in memory for secrets: it may be a private key by mistake. They are not looked at.
  /// - Throws: ``PublicPartURLProblem``, all but `.severalCertificates`.
  public static func octets(of text: RawSpan) throws(PublicPartURLProblem) -> SecretBytes {
    guard text.byteCount <= byteCountLimit else { throw .tooLong }
    guard let scheme = scheme(text), scheme != fingerprintScheme else {
      throw isMeant(by: text) ? .fingerprintAlone : .scheme
    }
    let isExact = scheme.utf8.enumerated().allSatisfy { text.octet($0.offset) == $0.element }
    guard isExact, Scheme(rawValue: scheme) != nil else { throw .scheme }
    let start = scheme.utf8.count + 1
    try checkPlace(text, from: start)
    let count = text.byteCount - start - place.count
    guard count > 0 else { throw .empty }
    guard count <= characterCountLimit else { throw .tooLong }
    let octets = try decoded(text, from: start + place.count)
    guard octets.withBytes({ $0.octet(0) & 0x80 != 0 }) else { throw .notBinary }
    return octets
  }

  /// The part before the first colon in lower case; nil when there is none, or it is longer than any of ours.
  private static func scheme(_ text: RawSpan) -> String? {
    let most = min(text.byteCount, fingerprintScheme.utf8.count + 1)
    guard let colon = (0..<most).first(where: { text.octet($0) == UInt8(ascii: ":") }) else { return nil }
    let letters = (0..<colon).map { text.octet($0) }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return String(decoding: letters, as: UTF8.self)
  }

  /// What is wrong before the payload is told apart, since some of it comes from programs that mean well.
  private static func checkPlace(_ text: RawSpan, from start: Int) throws(PublicPartURLProblem) {
    let rest = (start..<text.byteCount).map { text.octet($0) }
    if rest.starts(with: place) { return }
    let host = Array("//import".utf8)
    let version = host + Array("/v".utf8)
    if rest.starts(with: version) {
      let tail = rest[version.count...]
      let digits = tail.prefix { (0x30...0x39).contains($0) }
      if tail.elementsEqual([UInt8(ascii: "1")]) { throw .empty }
      throw digits.isEmpty || digits.elementsEqual([UInt8(ascii: "1")]) ? .place : .version
    }
    let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
    let isAuthority = rest.starts(with: Array("//".utf8))
    if isAuthority, authority.contains(UInt8(ascii: "@")) || authority.contains(UInt8(ascii: ":")) {
      throw .authority
    }
    throw .place
  }

  private static func decoded(_ text: RawSpan, from start: Int) throws(PublicPartURLProblem) -> SecretBytes {
    let count = text.byteCount - start
    // Everything wrong with a character is said before what is wrong with their number.
    for index in 0..<count where value(text.octet(start + index)) == nil {
      throw problem(of: text.octet(start + index))
    }
    guard count % 4 != 1 else { throw .cutOff }
    return try SecretBytes(byteCount: count * 6 / 8) { (octets) throws(PublicPartURLProblem) in
      var (bits, bitCount, filled) = (0, 0, 0)
      for index in 0..<count {
        bits = (bits << 6 | (value(text.octet(start + index)) ?? 0)) & 0xFFFF
        bitCount += 6
        guard bitCount >= 8 else { continue }
        bitCount -= 8
        octets.storeBytes(
          of: UInt8(truncatingIfNeeded: bits >> bitCount), toByteOffset: filled, as: UInt8.self)
        filled += 1
      }
      guard bits & ((1 << bitCount) - 1) == 0 else { throw .unusedBits }
    }
  }

  private static func problem(of character: UInt8) -> PublicPartURLProblem {
    switch character {
    case UInt8(ascii: "?"), UInt8(ascii: "#"): .queryOrFragment
    case UInt8(ascii: "%"): .percentEncoding
    case UInt8(ascii: "="): .padding
    default: .foreignCharacter
    }
  }

  /// RFC 4648, section 5.
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(_ character: UInt8) -> Int? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 0x41
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 0x61 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) - 0x30 + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

extension RawSpan {
  /// The octet at an offset, checked.
  func octet(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

extension PublicParts {
  /// The one certificate of a URL.
  /// - Parameter url: the text, without anything before or after.
  /// - Throws: `.url`, `.privateKey`, `.unreadable`, `.certificateTooLarge`.
  public init(url: RawSpan) throws(ContactError) {
    let octets: SecretBytes
    do { octets = try PublicPartURL.octets(of: url) } catch { throw .url(error) }
    let parts = try PublicParts(SharedSecretBytes(octets))
    guard parts.count == 1 else { throw .url(.severalCertificates) }
    self = parts
  }
}

extension FingerprintText {
  /// The fingerprint of a text of `OPENPGP4FPR:` and all of its digits; nil for anything else.
  static func fingerprint(url text: String) -> Fingerprint? {
    let scheme = "OPENPGP4FPR:"
    guard text.prefix(scheme.count).uppercased() == scheme else { return nil }
    let digits = text.dropFirst(scheme.count)
    guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), [40, 64].contains(digits.count) else {
      return nil
    }
    return Fingerprint(bytes: bytes(digits.lowercased()))
  }
}
