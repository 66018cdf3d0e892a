// SPDX-License-Identifier: Apache-2.0

import Foundation
import Identities
import TemporaryHomes
import Testing

@Suite("GnuPG and identities")
struct GnuPGTests {
  static let gpg = "/usr/bin/gpg"

  @Test(
    "GnuPG imports the public part of a universal identity, and encrypts to it",
    .enabled(if: FileManager.default.isExecutableFile(atPath: gpg), "no gpg"))
  func imports() throws {
    let fixture = try IdentityFixture()
    let now = Int64(Date().timeIntervalSince1970)
    let identity = try fixture.store.generate(
      IdentityFixture.wanted("Ada Lovelace <ada@example.org>"), fixture.passcode, at: now)
    let home = try TemporaryHome()
    try FileManager.default.createDirectory(
      atPath: home.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = home.path + "/ada.asc"
    try identity.writePublicPart(path: path)
    #expect(try run(["--import", path], home).status == 0)
    let listed = try run(["--with-colons", "--list-keys"], home).output
    #expect(listed.contains("fpr:::::::::\(identity.fingerprint.uppercased()):"))
    #expect(listed.contains("Ada Lovelace <ada@example.org>"))
    let expires = try #require(identity.expires)
    #expect(listed.contains(":\(expires):"))
    let encrypted = try run(
      ["--trust-model", "always", "-r", "ada@example.org", "-o", home.path + "/out", "-e", path], home)
    #expect(encrypted.status == 0)
  }

  private func run(_ arguments: [String], _ home: TemporaryHome) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: Self.gpg)
    process.arguments = ["--homedir", home.path, "--batch", "--no-autostart"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
