// SPDX-License-Identifier: Apache-2.0
//
// What became of the devices of an account elsewhere. Whoever has a passphrase of the account can let a device in, so that
// each member says when one came; and what was done here may have no effect, because the account was changed elsewhere at
// the same time.

public import Histories

/// Something that happened to another device of an account, and not by this device's doing.
public struct DeviceNews: Equatable, Sendable {
  public enum Kind: Sendable {
    /// It belongs to the account now.
    case added
    /// It goes on under another identifier, which is the one here.
    case rejoined
    case revoked
    /// It came and was revoked again.
    case passed
    /// It does not belong to the account any more, and nobody revoked it: what let it in does not count.
    case dropped
  }

  public let kind: Kind
  public let device: DeviceID
  public let name: String
}

extension Synchronizer {
  /// What the user was not told yet of other devices; then it counts as told. It waits while this device does not belong to
  /// the account, or the account has several continuations. On a device that has just come, nothing is news.
  /// - Throws: `KeychainError`.
  public func takeDeviceNews() throws -> [DeviceNews] {
    guard history.isMember, history.ownerFork == nil else { return [] }
    let (devices, told) = (history.devices, try items.toldDevices())
    let next = ToldDevices(devices)
    if told != next { try items.save(next) }
    return told?.news(devices) ?? []
  }

  /// The user of this device did it.
  func noteTold(of change: AccountChange) throws {
    switch change {
    case .approve(let entry): try noteTold(of: [entry.id])
    case .revoke(let devices, _): try noteTold(of: devices)
    default: break
    }
  }

  /// The user was shown what all continuations did.
  func noteTold(of fork: OwnerForkView) throws {
    let devices = fork.branches.flatMap(\.deeds).compactMap { deed -> DeviceID? in
      switch deed {
      case .addedDevice(let id, _), .revokedDevice(let id, _): id
      case .addedSlot, .removedSlot: nil
      }
    }
    try noteTold(of: devices)
  }

  private func noteTold(of devices: [DeviceID]) throws {
    guard var told = try items.toldDevices() else { return }
    told.note(devices, history.devices)
    try items.save(told)
  }
}
