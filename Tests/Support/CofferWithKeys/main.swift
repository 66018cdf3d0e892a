// SPDX-License-Identifier: Apache-2.0
//
// The command `coffer` with the security keys of the folder $KEYS, and `--keys WORDS`, which changes them. A program of
// the tests: the product has no way to choose its keys.

import CofferCommands
import Foundation
import SecurityKeys
import SoftwareSecurityKey

let arguments = Array(CommandLine.arguments.dropFirst())
#if SecurityKeys
  let keys = KeyFolder(ProcessInfo.processInfo.environment["KEYS"] ?? "keys")
  if arguments.first == "--keys" {
    try keys.perform(Array(arguments.dropFirst()))
    exit(0)
  }
  exit(CofferMain.run(arguments, securityKeys: keys))
#else
  exit(CofferMain.run(arguments, as: "coffer"))
#endif
