// SPDX-License-Identifier: Apache-2.0
//
// ReadVault HOME < PASSPHRASE: opens the coffer in the folder HOME and prints the titles of its messages.

import CofferKit
import Glibc
import Keychains
import MessageFormats
import Secrets
import Vaults

guard CommandLine.arguments.count == 2 else {
  print("usage: ReadVault HOME < PASSPHRASE")
  exit(2)
}

/// Titles come from mail: show no control or formatting characters to a terminal.
func printable(_ title: String) -> String {
  String(
    String.UnicodeScalarView(
      title.unicodeScalars.filter {
        ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
      }))
}

do {
  // A passphrase goes from the descriptor into locked memory; no String ever holds it.
  let passphrase = try Passphrase.read(descriptor: STDIN_FILENO)
  let coffer = try Coffer.open(
    home: CommandLine.arguments[1], credential: SlotCredential(passphrase))
  // Drops the keys from memory.
  defer { coffer.close() }

  // Each message is decrypted, authenticated, lent to the closure, and erased when it returns.
  let unreadable = try coffer.vault.forEachMessage { _, metadata, content in
    print("\(printable(metadata.title)) (\(content.byteCount) bytes)")
    return true
  }
  if !unreadable.isEmpty {
    print("\(unreadable.count) message(s) cannot be read")
    exit(1)
  }
} catch KeybagError.wrongSecret {
  print("wrong passphrase")
  exit(3)
} catch {
  // Errors never carry titles, content or keys.
  print("not opened: \(error)")
  exit(1)
}
