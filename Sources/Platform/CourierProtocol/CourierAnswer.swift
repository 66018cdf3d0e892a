// SPDX-License-Identifier: Apache-2.0

package import Remotes

/// An answer (Specs/courier.md).
package enum CourierAnswer: Equatable, Sendable {
  /// To the request that opens: the program has given up what it does not need.
  case ready
  /// The same: the system refused a step of that.
  case notConfined(step: Int32, code: Int32)
  case page(CourierPage)
  case object([UInt8])
  case byteCount(Int)
  case absent
  case done
  case failed(RemoteError)

  /// Reads the body of a frame.
  package init(kind: UInt8, body: [UInt8]) throws(CourierProtocolError) {
    var reader = FieldReader(body)
    switch kind {
    case 129: self = .ready
    case 130:
      self = .notConfined(
        step: Int32(truncatingIfNeeded: try reader.number(4)),
        code: Int32(truncatingIfNeeded: try reader.number(4)))
    case 131: self = .page(try CourierPage(&reader))
    case 132: self = .object(reader.remainder())
    case 133: self = .byteCount(try reader.size())
    case 134: self = .absent
    case 135: self = .done
    case 136:
      let (reason, detail) = (try reader.byte(), Int32(truncatingIfNeeded: try reader.number(4)))
      guard let error = RemoteError(reason: reason, detail: detail) else { throw CourierProtocolError() }
      self = .failed(error)
    default: throw CourierProtocolError()
    }
    try reader.end()
    if case .object(let bytes) = self, bytes.count > RemoteObject.byteCountLimit {
      throw CourierProtocolError()
    }
  }

  /// The whole frame.
  package func frame(number: UInt32) -> [UInt8] {
    var fields = FieldWriter()
    let kind: UInt8
    switch self {
    case .ready: kind = 129
    case .notConfined(let step, let code):
      kind = 130
      fields.number(UInt64(UInt32(bitPattern: step)), 4)
      fields.number(UInt64(UInt32(bitPattern: code)), 4)
    case .page(let page):
      kind = 131
      page.write(to: &fields)
    case .object(let bytes):
      kind = 132
      fields.append(bytes)
    case .byteCount(let count):
      kind = 133
      fields.number(UInt64(count), 8)
    case .absent: kind = 134
    case .done: kind = 135
    case .failed(let error):
      kind = 136
      let (reason, detail) = error.reason
      fields.byte(reason)
      fields.number(UInt64(UInt32(bitPattern: detail)), 4)
    }
    return CourierHead(kind: kind, number: number, bodyByteCount: fields.bytes.count).bytes + fields.bytes
  }
}

/// A part of a list.
package struct CourierPage: Equatable, Sendable {
  /// Objects in a page, at most: as many as engines give at once.
  package static let objectCountLimit = 1_000

  /// In rising order of the bytes of their names.
  package let objects: [RemoteObject]
  /// The server's time, in seconds since 1970.
  package let time: UInt64?
  /// What the next request repeats; empty in the last page.
  package let continuation: String

  /// - Parameter time: nil where there is no server's clock; then the objects have no dates either.
  package init(objects: [RemoteObject], time: UInt64?, continuation: String) {
    self.objects = objects
    self.time = time
    self.continuation = continuation
  }

  init(_ reader: inout FieldReader) throws(CourierProtocolError) {
    time = try reader.flag() ? try reader.number(8) : nil
    let count = Int(try reader.number(4))
    guard count <= Self.objectCountLimit else { throw CourierProtocolError() }
    var objects: [RemoteObject] = []
    for _ in 0..<count {
      let name = try reader.text(CourierRequest.nameByteCountLimit)
      // Names have only ASCII, so that texts compare as their bytes do.
      guard RemoteName(name) != nil, objects.last.map({ $0.name < name }) ?? true else {
        throw CourierProtocolError()
      }
      let byteCount = try reader.size()
      let date = time == nil ? nil : try reader.number(8)
      objects.append(RemoteObject(name: name, byteCount: byteCount, date: date))
    }
    self.objects = objects
    continuation = try reader.text(CourierRequest.continuationByteCountLimit)
  }

  func write(to fields: inout FieldWriter) {
    fields.flag(time != nil)
    if let time { fields.number(time, 8) }
    fields.number(UInt64(objects.count), 4)
    for object in objects {
      fields.text(object.name)
      fields.number(UInt64(object.byteCount), 8)
      if time != nil { fields.number(object.date ?? 0, 8) }
    }
    fields.text(continuation)
  }
}

extension RemoteError {
  /// Nil for what is not a reason.
  init?(reason: UInt8, detail: Int32) {
    guard reason == 10 || detail == 0 else { return nil }
    switch reason {
    case 1: self = .serviceUnreachable
    case 2: self = .refused(.permission)
    case 3: self = .refused(.readOnly)
    case 4: self = .refused(.name)
    case 5: self = .refused(.tooLarge)
    case 6: self = .refused(.occupied)
    case 7: self = .refused(.clock)
    case 8: self = .refused(.address)
    case 9: self = .full
    case 10: self = .inputOutput(code: detail)
    case 11: self = .untrusted
    case 12: self = .invalidAnswer
    case 13: self = .refused(.unprepared)
    case 14: self = .refused(.bucket)
    default: return nil
    }
  }

  var reason: (UInt8, detail: Int32) {
    switch self {
    // The program that carries requests has no folders.
    case .unreachable, .serviceUnreachable: (1, 0)
    case .refused(.permission): (2, 0)
    case .refused(.readOnly): (3, 0)
    case .refused(.name): (4, 0)
    case .refused(.tooLarge): (5, 0)
    case .refused(.occupied): (6, 0)
    case .refused(.clock): (7, 0)
    case .refused(.address): (8, 0)
    case .full: (9, 0)
    case .inputOutput(let code): (10, code)
    case .untrusted: (11, 0)
    // The program that carries requests has no such program itself.
    case .invalidAnswer, .courier: (12, 0)
    case .refused(.unprepared): (13, 0)
    case .refused(.bucket): (14, 0)
    }
  }
}
