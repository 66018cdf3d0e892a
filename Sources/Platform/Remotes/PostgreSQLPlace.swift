// SPDX-License-Identifier: Apache-2.0
//
// Where objects are in a database of PostgreSQL, and what it asks to be shown. The password is in locked
// memory and in no text. There is no parameter for a private authority: a pin names the server's key, or the
// authority is installed in the system.

public import Secrets

/// The rows of one role in the table `coffer.object` of a database, with the credentials of a role that may
/// use them.
public struct PostgreSQLPlace: Sendable {
  /// Without it, requests and objects can be read on the way. Only this machine itself is reached so.
  public let isEncrypted: Bool
  /// A name or an address; one of IPv6 is in brackets.
  public let host: String
  /// Its TCP port.
  public let port: UInt16
  /// 1 to 63 bytes of UTF-8 without control characters, as every name here.
  public let database: String
  /// The role whose rows these are: the user, or a role of which the user is a member.
  public let account: String
  /// The role that logs in.
  public let user: String
  /// Its password.
  public let password: SharedSecretBytes
  /// SHA-256 of the server's public key, as libcurl writes it: "sha256//" and base64. Nil: the system's
  /// authorities vouch for the server, and its certificate has the name of the host.
  public let pin: String?

  /// Checks each part.
  /// - Parameters:
  ///   - port: nil for 5432.
  ///   - account: nil for the user.
  /// - Throws: ``RemotePlaceError``.
  public init(
    isEncrypted: Bool = true, host: String, port: UInt16? = nil, database: String, account: String? = nil,
    user: String, password: SharedSecretBytes, pin: String? = nil
  ) throws(RemotePlaceError) {
    guard ServiceRules.isHost(host) else { throw .host }
    guard port != 0 else { throw .port }
    guard isEncrypted || ServiceRules.isLoopback(host) else { throw .unencrypted }
    guard Self.isName(user), (1...256).contains(password.count), !password.withBytes({ Self.hasZero($0) })
    else { throw .credentials }
    guard Self.isName(database), Self.isName(account ?? user) else { throw .database }
    if let pin { guard ServiceRules.isPin(pin) else { throw .pin } }
    self.isEncrypted = isEncrypted
    self.host = host
    self.port = port ?? Self.defaultPort
    self.database = database
    self.account = account ?? user
    self.user = user
    self.password = password
    self.pin = pin
  }

  static let defaultPort: UInt16 = 5432

  /// PostgreSQL cuts longer names off.
  private static func isName(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count) && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// libpq takes the password as a text that ends with a zero.
  private static func hasZero(_ bytes: RawSpan) -> Bool {
    (0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
  }
}

extension PostgreSQLPlace {
  /// - Parameter start: where the credentials begin.
  init(_ text: URLText, from start: Int) throws(RemotePlaceError) {
    let url = try ServiceURL(text, from: start)
    guard url.parameters.region == nil else { throw .parameter }
    let account = try url.rest.map { (rest) throws(RemotePlaceError) in try text.decoded(rest) }
    try self.init(
      isEncrypted: url.parameters.isEncrypted, host: url.host, port: url.port,
      database: try text.decoded(url.first), account: account, user: url.name, password: url.secret,
      pin: url.parameters.pin)
  }

  /// The URL without what is before the host.
  var afterCredentials: String {
    var text = port == Self.defaultPort ? host : "\(host):\(port)"
    text += "/" + PercentEncoding.text(database.utf8)
    if account != user { text += "/" + PercentEncoding.text(account.utf8) }
    var parameters: [String] = []
    if !isEncrypted { parameters.append("tls=off") }
    if let pin { parameters.append("pin=" + PercentEncoding.text(pin.utf8, keeping: "/=")) }
    return parameters.isEmpty ? text : text + "?" + parameters.joined(separator: "&")
  }

  func url() -> SecretBytes {
    ServiceURL.text(scheme: "postgresql://", name: user, secret: password, after: afterCredentials)
  }
}
