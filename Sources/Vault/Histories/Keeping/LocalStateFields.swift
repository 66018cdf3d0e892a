// SPDX-License-Identifier: Apache-2.0
//
// The longer fields of a local state (Specs/local-history.md): alarms, what is known of the remote, changes that wait.

internal import Primitives

extension [UInt8] {
  /// A count (4) and the entries.
  mutating func append<Entry>(_ entries: [Entry], _ write: (inout [UInt8], Entry) -> Void) {
    append(bigEndian: UInt32(entries.count))
    for entry in entries { write(&self, entry) }
  }

  /// The path of an object, after its length (1).
  mutating func append(_ name: ObjectName) {
    let path = Array(name.path.utf8)
    append(UInt8(path.count))
    self += path
  }
}

extension FieldReader {
  /// A count (4) and that many entries.
  mutating func list<Entry>(
    _ read: (inout FieldReader) throws(FormatError) -> Entry
  ) throws(FormatError) -> [Entry] {
    let count: UInt32 = try integer()
    // Every entry has a byte at least: a count that is wrong reserves no memory.
    guard Int(count) <= remaining else { throw .malformed }
    var entries: [Entry] = []
    for _ in 0..<count { entries.append(try read(&self)) }
    return entries
  }

  mutating func objectName() throws(FormatError) -> ObjectName {
    let path = try bytes(Int(try byte()))
    guard let path = String(validating: path, as: UTF8.self), let name = ObjectName(path: path) else {
      throw .malformed
    }
    return name
  }

  mutating func time() throws(FormatError) -> UInt64 { try integer() }

  mutating func alarm() throws(FormatError) -> Alarm {
    switch try byte() {
    case 1: return .tampered(try objectName())
    case 2: return .incomplete(try objectName())
    case 3: return .rolledBack(try objectName())
    case 4: return .empty
    case 5: return .forked(try identifier())
    case 6: return .ownerForked
    case 7: return .digestDiffers(try segmentName())
    case 8: return .missing(try objectName())
    default: throw .malformed
    }
  }
}

extension Alarm {
  /// Kind (1), and what it is about.
  var stateBytes: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .tampered(let name):
      bytes.append(1)
      bytes.append(name)
    case .incomplete(let name):
      bytes.append(2)
      bytes.append(name)
    case .rolledBack(let name):
      bytes.append(3)
      bytes.append(name)
    case .empty: bytes.append(4)
    case .forked(let device): bytes += [5] + device.bytes
    case .ownerForked: bytes.append(6)
    case .digestDiffers(let name):
      bytes.append(7)
      bytes.append(name)
    case .missing(let name):
      bytes.append(8)
      bytes.append(name)
    }
    return bytes
  }
}

extension RemoteKnowledge {
  func write(to bytes: inout [UInt8]) {
    bytes.append(seen.values.joined().sorted()) { $0.append($1) }
    bytes.append(refused.sorted()) { $0.append($1) }
    bytes.append(passedOver.sorted()) { $0.append($1) }
    bytes.append(fullListing == nil ? 0 : 1)
    bytes.append(bigEndian: fullListing ?? 0)
    bytes.append(missingSince.sorted { $0.key < $1.key }) { bytes, entry in
      bytes.append(entry.key)
      bytes.append(bigEndian: entry.value)
    }
  }

  init(from fields: inout FieldReader) throws(FormatError) {
    for name in try fields.list({ fields throws(FormatError) in try fields.objectName() }) { noteSeen(name) }
    refused = Set(try fields.list { fields throws(FormatError) in try fields.objectName() })
    passedOver = Set(try fields.list { fields throws(FormatError) in try fields.objectName() })
    let wasListed = try fields.flag()
    let listed = try fields.time()
    fullListing = wasListed ? listed : nil
    let missing = try fields.list { fields throws(FormatError) in
      (try fields.objectName(), try fields.time())
    }
    for (name, since) in missing { missingSince[name] = since }
  }
}

extension LocalChange {
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .add(let added):
      bytes.append(1)
      bytes.append(added.kind.rawValue)
      bytes.append(added.record)
      bytes.append(bigEndian: added.storedAt)
      bytes.append(added.version)
      bytes.append(added.replaces) { $0.append($1) }
      bytes += added.frameHash.bytes
      bytes.append(added.further) { $0 += $1.bytes }
    case .remove(let record, let versions):
      bytes.append(2)
      bytes.append(record)
      bytes.append(versions) { $0.append($1) }
    case .place(let recordKind, let record, let version, let part, let hash):
      bytes.append(3)
      bytes.append(recordKind.rawValue)
      bytes.append(record)
      bytes.append(version)
      bytes.append(bigEndian: part)
      bytes += hash.bytes
    }
  }

  init(from fields: inout FieldReader) throws(FormatError) {
    switch try fields.byte() {
    case 1:
      let kind = try fields.recordKind()
      self = .add(
        PendingAddition(
          kind: kind, record: try fields.record(), storedAt: try fields.time(),
          version: try fields.version(),
          replaces: try fields.list { fields throws(FormatError) in try fields.version() },
          frameHash: try fields.hash(),
          further: try fields.list { fields throws(FormatError) in try fields.hash() }))
    case 2:
      self = .remove(
        record: try fields.record(),
        versions: try fields.list { fields throws(FormatError) in try fields.version() })
    case 3:
      self = .place(
        kind: try fields.recordKind(), record: try fields.record(), version: try fields.version(),
        part: try fields.integer(), frameHash: try fields.hash())
    default: throw .malformed
    }
  }
}

extension FieldReader {
  fileprivate mutating func recordKind() throws(FormatError) -> RecordKind {
    guard let kind = RecordKind(rawValue: try byte()) else { throw .malformed }
    return kind
  }
}
