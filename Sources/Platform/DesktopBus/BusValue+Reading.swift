// SPDX-License-Identifier: Apache-2.0
//
// Accessors by type. Each of these throws `BusError.malformed` for a value of another type, so that an answer
// of the wrong shape is an error and never a trap.

extension BusValue {
  /// An `s`.
  public func string() throws(BusError) -> String {
    guard case .string(let text) = self else { throw .malformed }
    return text
  }

  /// An `o`.
  public func objectPath() throws(BusError) -> String {
    guard case .objectPath(let path) = self else { throw .malformed }
    return path
  }

  /// A `b`.
  public func boolean() throws(BusError) -> Bool {
    guard case .boolean(let value) = self else { throw .malformed }
    return value
  }

  /// An `i`.
  public func int32() throws(BusError) -> Int32 {
    guard case .int32(let value) = self else { throw .malformed }
    return value
  }

  /// A `u`.
  public func uint32() throws(BusError) -> UInt32 {
    guard case .uint32(let value) = self else { throw .malformed }
    return value
  }

  /// A `t`.
  public func uint64() throws(BusError) -> UInt64 {
    guard case .uint64(let value) = self else { throw .malformed }
    return value
  }

  /// An `ay`.
  public func bytes() throws(BusError) -> [UInt8] {
    guard case .bytes(let bytes) = self else { throw .malformed }
    return bytes
  }

  /// An `h`.
  public func fileDescriptor() throws(BusError) -> BusFileDescriptor {
    guard case .fileDescriptor(let descriptor) = self else { throw .malformed }
    return descriptor
  }

  /// The content of a `v`.
  public func variant() throws(BusError) -> BusValue {
    guard case .variant(let value) = self else { throw .malformed }
    return value
  }

  /// The members of a `(…)` of that many.
  public func structure(count: Int) throws(BusError) -> [BusValue] {
    guard case .structure(let members) = self, members.count == count else { throw .malformed }
    return members
  }

  /// The elements of an `a…`, any but `ay`.
  public func elements() throws(BusError) -> [BusValue] {
    guard case .array(_, let elements) = self else { throw .malformed }
    return elements
  }

  /// An `as`.
  public func strings() throws(BusError) -> [String] {
    var strings: [String] = []
    for element in try elements() { strings.append(try element.string()) }
    return strings
  }

  /// An `ao`.
  public func objectPaths() throws(BusError) -> [String] {
    var paths: [String] = []
    for element in try elements() { paths.append(try element.objectPath()) }
    return paths
  }

  /// An `a{s…}`; variants are opened. Of two entries with one key the last counts.
  public func properties() throws(BusError) -> [String: BusValue] {
    var values: [String: BusValue] = [:]
    for element in try elements() {
      guard case .entry(.string(let key), let value) = element else { throw .malformed }
      if case .variant(let content) = value { values[key] = content } else { values[key] = value }
    }
    return values
  }

  /// An `a{ss}`.
  public func attributes() throws(BusError) -> [String: String] {
    var values: [String: String] = [:]
    for (key, value) in try properties() { values[key] = try value.string() }
    return values
  }
}
