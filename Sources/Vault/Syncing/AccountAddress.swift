// SPDX-License-Identifier: Apache-2.0
//
// The address of an account: where its objects are, which account it is, and the secret that a passphrase needs besides.
//
//   folder:///media/stick/coffer?account=ACCOUNT#SECRET
//
// What is before `account=` is the URL of the place, as RemotePlace reads it; behind another parameter it is `&account=`.
// ACCOUNT has 32 hexadecimal digits, SECRET 36: 16 bytes, and the first two of SHA-256("coffer account card v1" ‖ account ‖
// secret), so that a slip of the pen is noticed. What is behind '#' is never sent anywhere.

public import Histories
internal import Primitives
public import Remotes
public import Secrets

/// Why a text is not an address.
public enum AddressError: Error, Equatable, Sendable {
  /// What is before the account is not the URL of a place.
  case place(RemotePlaceError)
  /// The account has other than 32 hexadecimal digits.
  case malformed
  /// It has no account and secret: it names a place, not an account.
  case placeOnly
  /// Two characters were exchanged, or one is missing.
  case mistyped
}

/// Where an account is, and what whoever joins it must have.
public struct AccountAddress: Sendable {
  public let place: RemotePlace
  public let account: AccountID
  /// 16 bytes.
  public let secret: SharedSecretBytes

  static let secretByteCount = Envelope.urlSecretByteCount
  private static let parameter = Array("?account=".utf8)
  private static let parameters = [parameter, Array("&account=".utf8)]
  private static let checkByteCount = 2

  init(place: RemotePlace, account: AccountID, secret: SharedSecretBytes) {
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
    let digits = 2 * AccountID.byteCount
    let begin = open - digits - Self.parameter.count
    guard hidden < text.byteCount || begin > 0 else { throw .placeOnly }
    let parameter = begin > 0 ? [UInt8](copying: text.extracting(begin..<open - digits)) : []
    guard Self.parameters.contains(parameter) else {
      throw hidden < text.byteCount ? .malformed : .placeOnly
    }
    let place: RemotePlace
    do throws(RemotePlaceError) { place = try RemotePlace(url: text.extracting(first: begin)) } catch {
      throw .place(error)
    }
    guard
      let account = Hexadecimal.bytes([UInt8](copying: text.extracting(open - digits..<open))).flatMap({
        AccountID($0)
      })
    else {
      throw .malformed
    }
    let all = Self.secretByteCount + Self.checkByteCount
    guard text.byteCount - hidden == 2 * all else { throw .mistyped }
    var decoded = SecretBytes(zeroed: all)
    var isHexadecimal = true
    decoded.withMutableBytes { bytes in
      for offset in 0..<all {
        guard let high = Hexadecimal.value(text.byte(hidden + 2 * offset)),
          let low = Hexadecimal.value(text.byte(hidden + 2 * offset + 1))
        else {
          isHexadecimal = false
          return
        }
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
    let url = place.url()
    let hasParameters = url.withBytes { [UInt8](copying: $0).contains(UInt8(ascii: "?")) }
    let open = Self.parameters[hasParameters ? 1 : 0] + Array("\(Hexadecimal.text(account.bytes))#".utf8)
    let check = Self.check(account, secret)
    let digits = Array("0123456789abcdef".utf8)
    var writer = SecretWriter(
      byteCount: url.count + open.count + 2 * (Self.secretByteCount + Self.checkByteCount))
    url.withBytes { writer.append($0) }
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
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
