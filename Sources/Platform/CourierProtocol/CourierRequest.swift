// SPDX-License-Identifier: Apache-2.0

internal import Remotes

/// A request (Specs/courier.md), apart from the one that opens.
package enum CourierRequest: Equatable, Sendable {
  /// A page of a list; the continuation is empty for the first, else from the page before.
  case list(folder: String, continuation: String)
  case get(name: String, range: Range<Int>?)
  case put(name: String, bytes: [UInt8])
  case stat(name: String)
  case delete(name: String)

  /// Bytes in a name, at most: six parts of 128 and the slashes between them.
  static let nameByteCountLimit =
    RemoteName.partCountLimit * (RemoteName.partByteCountLimit + 1) - 1
  /// Bytes in a continuation, at most. Engines write the last key into it, in a code of their own.
  package static let continuationByteCountLimit = 4_096

  /// Reads the body of a frame.
  package init(kind: UInt8, body: [UInt8]) throws(CourierProtocolError) {
    var reader = FieldReader(body)
    let text = try reader.text(Self.nameByteCountLimit)
    switch kind {
    case 2: self = .list(folder: text, continuation: try reader.text(Self.continuationByteCountLimit))
    case 3:
      var range: Range<Int>?
      if try reader.flag() {
        let (start, end) = (try reader.size(), try reader.size())
        guard start <= end else { throw CourierProtocolError() }
        range = start..<end
      }
      self = .get(name: text, range: range)
    case 4:
      self = .put(name: text, bytes: reader.remainder())
    case 5: self = .stat(name: text)
    case 6: self = .delete(name: text)
    default: throw CourierProtocolError()
    }
    try reader.end()
    if case .put(_, let bytes) = self, bytes.count > RemoteObject.byteCountLimit {
      throw CourierProtocolError()
    }
  }

  private var kind: UInt8 {
    switch self {
    case .list: 2
    case .get: 3
    case .put: 4
    case .stat: 5
    case .delete: 6
    }
  }

  /// The whole frame. Its names, continuation and object are within their limits.
  package func frame(number: UInt32) -> [UInt8] {
    var fields = FieldWriter()
    switch self {
    case .list(let folder, let continuation):
      fields.text(folder)
      fields.text(continuation)
    case .get(let name, let range):
      fields.text(name)
      fields.flag(range != nil)
      if let range {
        fields.number(UInt64(range.lowerBound), 8)
        fields.number(UInt64(range.upperBound), 8)
      }
    case .put(let name, let bytes):
      fields.text(name)
      fields.append(bytes)
    case .stat(let name), .delete(let name): fields.text(name)
    }
    return CourierHead(kind: kind, number: number, bodyByteCount: fields.bytes.count).bytes + fields.bytes
  }
}
