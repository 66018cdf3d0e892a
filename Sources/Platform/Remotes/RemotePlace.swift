// SPDX-License-Identifier: Apache-2.0
//
// Where a remote is, as a URL:
//
//   folder:///PATH
//   s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=REGION][&tls=off][&pin=sha256//BASE64]
//   postgresql://USER:PASSWORD@HOST[:PORT]/DATABASE[/ACCOUNT][?tls=off][&pin=sha256//BASE64]
//
// - Only what is written here is read: an unknown or repeated parameter is an error, and so is an empty part.
// - A URL has the secret, so it is never a `String`; what is shown has no credentials.

internal import Glibc
public import Secrets

/// The place of a remote.
public enum RemotePlace: Sendable {
  /// A folder, by its absolute path.
  case folder(path: String)
  /// A bucket of a service that speaks S3.
  case s3(S3Place)
  /// A table in a database of PostgreSQL.
  case postgreSQL(PostgreSQLPlace)

  /// Bytes in a URL, at most; also in ``url()``.
  public static let byteCountLimit = 4_096

  /// Reads a URL.
  /// - Throws: ``RemotePlaceError``.
  public init(url: RawSpan) throws(RemotePlaceError) {
    guard url.byteCount <= Self.byteCountLimit else { throw .tooLong }
    let text = URLText(url)
    guard text.isVisible else { throw .characters }
    if text.starts(with: "folder://") {
      self = .folder(path: try Self.path(text, from: 9))
    } else if text.starts(with: "s3://") {
      self = .s3(try S3Place(text, from: 5))
    } else if text.starts(with: "postgresql://") {
      self = .postgreSQL(try PostgreSQLPlace(text, from: 13))
    } else {
      throw .scheme
    }
    // It is kept as url() writes it, with more characters encoded than it may have been given with.
    guard self.url().count <= Self.byteCountLimit else { throw .tooLong }
  }

  private static func path(_ text: URLText, from start: Int) throws(RemotePlaceError) -> String {
    guard !text.has("?", in: start..<text.count) else { throw .parameter }
    let path = try text.decoded(start..<text.count)
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .path }
    return path
  }

  /// The URL with the credentials. Reading it gives the same place.
  public func url() -> SecretBytes {
    switch self {
    case .folder: SecretBytes(copying: unsafe description.utf8Span.span.bytes)
    case .s3(let place): place.url()
    case .postgreSQL(let place): place.url()
    }
  }
}

extension RemotePlace {
  /// Whether it is a folder in the file system that has `path`: a disk that is lost takes both. False if one of them
  /// cannot be looked at.
  public func isInFileSystem(of path: String) -> Bool {
    guard case .folder(let folder) = self, let one = Self.device(folder) else { return false }
    return one == Self.device(path)
  }

  /// Whether the objects of both are the same, whatever the credentials: the account of a role in a database is its own
  /// unless the URL names another.
  public func hasObjects(of other: RemotePlace) -> Bool {
    switch (self, other) {
    case (.folder(let one), .folder(let other)): one == other
    case (.s3(let one), .s3(let other)):
      one.host == other.host && one.port == other.port && one.bucket == other.bucket
        && one.prefix == other.prefix
    case (.postgreSQL(let one), .postgreSQL(let other)):
      one.host == other.host && one.port == other.port && one.database == other.database
        && one.account == other.account
    default: false
    }
  }

  private static func device(_ path: String) -> dev_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_dev : nil
  }
}

/// The URL without credentials, to be shown.
extension RemotePlace: CustomStringConvertible {
  public var description: String {
    switch self {
    case .folder(let path): "folder://" + PercentEncoding.text(path.utf8, keeping: "/")
    case .s3(let place): "s3://" + place.afterCredentials
    case .postgreSQL(let place): "postgresql://" + place.afterCredentials
    }
  }
}

/// What is wrong with a URL. Nothing of the URL is in it.
@nonexhaustive
public enum RemotePlaceError: Error, Equatable, Sendable {
  /// It has more than ``RemotePlace/byteCountLimit`` bytes, or would have as ``RemotePlace/url()`` writes it.
  case tooLong
  /// It has a character other than the visible ones of ASCII, or a `#`.
  case characters
  /// It begins with none of `folder://`, `s3://` and `postgresql://`.
  case scheme
  /// A `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
  case encoding
  /// The path of a folder is not absolute.
  case path
  /// The part `NAME:SECRET@` is missing or not complete. Characters such as `/`, `:` and `@` in it are to be encoded.
  case credentials
  /// The host is not a name or an address.
  case host
  /// The port is not a number from 1 to 65535.
  case port
  /// The bucket is missing, or not the name of one.
  case bucket
  /// The database is missing, or it or the account behind it has more than 63 bytes or a control character.
  case database
  /// The prefix has an empty part, `.` or `..`, or is too long.
  case prefix
  /// The region has other characters than letters, digits and hyphens.
  case region
  /// The pin is not `sha256//` and 32 bytes in base64.
  case pin
  /// A parameter is unknown, repeated, or has a value that it cannot have.
  case parameter
  /// Without encryption only this machine itself may be reached.
  case unencrypted
}
