// SPDX-License-Identifier: Apache-2.0
//
// What became of the devices of an account elsewhere. Whoever has a passphrase of the account can let a device in, so that
// each member says when one came; and what was done here may have no effect, because the account was changed elsewhere at
// the same time.

public import Histories

/// Something that happened to a device of an account, and not by this device's doing.
public struct DeviceNews: Equatable, Sendable {
  public enum Kind: Sendable {
    /// It belongs to the account now.
    case added
    /// It goes on under another identifier, which is the one here.
    case rejoined
    case revoked
    /// It does not belong to the account any more, and nobody revoked it: what let it in does not count.
    case dropped
  }

  public let kind: Kind
  public let device: DeviceID
  public let name: String
}

/// The devices that the user of this one knows of: those that were there when the account was opened, and what was done here
/// since.
struct KnownDevices: Sendable {
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

  /// A change of the account was carried out here.
  mutating func note(before: [DeviceView], after: [DeviceView]) {
    let (before, after) = (Self.standings(before), Self.standings(after))
    for id in Set(before.keys).union(after.keys) where before[id] != after[id] { standings[id] = after[id] }
  }

  /// What the user does not know of, in the order of `devices`; devices that are gone come last.
  func news(_ devices: [DeviceView]) -> [DeviceNews] {
    let others = devices.filter { !$0.isThisDevice }
    let replaced = Set(devices.filter { !$0.isRevoked }.compactMap(\.replaces))
    var news: [DeviceNews] = []
    for device in others {
      switch (standings[device.id]?.isRevoked, device.isRevoked) {
      case (nil, false):
        let isKnown = device.replaces.map { standings[$0] != nil } ?? false
        news.append(DeviceNews(kind: isKnown ? .rejoined : .added, device: device.id, name: device.name))
      case (false, true) where !replaced.contains(device.id):
        news.append(DeviceNews(kind: .revoked, device: device.id, name: device.name))
      default: break
      }
    }
    let present = Set(devices.map(\.id))
    for (id, known) in standings.sorted(by: { $0.key < $1.key })
    where !known.isRevoked && !present.contains(id) {
      news.append(DeviceNews(kind: .dropped, device: id, name: known.name))
    }
    return news
  }
}

extension Synchronizer {
  /// What became of other devices since this account was opened here, and that was not done here. Nothing on a device that
  /// did not belong to the account then: to it, all of them are new.
  public var deviceNews: [DeviceNews] { knownDevices?.news(history.devices) ?? [] }
}
