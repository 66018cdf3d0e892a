// SPDX-License-Identifier: Apache-2.0
//
// A signature that is damaged is damage: neither a document without one, nor a file of another kind.

import Foundation
import Testing

@testable import CofferCommands

@Suite("Damaged signatures")
struct DamagedSignatureTests {
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with an identity, a document, its signature `doc.asc`, and a readable signed text `clear.asc`.
  private func place() throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    try place.write("I owe you five.\n", to: "doc")
    for line in [
      ["identity", "generate", "--user-id", "Ada <ada@example.org>", "--quiet"], ["sign", "doc"],
      ["sign", "--clear", "--output", "clear.asc", "doc"],
    ] {
      let made = try place.run(line + Self.pass)
      #expect(made.status == 0, "\(made.error)")
    }
    return place
  }

  private func text(_ name: String, in place: Place) throws -> String {
    try String(contentsOf: place.folder.appending(path: name), encoding: .utf8)
  }

  /// The packets of the last armored block of a text.
  private func packets(_ text: String) -> [UInt8] {
    let block = text.components(separatedBy: "-----BEGIN PGP SIGNATURE-----\n").last ?? ""
    let lines = block.components(separatedBy: "\n").drop { !$0.isEmpty }.dropFirst()
      .prefix { !$0.isEmpty && !$0.hasPrefix("=") && !$0.hasPrefix("-") }
    return [UInt8](Data(base64Encoded: lines.joined()) ?? Data())
  }

  private func armored(_ packets: [UInt8]) -> String {
    let body = Data(packets).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN PGP SIGNATURE-----\n\n\(body)\n-----END PGP SIGNATURE-----\n"
  }

  /// The packets of a signature, damaged in every way that leaves something of it.
  private func damaged(_ whole: [UInt8]) -> [(name: String, packets: [UInt8])] {
    var version = whole
    version[2] = 99
    return [
      ("cut", Array(whole.prefix(whole.count / 2))), ("header alone", Array(whole.prefix(2))),
      ("version", version), ("length", [0xC2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + whole.dropFirst(2)),
      ("no body", [0xC2, 0]),
    ]
  }

  private func expectDamage(_ outcome: Place.Outcome, _ what: String) {
    #expect(outcome.status == 5 && outcome.error.contains("\"signature_invalid\""), "\(what): \(outcome)")
    #expect(!outcome.error.contains("not signed: anybody"), "\(what): \(outcome)")
  }

  @Test("It is damage, whichever way it is named, in armor and without")
  func detached() throws {
    let place = try place()
    #expect(try place.run(["verify", "doc.asc"] + Self.pass).status == 0)
    let signature = try text("doc.asc", in: place)
    let whole = packets(signature)
    #expect(whole.first == 0xC2)
    var files = damaged(whole).map { ($0.name, Data(armored($0.packets).utf8)) }
    files += damaged(whole).map { ("binary, \($0.name)", Data($0.packets)) }
    files += [
      ("armor cut", Data(signature.prefix(signature.count / 2).utf8)),
      ("armor garbled", Data(signature.replacing("\n\n", with: "\n\n%%").utf8)),
      ("an empty block", Data(armored([]).utf8)),
    ]
    for (name, data) in files {
      try data.write(to: place.folder.appending(path: "doc.asc"))
      expectDamage(try place.run(["verify", "doc.asc", "--json"] + Self.pass), name)
      expectDamage(try place.run(["verify", "--signature", "doc.asc", "doc", "--json"] + Self.pass), name)
    }
  }

  @Test("A file without anything of a signature is another kind of file")
  func otherFiles() throws {
    let place = try place()
    for content in ["", "I owe you five.\n", "\u{FF}\u{D8}\u{FF}"] {
      try place.write(content, to: "doc.asc")
      for line in [["verify", "doc.asc"], ["verify", "--signature", "doc.asc", "doc"]] {
        let outcome = try place.run(line + ["--json"] + Self.pass)
        #expect(outcome.status == 7 && outcome.error.contains("\"malformed\""), "\(outcome)")
      }
    }
  }

  @Test("So it is in a readable signed text, of which nothing comes out")
  func cleartext() throws {
    let place = try place()
    let clear = try text("clear.asc", in: place)
    let head = try #require(clear.components(separatedBy: "-----BEGIN PGP SIGNATURE-----").first)
    var texts = damaged(packets(clear)).map { ($0.name, head + armored($0.packets)) }
    texts += [("armor cut", String(clear.dropLast(60))), ("an empty block", head + armored([]))]
    for (name, text) in texts {
      try place.write(text, to: "clear.asc")
      let outcome = try place.run(["verify", "clear.asc", "--json", "--output", "out"] + Self.pass)
      expectDamage(outcome, name)
      #expect(!FileManager.default.fileExists(atPath: place.folder.appending(path: "out").path))
    }
  }

  @Test("A damaged signature beside a good one is named, and spoils nothing")
  func besideGood() throws {
    let place = try place()
    let whole = packets(try text("doc.asc", in: place))
    try Data(whole + [0xC2, 0]).write(to: place.folder.appending(path: "doc.sig"))
    let outcome = try place.run(["verify", "doc.sig", "--json"] + Self.pass)
    #expect(outcome.status == 0 && outcome.output.contains("\"unreadable\""), "\(outcome)")
  }
}
