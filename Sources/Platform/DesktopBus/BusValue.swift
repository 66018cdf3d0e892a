// SPDX-License-Identifier: Apache-2.0
//
// The values of D-Bus messages (D-Bus Specification, "Type System"). Messages are decoded whole, so that no
// pointer into one leaves this module. Nothing secret belongs in a message: these values are not erased.

internal import Glibc

/// One complete value of a D-Bus message.
public indirect enum BusValue: Equatable, Sendable {
  /// `y`
  case byte(UInt8)
  /// `b`
  case boolean(Bool)
  /// `n`
  case int16(Int16)
  /// `q`
  case uint16(UInt16)
  /// `i`
  case int32(Int32)
  /// `u`
  case uint32(UInt32)
  /// `x`
  case int64(Int64)
  /// `t`
  case uint64(UInt64)
  /// `d`
  case double(Double)
  /// `s`
  case string(String)
  /// `o`
  case objectPath(String)
  /// `g`
  case signature(String)
  /// `h`
  case fileDescriptor(BusFileDescriptor)
  /// `ay`; arrays of bytes are always this case.
  case bytes([UInt8])
  /// `a`, and the signature of one element. Elements of `{…}` are ``entry(_:_:)``.
  case array(of: String, [BusValue])
  /// `(…)`, not empty.
  case structure([BusValue])
  /// `{…}`: key and value, only in arrays.
  case entry(BusValue, BusValue)
  /// `v`
  case variant(BusValue)

  /// `as`
  public static func strings(_ strings: [String]) -> BusValue {
    .array(of: "s", strings.map { .string($0) })
  }

  /// `ao`
  public static func objectPaths(_ paths: [String]) -> BusValue {
    .array(of: "o", paths.map { .objectPath($0) })
  }

  /// `a{sv}`, in the order of the keys.
  public static func properties(_ values: [String: BusValue]) -> BusValue {
    .array(of: "{sv}", values.sorted { $0.key < $1.key }.map { .entry(.string($0.key), .variant($0.value)) })
  }

  /// `a{ss}`, in the order of the keys.
  public static func attributes(_ values: [String: String]) -> BusValue {
    .array(of: "{ss}", values.sorted { $0.key < $1.key }.map { .entry(.string($0.key), .string($0.value)) })
  }

  /// The value's signature, as in `a{sv}`.
  public var typeSignature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .fileDescriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .structure(let members): "(" + members.map(\.typeSignature).joined() + ")"
    case .entry(let key, let value): "{" + key.typeSignature + value.typeSignature + "}"
    case .variant: "v"
    }
  }
}

/// A descriptor that came in a message, such as logind's inhibitor lock: closed when the last reference goes.
public final class BusFileDescriptor: Sendable, Equatable {
  /// The number, valid while this object lives. It is not passed on to programs that are started.
  public let number: Int32

  /// - Parameter number: an open descriptor, which this object closes.
  public init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// The same object; two descriptors of one file are not equal.
  public static func == (left: BusFileDescriptor, right: BusFileDescriptor) -> Bool { left === right }
}
