// SPDX-License-Identifier: Apache-2.0

import OpenPGP
import Secrets
import SpecExamples
import Testing

@testable import Contacts

@Suite("Contacts: public parts as URLs")
struct PublicPartURLTests {
  private static func octets(_ url: String) throws(PublicPartURLProblem) -> [UInt8] {
    let text = Array(url.utf8)
    let octets = try PublicPartURL.octets(of: text.span.bytes)
    return octets.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  }

  private static func parts(_ url: String) throws(ContactError) -> PublicParts {
    let text = Array(url.utf8)
    return try PublicParts(url: text.span.bytes)
  }

  private static func problem(_ url: String) -> PublicPartURLProblem? {
    do throws(PublicPartURLProblem) {
      _ = try octets(url)
      return nil
    } catch { return error }
  }

  private static func packets(_ certificates: [Certificate]) throws -> [UInt8] {
    let sink = ArraySink()
    for certificate in certificates { try certificate.write(to: sink) }
    return sink.bytes
  }

  @Test("The worked example of the specification is written and read")
  func example() throws {
    let page = try SpecExample(page: "contacts.md")
    let url = try page.text("url").filter { !$0.isWhitespace }
    let certificate = try page.bytes("certificate")
    #expect(try PublicPartURL.text(of: certificate) == url)
    #expect(try Self.octets(url) == certificate)
    let parts = try Self.parts(url)
    #expect(parts.certificates.map { FingerprintText.plain($0.fingerprint).prefix(8) } == ["cb186c4f"])
  }

