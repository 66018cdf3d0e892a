// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP

@Suite("Texts are UTF-8")
struct UTF8CheckTests {
  /// What the check says when the octets come in one piece, and one by one.
  static func verifications(_ octets: [UInt8]) -> [Bool] {
    var whole = UTF8Check()
    whole.update(octets.span.bytes)
    var single = UTF8Check()
    for octet in octets { single.update([octet].span.bytes) }
    return [whole.isComplete, single.isComplete]
  }

  @Test(
    "UTF-8 passes",
    arguments: [
      "", "plain", "sechzehn Zeichen", "Grüße aus Köln", "€", "日本語のテキスト", "🙂 and more than eight octets",
      "\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}",
    ])
  func valid(text: String) {
    #expect(Self.verifications(Array(text.utf8)) == [true, true])
  }

  @Test(
    "Stray, overlong, truncated and forbidden sequences do not",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
      [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
      [0xFF],
    ] as [[UInt8]])
  func invalid(octets: [UInt8]) {
    #expect(Self.verifications(octets) == [false, false])
    #expect(Self.verifications(Array("eight octets and more ".utf8) + octets) == [false, false])
  }

  @Test("Every sequence of three octets is judged as the standard library judges it")
  func agreesWithStandardLibrary() {
    let interesting: [UInt8] = [
      0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
      0xF0,
      0xF3, 0xF4, 0xF5,
    ]
    for first in interesting {
      for second in interesting {
        for third in interesting {
          let octets = [first, second, third]
          let isValid = String(validating: octets, as: UTF8.self) != nil
          #expect(Self.verifications(octets) == [isValid, isValid])
        }
      }
    }
  }
}
