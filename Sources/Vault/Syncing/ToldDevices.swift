// SPDX-License-Identifier: Apache-2.0
//
// The devices of an account that the user of this one was told of: an item of the keychain (Specs/local-history.md), since a
// run may end before anybody is told.

internal import Histories
internal import Primitives

/// Names of devices, and whether they are revoked, as the user was told.
struct ToldDevices: Equatable, Sendable {
  private struct Standing: Equatable {
    let name: String
    let isRevoked: Bool
  }

  private var standings: [DeviceID: Standing]

  init(_ devices: [DeviceView]) { standings = Self.standings(devices) }

  private static func standings(_ devices: [DeviceView]) -> [DeviceID: Standing] {
    Dictionary(
      uniqueKeysWithValues: devices.map { ($0.id, Standing(name: $0.name, isRevoked: $0.isRevoked)) })
  }

  /// The user knows how these devices stand.
  mutating func note(_ ids: [DeviceID], _ devices: [DeviceView]) {
    let present = Self.standings(devices)
    for id in ids { standings[id] = present[id] }
  }

  // MARK: News

  /// What the user does not know, in the order of `devices`; devices that are gone come last.
  func news(_ devices: [DeviceView]) -> [DeviceNews] {
    let byID = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
    let own = devices.first(where: \.isThisDevice).map { Set(line(of: $0, byID)).union([$0.id]) } ?? []
    var news: [DeviceNews] = []
    /// Identifiers of devices that go on under another one.
    var former = own
    for device in devices where standings[device.id] == nil && !device.isRevoked && !own.contains(device.id) {
      let line = line(of: device, byID)
      let isKnown = line.contains { standings[$0] != nil }
      if isKnown { former.formUnion(line) }
      news.append(DeviceNews(kind: isKnown ? .rejoined : .added, device: device.id, name: device.name))
    }
    for device in devices where device.isRevoked && !former.contains(device.id) {
      switch standings[device.id]?.isRevoked {
      case nil: news.append(DeviceNews(kind: .passed, device: device.id, name: device.name))
      case false?: news.append(DeviceNews(kind: .revoked, device: device.id, name: device.name))
      case true?: break
      }
    }
    for (id, known) in standings.sorted(by: { $0.key < $1.key })
    where !known.isRevoked && byID[id] == nil && !own.contains(id) {
      news.append(DeviceNews(kind: .dropped, device: id, name: known.name))
    }
    return news
  }

  /// The identifiers that a device had before. One that is not revoked is another device, whatever an operation says.
  private func line(of device: DeviceView, _ devices: [DeviceID: DeviceView]) -> [DeviceID] {
    var line: [DeviceID] = []
    var next = device.replaces
    while let id = next, let former = devices[id], former.isRevoked, !line.contains(id) {
      line.append(id)
      next = former.replaces
    }
    return line
  }

  // MARK: Bytes

  /// For each device, in rising order: identifier (16) ‖ revoked (1) ‖ name: length (1), UTF-8.
  var bytes: [UInt8] {
    standings.sorted { $0.key < $1.key }.flatMap { id, standing in
      id.bytes + [standing.isRevoked ? 1 : 0, UInt8(standing.name.utf8.count)] + Array(standing.name.utf8)
    }
  }

  /// Reads ``bytes``; nil for anything else.
  init?(_ bytes: RawSpan) {
    standings = [:]
    var cursor = ByteCursor()
    do {
      while !cursor.isAtEnd(of: bytes) {
        let id = DeviceID(beginningOf: try cursor.readBytes(bytes, count: DeviceID.byteCount))
        let flag = try cursor.readByte(bytes)
        let name = try cursor.readBytes(bytes, count: Int(try cursor.readByte(bytes)))
        guard flag <= 1, let name = String(validating: name, as: UTF8.self) else { return nil }
        standings[id] = Standing(name: name, isRevoked: flag == 1)
      }
    } catch { return nil }
  }
}
