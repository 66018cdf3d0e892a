// SPDX-License-Identifier: Apache-2.0
//
// The account of several devices, and the places where its objects are.

public import Couriers
public import Remotes
public import Syncing

extension Coffer {
  /// This coffer's account: made, joined, opened.
  public var account: AccountLink {
    let machine = machine
    return AccountLink(
      file: file, vault: vault, keychain: keychain, enclaveOfKind: { machine.enclave($0) }, clock: clock)
  }

  /// What answers at a place: a folder here, or a service through the program that has the network.
  /// - Throws: `RemoteError.unreachable` for a path that cannot be a folder's; `.courier`.
  public static func remote(
    at place: RemotePlace, limits: CourierRemote.Limits = CourierRemote.Limits()
  ) throws(RemoteError) -> any Remote {
    switch place {
    case .folder(let path):
      guard let folder = FolderRemote(path: path) else { throw .unreachable }
      return folder
    case .s3(let place): return try CourierRemote(place, limits: limits)
    }
  }
}
