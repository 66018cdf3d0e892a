// SPDX-License-Identifier: Apache-2.0
//
// The address of an account: where its objects are, which account it is, and the secret that a passphrase needs besides.
//
//   folder:///media/stick/coffer?account=ACCOUNT#SECRET
//
// ACCOUNT has 32 hexadecimal digits, SECRET 36: 16 bytes, and the first two of SHA-256("coffer account card v1" ‖ account ‖
// secret), so that a slip of the pen is noticed. What is behind '#' is never sent anywhere.

public import Histories
internal import Primitives
public import Secrets

/// Why a text is no address.
public enum AddressError: Error, Equatable, Sendable {
  /// It is not of the form above, or not of a place that this program knows.
  case malformed
  /// It has no account and secret: it names a place, not an account.
  case placeOnly
  /// Two characters were exchanged, or one is missing.
  case mistyped
}

/// A place for objects.
public enum AccountPlace: Equatable, Sendable {
  /// A folder, by its absolute path.
  case folder(String)

  /// Reads `folder:///PATH`; nil for anything else.
  public init?(_ text: String) {
    let scheme = "folder://"
    guard text.hasPrefix(scheme), !text.contains("#"), !text.contains("?") else { return nil }
    let path = String(text.dropFirst(scheme.count))
    guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count > 1 else { return nil }
    self = .folder(path)
  }

  /// As ``init(_:)`` reads it; it has no secret.
  public var text: String {
    switch self {
    case .folder(let path): "folder://" + path
    }
  }
}

/// Where an account is, and what whoever joins it must have.
public struct AccountAddress: Sendable {
  public let place: AccountPlace
  public let account: AccountID
  /// 16 bytes.
  public let secret: SharedSecretBytes

  static let secretByteCount = Envelope.urlSecretByteCount
  private static let checkByteCount = 2

  init(place: AccountPlace, account: AccountID, secret: SharedSecretBytes) {
    precondition(secret.count == Self.secretByteCount, "the secret of an address has 16 bytes")
    self.place = place
    self.account = account
    self.secret = secret
  }

  /// Reads an address.
  /// - Parameter text: its UTF-8.
  public init(_ text: RawSpan) throws(AddressError) {
    var (open, hidden) = (text.byteCount, text.byteCount)
    for offset in 0..<text.byteCount where text.byte(offset) == UInt8(ascii: "#") {
      (open, hidden) = (offset, offset + 1)
      break
    }
    // Only what is before '#' may become a string.
    let before = [UInt8](copying: text.extracting(first: open))
    guard let before = String(validating: before, as: UTF8.self) else { throw .malformed }
    let parts = before.split(separator: "?account=", omittingEmptySubsequences: false)
    guard let place = parts.first.flatMap({ AccountPlace(String($0)) }) else { throw .malformed }
    guard parts.count > 1, hidden < text.byteCount else { throw .placeOnly }
    guard parts.count == 2, let account = AccountID(digits: parts[1])
    else { throw .malformed }
    let all = Self.secretByteCount + Self.checkByteCount
    guard text.byteCount - hidden == 2 * all else { throw .mistyped }
    var decoded = SecretBytes(zeroed: all)
    var isHexadecimal = true
    decoded.withMutableBytes { bytes in
      for offset in 0..<all {
        let high = Self.digit(text.byte(hidden + 2 * offset)), low = Self.digit(text.byte(hidden + 2 * offset + 1))
        if high > 15 || low > 15 { isHexadecimal = false }
        bytes.storeBytes(of: high << 4 | low, toByteOffset: offset, as: UInt8.self)
      }
    }
    guard isHexadecimal else { throw .mistyped }
    let (secret, check) = decoded.withBytes { bytes in
      (
        SharedSecretBytes(SecretBytes(copying: bytes.extracting(first: Self.secretByteCount))),
        [UInt8](copying: bytes.extracting(droppingFirst: Self.secretByteCount))
      )
    }
    guard Self.check(account, secret) == check else { throw .mistyped }
    self.init(place: place, account: account, secret: secret)
  }

  /// What is printed on a card.
  public func text() -> SecretBytes {
    let open = Array("\(place.text)?account=\(Hexadecimal.text(account.bytes))#".utf8)
    let check = Self.check(account, secret)
    let digits = Array("0123456789abcdef".utf8)
    var writer = SecretWriter(byteCount: open.count + 2 * (Self.secretByteCount + Self.checkByteCount))
    writer.append(open)
    secret.withBytes { secret in
      for offset in 0..<secret.byteCount {
        let byte = secret.byte(offset)
        writer.append([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    for byte in check { writer.append([digits[Int(byte >> 4)], digits[Int(byte & 15)]]) }
    return writer.finish()
  }

  private static func check(_ account: AccountID, _ secret: SharedSecretBytes) -> [UInt8] {
    let label = Array("coffer account card v1".utf8)
    var writer = SecretWriter(byteCount: label.count + AccountID.byteCount + secretByteCount)
    writer.append(label)
    writer.append(account.bytes)
    secret.withBytes { writer.append($0) }
    return writer.finish().withBytes { Array(SHA256.hash($0).prefix(checkByteCount)) }
  }

  /// The value of a digit; more than 15 for anything else.
  static func digit(_ character: UInt8) -> UInt8 {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: 0xFF
    }
  }
}

extension AccountID {
  /// Reads 32 hexadecimal digits; nil for anything else.
  init?(digits: Substring) {
    let values = digits.utf8.map { AccountAddress.digit($0) }
    guard values.count == 2 * Self.byteCount, values.allSatisfy({ $0 < 16 }) else { return nil }
    self.init(stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
  }
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