  @Test("Octets of every length come out of their URL as they went in, in both schemes")
  func roundTrip() throws {
    for count in (1...70) + [2999, 3000] {
      let octets = [0x98] + (1..<max(count, 1)).map { UInt8(truncatingIfNeeded: $0 &* 167) }
      for scheme in PublicPartURL.Scheme.allCases {
        let url = try PublicPartURL.text(of: octets, scheme: scheme)
        #expect(url.hasPrefix("\(scheme.rawValue)://import/v1/") && url.utf8.count <= 4096)
        #expect(try Self.octets(url) == octets)
      }
    }
    #expect(throws: PublicPartURLProblem.tooLong) {
      try PublicPartURL.text(of: [UInt8](repeating: 0x98, count: 3001))
    }
    #expect(throws: PublicPartURLProblem.empty) { try PublicPartURL.text(of: []) }
  }

  @Test(
    "Every malformed URL is refused for its own reason",
    arguments: [
      ("http://import/v1/mA", .scheme), ("bob.asc", .scheme), ("", .scheme), ("cypherair", .scheme),
      ("CYPHERAIR://import/v1/mA", .scheme), ("Cypherairx://import/v1/mA", .scheme),
      (" cypherair://import/v1/mA", .scheme), ("cypherairy://import/v1/mA", .scheme),
      ("cypherair:import/v1/mA", .place), ("cypherair:/import/v1/mA", .place),
      ("cypherair://export/v1/mA", .place), ("cypherair://import//v1/mA", .place),
      ("cypherair:///import/v1/mA", .place), ("cypherair://import/v/mA", .place),
      ("cypherair://IMPORT/v1/mA", .place), ("cypherair://import/v1x/mA", .place), ("cypherair://", .place),
      ("cypherair:", .place),
      ("cypherair://ada@import/v1/mA", .authority), ("cypherair://import:80/v1/mA", .authority),
      ("cypherair://import/v2/mA", .version), ("cypherair://import/v10/mA", .version),
      ("cypherair://import/v01/mA", .version), ("cypherair://import/v1", .empty),
      ("cypherair://import/v1/", .empty), ("cypherair://import/v1/mA?x=1", .queryOrFragment),
      ("cypherair://import/v1/mA#x", .queryOrFragment), ("cypherair://import/v1/mA%3D", .percentEncoding),
      ("cypherair://import/v1/mA==", .padding), ("cypherair://import/v1/mA/", .foreignCharacter),
      ("cypherair://import/v1/m+A", .foreignCharacter), ("cypherair://import/v1/mA\n", .foreignCharacter),
      ("cypherair://import/v1/mA\u{0}", .foreignCharacter),
      ("cypherair://import/v1/m\u{e9}", .foreignCharacter),
      ("cypherair://import/v1/m", .cutOff), ("cypherair://import/v1/mAAAA", .cutOff),
      ("cypherair://import/v1/mB", .unusedBits), ("cypherair://import/v1/mAB", .unusedBits),
      ("cypherair://import/v1/LS0tLS1CRUdJTg", .notBinary), ("OPENPGP4FPR:0123", .fingerprintAlone),
      ("openpgp4fpr:" + String(repeating: "a", count: 40), .fingerprintAlone),
      ("cypherair://import/v1/" + String(repeating: "m", count: 4001), .tooLong),
      ("cypherair://import/v1/" + String(repeating: "m", count: 9000), .tooLong),
    ] as [(String, PublicPartURLProblem)])
  func malformed(url: String, problem: PublicPartURLProblem) {
    #expect(Self.problem(url) == problem)
  }

  @Test("Only one spelling of a payload is read: any other last character is refused")
  func oneSpelling() throws {
    let url = try PublicPartURL.text(of: [0x98, 1, 2, 3])
    let last = try #require(url.last)
    let others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".filter { $0 != last }
    var accepted = 0
    for other in others where Self.problem(url.dropLast() + String(other)) == nil { accepted += 1 }
    // Two of its bits belong to the last octet.
    #expect(accepted == 3)
    #expect(others.count == 63)
  }

  @Test("One certificate is taken; two, a private key, and packets that are something else are refused")
  func payloads() throws {
    let (ada, bob) = (try Person("Ada <ada@example.org>"), try Person("Bob <bob@example.org>"))
    let one = try Self.packets([ada.certificate])
    let url = try PublicPartURL.text(of: one)
    #expect(try Self.parts(url).certificates.map(\.fingerprint) == [ada.certificate.fingerprint])

    let two = try PublicPartURL.text(of: one + Self.packets([bob.certificate]))
    #expect(throws: ContactError.url(.severalCertificates)) { _ = try Self.parts(two) }
    let sink = ArraySink()
    try ada.key.write(to: sink)
    let secret = try PublicPartURL.text(of: sink.bytes)
    #expect(throws: ContactError.privateKey) { _ = try Self.parts(secret) }
    let mixed = try PublicPartURL.text(of: one + sink.bytes)
    #expect(throws: ContactError.privateKey) { _ = try Self.parts(mixed) }
    for other: [UInt8] in [[0xCB, 1, 0x62], [0xC0], one + [0xCB, 1, 0x62], one.dropLast(3), one + [0x98]] {
      let url = try PublicPartURL.text(of: other)
      #expect(throws: ContactError.self) { _ = try Self.parts(url) }
    }
    #expect(throws: ContactError.url(.cutOff)) { _ = try Self.parts(String(url.prefix(22 + 5))) }
  }

  @Test("The URL of a fingerprint counts as the whole fingerprint, and anything around it does not")
  func fingerprintURL() throws {
    let digits = "49d9086c69e4229020f25d57de65e5376cd1bbf1"
    #expect(FingerprintChallenge.isWhole("OPENPGP4FPR:\(digits)"))
    #expect(FingerprintChallenge.isWhole("openpgp4fpr:\(digits.uppercased())"))
    for other in ["\(digits)#x", "\(digits.dropLast())", " \(digits)", "\(digits)\(digits)", ""] {
      #expect(!FingerprintChallenge.isWhole("OPENPGP4FPR:\(other)"), "\(other)")
    }
    let fixture = try ContactsFixture()
    let bob = try Person("Bob <bob@example.org>")
    try fixture.take(bob.certificate)
    let challenge = try fixture.store.challenge(fixture.store.find("bob", at: ContactsFixture.now).id)
    let right = "OPENPGP4FPR:" + FingerprintText.plain(bob.certificate.fingerprint)
    #expect(challenge.isWholeFingerprint(right))
    #expect(!challenge.isWholeFingerprint("OPENPGP4FPR:\(digits)"))
  }
}
