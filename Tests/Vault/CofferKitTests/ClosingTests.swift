// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Keychains
import LoggedLines
import ProtectedData
import Secrets
import TemporaryHomes
import Testing

@testable import CofferKit
@testable import Vaults

@Suite("Closing a coffer")
struct ClosingTests {
  @Test("PD-23: a relock drops the keys of messages too, and they are loaded again when they are needed")
  func relock() throws {
    let home = try TemporaryHome()
    let coffer = try makeCoffer(home.path)
    try coffer.unlockProtectedData()
    _ = try coffer.vault.status()
    #expect(Self.holdsKeys(coffer))
    try coffer.protectedDomains().relock()
    #expect(!Self.holdsKeys(coffer))
    #expect(try coffer.vault.status().messageCount == 0)
    coffer.close()
    #expect(!Self.holdsKeys(coffer))
  }

  @Test(
    "PD-23: if a relock fails while a coffer is closed, that is logged, and nothing protected opens any more")
  func failedRelock() async {
    // In a process of its own: the latch is the process's.
    await #expect(processExitsWith: .success) {
      LoggedLines.keep()
      let home = try TemporaryHome()
      let coffer = try makeCoffer(home.path)
      try coffer.unlockProtectedData()
      try coffer.protectedDomains().register(Refusing())
      _ = try coffer.vault.status()
      coffer.close()
      guard !Self.holdsKeys(coffer) else { exit(3) }
      let line = "error app.rial.protected-data relock failed reason=restartRequired"
      guard LoggedLines.all.contains(line) else {
        print(LoggedLines.all)
        exit(4)
      }
      let again = try Coffer.open(
        home: home.path, credential: SlotCredential(passphrase()),
        machine: Machine(enclaves: [SoftwareEnclave()]))
      // Messages need nothing of it.
      guard try again.vault.status().messageCount == 0 else { exit(5) }
      do {
        try again.unlockProtectedData()
        exit(6)
      } catch ProtectedDataError.restartRequired {}
    }
  }

  private struct Refusal: Error {}

  private struct Refusing: RelockParticipant {
    func relock() throws { throw Refusal() }
  }

  private static func holdsKeys(_ coffer: Coffer) -> Bool {
    do {
      _ = try coffer.vault.cache.keys { () throws(VaultError) -> VaultKeys in throw .corrupt }
      return true
    } catch {
      return false
    }
  }
}
