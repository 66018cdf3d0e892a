// SPDX-License-Identifier: Apache-2.0
//
// A signed message that is named as if it were the signature of the file beside it.

import Foundation
import Testing

@Suite("A signature and the file beside it")
struct VerifyBesideTests {
  private static let pass = ["--passphrase-file", "pass"]
  private let place: Place

  init() throws {
    place = try Place()
    try place.makeCoffer()
    let made = try place.run(
      ["identity", "generate", "--user-id", "Ada <ada@example.org>", "--quiet"] + Self.pass)
    try #require(made.status == 0, "\(made.error)")
  }

  private func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(
      at: place.folder.appending(path: name), to: place.folder.appending(path: other))
  }

  @Test(
    "A message of its own does not answer for the file beside it, whatever its ending",
    arguments: ["asc", "sig"])
  func another(ending: String) throws {
    try place.write("an old note\n", to: "note.txt")
    try place.write("never signed", to: "release.tar")
    try #require(try place.run(["sign", "--clear", "note.txt"] + Self.pass).status == 0)
    try move("note.txt.asc", to: "release.tar.\(ending)")
    let seen = try place.run(["verify", "release.tar.\(ending)"] + Self.pass)
    #expect(seen.status == 7 && seen.output.isEmpty)
    #expect(seen.error.contains("another content than 'release.tar'"), "\(seen.error)")
    let json = try place.run(["verify", "release.tar.\(ending)", "--json"] + Self.pass)
    #expect(json.status == 7 && (json.output + json.error).contains("\"not_detached\""))
    // Without that file it is what it is.
    try move("release.tar", to: "other.tar")
    #expect(try place.run(["verify", "release.tar.\(ending)"] + Self.pass).status == 0)
  }

  @Test("One with the content of the file is shown, and it is said that it is the same")
  func same() throws {
    for (name, text) in [("a.txt", "one\ntwo\n"), ("b.txt", "blanks  \r\nand no end"), ("c.txt", "")] {
      try place.write(text, to: name)
      try #require(try place.run(["sign", "--clear", name] + Self.pass).status == 0)
      let seen = try place.run(["verify", "\(name).asc"] + Self.pass)
      #expect(seen.status == 0 && seen.error.contains("its content is that of '\(name)'"), "\(seen.error)")
      try place.write(text + "\nthree", to: name)
      #expect(try place.run(["verify", "\(name).asc"] + Self.pass).status == 7)
    }
  }

  @Test("A detached signature answers for the file")
  func detached() throws {
    try place.write("data", to: "data.bin")
    try #require(try place.run(["sign", "data.bin"] + Self.pass).status == 0)
    let signature = try FileManager.default.contentsOfDirectory(atPath: place.folder.path())
      .first { $0.hasPrefix("data.bin.") }
    let name = try #require(signature)
    #expect(try place.run(["verify", name] + Self.pass).status == 0)
    try place.write("date", to: "data.bin")
    #expect(try place.run(["verify", name] + Self.pass).status == 5)
  }
}
