// SPDX-License-Identifier: Apache-2.0
//
// The end of an account: everything of it is deleted at the place.

internal import Histories
internal import Primitives
public import Remotes

/// Everything that an account has at a place.
public struct AccountRemains: Sendable {
  /// In the order in which they are deleted. The slots are the last, so that an account that was not deleted as a whole
  /// opens, and its end can be repeated.
  private let objects: [RemoteObject]
  let account: AccountID

  var names: Set<String> { Set(objects.map(\.name)) }
  public var objectCount: Int { objects.count }
  public var byteCount: Int { objects.reduce(0) { $0 + $1.byteCount } }

  init(found account: AccountID, at remote: any Remote) throws(SyncError) {
    let folder = Hexadecimal.text(account.bytes)
    self.account = account
    do throws(RemoteError) {
      objects = try remote.list(folder).objects.sorted {
        let (one, other) = (Self.rank($0.name, in: folder), Self.rank($1.name, in: folder))
        return one == other ? $0.name < $1.name : one < other
      }
    } catch { throw .remote(error) }
  }

  private static func rank(_ name: String, in folder: String) -> Int {
    if name.hasPrefix("\(folder)/\(Folder.slots.path)/") { return 3 }
    if name == "\(folder)/\(ObjectName.format.path)" { return 2 }
    return name.hasPrefix("\(folder)/\(Folder.control.path)/") ? 1 : 0
  }

  /// Deletes it.
  func delete(at remote: any Remote, progress: (Int) -> Bool = { _ in true }) throws(SyncError) {
    var byteCount = 0
    for object in objects {
      do throws(RemoteError) { try remote.delete(object.name) } catch { throw .remote(error) }
      byteCount += object.byteCount
      guard progress(byteCount) else { throw .stopped }
    }
  }
}

extension AccountLink {
  /// Deletes everything of the account at the place, then forgets the account. What comes meanwhile goes too.
  /// - Parameters:
  ///   - remains: all that is there, as ``Synchronizer/remains(with:at:progress:)`` has just found it.
  ///   - remote: the place.
  ///   - progress: called after each object with the bytes that were deleted; false stops.
  /// - Throws: `SyncError.remote`, `.stopped`: the rest is still there, and so is the account here. `StorageError`,
  ///   `KeychainError`.
  public func destroy(
    _ remains: AccountRemains, at remote: any Remote, progress: (Int) -> Bool = { _ in true }
  ) throws {
    var left = remains
    var deleted: Set<String> = []
    // A list that is late names what is deleted.
    while !left.names.isSubset(of: deleted) {
      try left.delete(at: remote, progress: progress)
      deleted.formUnion(left.names)
      left = try AccountRemains(found: remains.account, at: remote)
    }
    try forget()
  }
}

extension Synchronizer {
  /// What the account has at a place, for whoever can open it and is its last device. Gets what is new first.
  ///
  /// - Parameters:
  ///   - secret: opens a slot of the account.
  ///   - remote: where it is.
  ///   - progress: as of ``run(_:at:progress:)``.
  /// - Throws: `SyncError.wrongSecret`, `.remote`, `.refused`; `.notThere` when nothing of it is at the place; `.otherDevices`
  ///   while the account has other devices; `.onlyThere` while this device lacks something of it; else as a run.
  public func remains(
    with secret: AccountSecret, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> AccountRemains {
    do {
      _ = try openSlotAndPull(with: secret, at: remote, progress: progress)
    } catch SyncError.refused(.empty) {
      // An end that was interrupted has left the slots, or it is another place.
    }
    let others = devices.filter { !$0.isThisDevice && !$0.isRevoked }
    guard others.isEmpty else { throw SyncError.otherDevices(others.map(\.name)) }
    let (captures, messages) = (try capturesElsewhere().count, try status().missingCount)
    guard captures == 0, messages == 0 else {
      throw SyncError.onlyThere(captures: captures, messages: messages)
    }
    let remains = try AccountRemains(found: account, at: remote)
    guard remains.objectCount > 0 else { throw SyncError.notThere }
    return remains
  }
}
