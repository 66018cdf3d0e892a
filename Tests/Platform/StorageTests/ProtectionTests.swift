// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import TemporaryHomes
import Testing

@Suite("Who else can reach a coffer's files")
struct ProtectionTests {
  @Test("A new coffer is its owner's alone, while it is made and after")
  func new() throws {
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { file in
      let isPrivate = try file.isPrivate()
      #expect(isPrivate)
    }
    #expect(try file.isPrivate())
    file.close()
    #expect(try DatabaseFile.open(home: home.path).isPrivate())
  }

  @Test("One bit more on the folder, the database, its log or the log's index is told")
  func modes() throws {
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { _ in }
    for (place, mode) in [
      ("", 0o700), ("/coffer.db", 0o600), ("/coffer.db-wal", 0o600), ("/coffer.db-shm", 0o600),
    ] {
      for bit in 0..<12 where mode & 1 << bit == 0 {
        try FileManager.default.setAttributes(
          [.posixPermissions: mode | 1 << bit], ofItemAtPath: home.path + place)
        #expect(try !file.isPrivate(), "\(place) \(String(mode | 1 << bit, radix: 8))")
      }
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: home.path + place)
      #expect(try file.isPrivate())
    }
  }

  @Test(
    "The folder may be reached through a link; a database that is one is told, and a missing one an error")
  func links() throws {
    let home = try TemporaryHome()
    try DatabaseFile.create(home: home.path) { _ in }.close()
    let link = home.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: home.path)
    let file = try DatabaseFile.open(home: link)
    #expect(try file.isPrivate())
    let path = home.path + "/" + DatabaseFile.name
    try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
    #expect(throws: StorageError.inputOutput(code: ENOENT)) { try file.isPrivate() }
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".moved")
    #expect(try !file.isPrivate())
  }
}
