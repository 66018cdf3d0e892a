// SPDX-License-Identifier: Apache-2.0

import OpenPGP
import Secrets
import Testing

@testable import Contacts

@Suite("Contacts: what QR codes have")
struct CodeContentTests {
  private static func shared(_ text: String) -> SharedSecretBytes {
    let bytes = Array(text.utf8)
    return SharedSecretBytes(SecretBytes(copying: bytes.span.bytes))
  }

  private static func text(_ code: MeantCode) -> String {
    code.text.withBytes { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private static func meant(_ texts: String...) throws(MeantCode.Problem) -> MeantCode {
    try MeantCode(of: texts.map(shared))
  }

  private static func problem(_ texts: String...) -> MeantCode.Problem? {
    do throws(MeantCode.Problem) {
      _ = try MeantCode(of: texts.map(shared))
      return nil
    } catch { return error }
  }

  @Test(
    "A text is told by how it begins, in any letter case",
    arguments: [
      ("cypherair://import/v1/xjM", CodeKind.publicPart), ("cypherairx://import/v1/xjM", .publicPart),
      ("CYPHERAIR:nonsense", .publicPart), ("cypherairy://import/v1/xjM", .other),
      ("OPENPGP4FPR:0011", .fingerprint), ("openpgp4fpr:", .fingerprint), ("OPENPGP4FPR", .other),
      ("https://example.org/", .webAddress), ("HTTP://EXAMPLE.ORG", .webAddress), ("httpx:", .other),
      ("", .other), ("WIFI:S:net;;", .other), ("\u{1B}[31m", .other), (":", .other),
      ("see cypherair://import/v1/xjM", .other),
      ("-----BEGIN PGP PUBLIC KEY BLOCK-----\n", .publicPart), ("-----BEGIN PGP MESSAGE-----", .other),
    ])
  func kinds(text: String, kind: CodeKind) {
    let bytes = Array(text.utf8)
    #expect(CodeKind(bytes.span.bytes) == kind)
  }

  @Test("The one that is meant is taken, without blanks around it, whatever else is in the picture")
  func chosen() throws {
    let url = "cypherair://import/v1/xjM"
    #expect(try Self.text(Self.meant(url)) == url)
    #expect(try Self.text(Self.meant(" \t\(url)\r\n")) == url)
    #expect(try Self.text(Self.meant("https://example.org", "x", url, "")) == url)
    #expect(try Self.text(Self.meant(url, url + "\n")) == url)
    #expect(try Self.meant("OPENPGP4FPR:00").kind == .fingerprint)
    // What only begins like one is left to the parser, which says what is wrong.
    #expect(try Self.text(Self.meant("Cypherair:x", "https://example.org")) == "Cypherair:x")
  }

  @Test("No code, only others, and several that could be meant are three answers")
  func problems() {
    #expect(Self.problem() == .noCode)
    #expect(Self.problem("https://a", "b", "c") == .foreign([.webAddress, .other, .other]))
    #expect(Self.problem(" ") == .foreign([.other]))
    let (first, second) = ("cypherair://import/v1/xjM", "cypherairx://import/v1/xjM")
    #expect(Self.problem(first, second) == .several([.publicPart, .publicPart]))
    #expect(
      Self.problem("https://a", first, "OPENPGP4FPR:00")
        == .several([.webAddress, .publicPart, .fingerprint]))
  }
}
