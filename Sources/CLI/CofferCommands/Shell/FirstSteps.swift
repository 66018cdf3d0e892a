// SPDX-License-Identifier: Apache-2.0
//
// What a new user sees first: the way from nothing to a message that Bob can read. README.md and the man page
// coffer-openpgp go on to his reply.

internal import ArgumentParser
internal import Foundation
internal import Storage

/// The first steps, for whoever has no coffer yet.
enum FirstSteps {
  /// Whether there is no coffer where a command without options would look for it.
  static var areMissing: Bool {
    guard let home = try? GlobalOptions.parse([]).homePath else { return false }
    return !FileManager.default.fileExists(atPath: home + "/" + DatabaseFile.name)
  }

  static let page = """
    There is no coffer yet. From nothing to an encrypted message:

      coffer init                                     # passphrase, twelve words
      coffer identity generate --user-id 'Ada <ada@example.org>'
      coffer identity export ada > ada.asc            # give it to Bob, get bob.asc
      coffer contact import bob.asc
      echo 'Four?' | coffer encrypt --to bob > m.asc  # send him m.asc
      coffer decrypt r.asc                            # his reply

    coffer tutorial goes through all of it in ten minutes; nothing there is real.
    coffer --help has all commands.
    """
}
