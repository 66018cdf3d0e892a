// SPDX-License-Identifier: Apache-2.0
//
// After a mail was decrypted, taken apart and its parts decoded, nothing of its text is in the memory of the process.

import Correspondence
import MemorySearch
import MessageFormats
import OpenPGP
import Primitives
import Secrets
import Testing

@Suite("What mails leave in memory")
struct MailMemoryTests {
  /// Runs away from the stack frames that search later.
  @inline(never)
  private func use() throws -> (needle: Needle, seenWhileAlive: Int) {
    let workshop = try MailWorkshop()
    // Letters, so that it is a text, which nobody has made before.
    var text = SystemRandom.secretBytes(count: 2_048)
    text.withMutableBytes { bytes in
      for offset in 0..<bytes.byteCount {
        let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        bytes.storeBytes(of: 0x61 + byte % 26, toByteOffset: offset, as: UInt8.self)
      }
    }
    let head = Array("Content-Type: text/plain; charset=utf-8\n\n".utf8)
    var payload = SecretBytes(zeroed: head.count + text.count)
    payload.withMutableBytes { target in
      target.copy(head.span.bytes, to: 0)
      text.withBytes { target.copy($0, to: head.count) }
    }
    let needle = text.withBytes { Needle($0.extracting(100..<132)) }
    text.erase()
    let encryption = try MessageEncryption(to: [workshop.ada.certificate], time: LettersFixture.now)
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .message)
    try encryption.encrypt(from: MemorySource(SharedSecretBytes(payload)), to: armor)
    try armor.finish()
    let mail = MailWorkshop.head + workshop.mime(String(decoding: sink.bytes, as: UTF8.self))
    let content = try workshop.decrypt(mail)
    let seen = try content.bytes.withBytes { _ in try ProcessMemory.places(of: needle).count }
    let part = content.bytes.withBytes { content.tree.content(of: content.shown.texts[0], in: $0) }
    return (needle, part.count == 2_048 ? seen : 0)
  }

  @Test("Nothing of a mail stays")
  func nothingStays() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let found = try MailMemoryTests().use()
        #expect(found.seenWhileAlive > 0, "the search finds what is there")
        try ProcessMemory.expectGone(found.needle)
      }
    }
  }
}
