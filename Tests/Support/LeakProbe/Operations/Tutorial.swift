// SPDX-License-Identifier: Apache-2.0
//
// The tutorial, played to its end: its keys are real ones, in a coffer that is nowhere.

import CofferCommands
import CofferKit
import Identities

extension Operation {
  static let tutorial = [
    Operation("play the tutorial") { workspace in
      var chapterCount = 0
      try CofferMain.playTutorial { coffer in
        chapterCount += 1
        // After that, private parts are bound to the pretended security key as well.
        guard try !coffer.authenticationMode().isHighSecurity else { return }
        for identity in try coffer.identities(coffer.openIdentities()) {
          try workspace.tellParts(of: identity, coffer)
        }
      }
      try expect(chapterCount == 10, "all chapters were played")
    }
  ]
}
