// SPDX-License-Identifier: Apache-2.0
//
// A store of keychain records beside the file, as a service of the desktop is one: it adds and removes single
// records, and is synchronised as a whole. Each of that is a numbered change of the disk that is watched.

import CCrashDisk
import CrashDisk
import Foundation
import Keychains

/// Records in the folder `records` of a coffer's home.
struct RecordedItems: ItemStore {
  private let folder: String

  /// - Parameter home: has the folder already if this is not the first time.
  init(home: String) throws {
    folder = home + "/records"
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw DiskError("mkdir", errno) }
  }

  func open(
    _ failure: @escaping @Sendable (Int32) -> KeychainError
  ) throws(KeychainError) -> any ItemStoreSession {
    Session(folder: folder, failure: failure)
  }

  private struct Session: ItemStoreSession {
    let folder: String
    let failure: @Sendable (Int32) -> KeychainError

    func records() throws(KeychainError) -> [StoredRecord] {
      do {
        return try DiskImage(of: folder).files.map { name, bytes in
          StoredRecord(place: StoredRecord.Place(name), bytes: bytes)
        }
      } catch { throw failure(EIO) }
    }

    func add(_ bytes: [UInt8]) throws(KeychainError) {
      let path = folder + "/" + UUID().uuidString
      try check(bytes.withUnsafeBytes { crash_disk_add_record(path, $0.baseAddress, $0.count) })
    }

    func remove(_ place: StoredRecord.Place) throws(KeychainError) {
      try check(crash_disk_remove_record(folder + "/" + place.name))
    }

    func synchronise() throws(KeychainError) { try check(crash_disk_sync_records(folder)) }

    private func check(_ code: Int32) throws(KeychainError) { if code != 0 { throw failure(code) } }
  }
}
