// SPDX-License-Identifier: Apache-2.0
//
// After a keybag was unlocked and items were used, and all of it was let go, the memory of the process
// holds no half of the passphrase, of a slot's secret, of a class key, of the owner key or of an item.

import Foundation
import InMemoryKeychains
import MemorySearch
import Primitives
import Secrets
import Testing

@testable import Keychains

@Suite("What the keychain leaves in memory")
struct NoLeakTests {
  /// Runs away from the stack frames that search later.
  @inline(never)
  private func use(_ kdf: SlotKDF) throws -> (gone: [(String, Needle)], seenWhileAlive: Int) {
    // 32 random letters, made where they are to live.
    var text = SystemRandom.secretBytes(count: 32)
    text.withMutableBytes { bytes in
      for offset in 0..<bytes.byteCount {
        let byte = bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        bytes.storeBytes(of: 0x41 + byte % 26, toByteOffset: offset, as: UInt8.self)
      }
    }
    var gone = [("passphrase", text.withBytes { Needle($0) })]
    let credential = SlotCredential(try Passphrase(utf8: text))
    let made = try Keybag.create(credential, kdf: kdf, now: 1).keybag
    let keys = try Keybag(record: made.record().span.bytes).unlock(credential).keys
    let secret = try credential.secret(kdf, salt: made.slots[0].salt)
    gone.append(("slot secret", secret.withBytes { Needle($0) }))
    for (name, key) in [
      ("first key", keys.whenUnlocked), ("second key", keys.afterFirstUnlock), ("owner key", keys.owner),
    ] {
      if let key { gone.append((name, key.withBytes { Needle($0) })) }
    }
    let service = KeychainService(keychain: InMemoryKeychain(), keys: keys)
    try service.prepare()
    let item = SystemRandom.secretBytes(count: 64)
    gone.append(("item", item.withBytes { Needle($0) }))
    try service.save(item, forKey: "item")
    let isSame = try service.loadSecret(forKey: "item")?.isEqual(to: item)
    #expect(isSame == true)
    try service.save(item, forKey: "item", accessibility: .whenUnlockedThisDeviceOnly)
    let alive = try ProcessMemory.places(of: gone[5].1).count
    return (gone, alive + (secret.count == 32 && item.count == 64 ? 0 : 1))
  }

  @Test("Nothing secret stays, after PBKDF2 and after Argon2id", arguments: [false, true])
  func nothingStays(isArgon2id: Bool) async {
    await #expect(processExitsWith: .success) { [isArgon2id] in
      recordingErrors {
        let (gone, seen) = try NoLeakTests().use(isArgon2id ? cheapArgon2id() : cheapPBKDF2)
        #expect(seen > 0, "the search finds what is there")
        #expect(gone.count == 6)
        for (name, needle) in gone { try ProcessMemory.expectGone(needle, "\(name)") }
      }
    }
  }
}
