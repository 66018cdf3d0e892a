// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Keychains
import Primitives
import Secrets

@testable import CofferKit

/// A new coffer on a machine without a chip.
func makeCoffer(_ home: String) throws -> Coffer {
  try Coffer.create(
    home: home, passphrase: passphrase(), recoveryPhrase: newPhrase(), kdf: .pbkdf2(iterations: 600_000),
    machine: Machine(enclaves: [SoftwareEnclave()]))
}

func passphrase() throws -> Passphrase {
  let text = Array("Correct-horse-7-battery".utf8)
  return try Passphrase(utf8: SecretBytes(copying: text.span.bytes))
}

func newPhrase() -> RecoveryPhrase { RecoveryPhrase(entropy: SystemRandom.secretBytes(count: 16)) }
