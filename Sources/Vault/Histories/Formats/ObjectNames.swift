// SPDX-License-Identifier: Apache-2.0
//
// The names of objects as paths below the account's folder:
//
//   format                         slots/HASH               control/NUMBER-HASH
//   chain/DEVICE/BLOCK/NUMBER-HASH pack/DEVICE/HH/HASH      request/ID
//
// HASH is 64 digits, DEVICE and ID are 32, NUMBER and BLOCK are 16, HH is the first two of HASH; all hexadecimal, in lower
// case. BLOCK is NUMBER / 512. Each object has one path, and a reader passes over all other paths.

internal import Primitives

extension ObjectName {
  /// The path below the account's folder.
  public var path: String {
    switch self {
    case .format: "format"
    case .slot(let hash): "\(Folder.slots.path)/\(Hexadecimal.text(hash.bytes))"
    case .control(let number, let hash):
      "\(Folder.control.path)/\(Path.digits(number))-\(Hexadecimal.text(hash.bytes))"
    case .segment(let name):
      Folder.block(name.device, name.number / Folder.segmentsPerBlock).path
        + "/\(Path.digits(name.number))-\(Hexadecimal.text(name.hash.bytes))"
    case .pack(let device, let hash):
      Folder.packs(device).path + "/\(Hexadecimal.text(hash.bytes.prefix(1)))/\(Hexadecimal.text(hash.bytes))"
    case .request(let id): "\(Folder.requests.path)/\(Hexadecimal.text(id.bytes))"
    }
  }

  /// Reads a ``path``; nil for anything else.
  public init?(path: String) {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let name = Self.name(parts[0], parts.dropFirst().map { Path($0) }) else { return nil }
    // Names have one form: what reads to the same object and is written otherwise is not a name.
    guard path.utf8.elementsEqual(name.path.utf8) else { return nil }
    self = name
  }

  private static func name(_ kind: Substring.UTF8View, _ parts: [Path]) -> ObjectName? {
    switch (String(Substring(kind)), parts.count) {
    case ("format", 0): return .format
    case ("slots", 1): return parts[0].hash().map { .slot($0) }
    case ("control", 1): return parts[0].numbered().map { .control(number: $0, $1) }
    case ("chain", 3):
      guard let device: DeviceID = parts[0].identifier(), let (number, hash) = parts[2].numbered(),
        number > 0
      else { return nil }
      return .segment(SegmentName(device: device, number: number, hash: hash))
    case ("pack", 3):
      guard let device: DeviceID = parts[0].identifier(), let hash = parts[2].hash() else { return nil }
      return .pack(device, hash)
    case ("request", 1): return parts[0].identifier().map { .request($0) }
    default: return nil
    }
  }
}

extension Folder {
  /// The path below the account's folder, without a slash at either end.
  public var path: String {
    switch self {
    case .slots: "slots"
    case .control: "control"
    case .block(let device, let block): "chain/\(Hexadecimal.text(device.bytes))/\(Path.digits(block))"
    case .packs(let device): "pack/\(Hexadecimal.text(device.bytes))"
    case .requests: "request"
    }
  }
}

/// A part of a path.
private struct Path {
  private let characters: [UInt8]

  init(_ characters: some Sequence<UInt8>) { self.characters = Array(characters) }

  static func digits(_ number: UInt64) -> String {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return Hexadecimal.text(bytes)
  }

  func hash() -> ObjectHash? { Hexadecimal.bytes(characters).flatMap { ObjectHash($0) } }

  func identifier<Kind>() -> Identifier<Kind>? { Hexadecimal.bytes(characters).flatMap { Identifier($0) } }

  /// NUMBER-HASH
  func numbered() -> (UInt64, ObjectHash)? {
    let parts = characters.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Hexadecimal.bytes(parts[0]), number.count == 8,
      let hash = Path(parts[1]).hash()
    else { return nil }
    return (number.reduce(0) { $0 << 8 | UInt64($1) }, hash)
  }
}
