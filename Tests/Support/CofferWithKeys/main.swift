// SPDX-License-Identifier: Apache-2.0
//
// The command `coffer` as tests have it. A program of the tests: the product has no way to choose any of this.
//
//   KEYS=FOLDER             has the security keys of this folder; `--keys WORDS` changes them
//   CHEAP_DERIVATION=1      derives the keys of new passphrase slots, of backups and of messages with little work
//   --lines FOLDER          runs the command lines of standard input, a JSON array of words in each line, in this
//                           process; each writes to `output` and `errors` in the folder, and its exit code comes back in
//                           a line

import CofferCommands
import Foundation
import Glibc
import Keychains
import OpenPGP
import Primitives
import SecurityKeys
import SoftwareSecurityKey

let arguments = Array(CommandLine.arguments.dropFirst())
let variables = ProcessInfo.processInfo.environment

/// As the coffers that tests make by themselves have it: microseconds.
func cheapDerivation() throws -> SlotKDF {
  .argon2id(try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1))
}

/// Runs the command lines of standard input, one after the other.
func runLines(in folder: String) throws -> Never {
  let kept = FileManager.default.currentDirectoryPath
  while let line = readLine() {
    let words = try JSONDecoder().decode([String].self, from: Data(line.utf8))
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let streams = RunEnvironment.Streams(
      input: open("/dev/null", O_RDONLY | O_CLOEXEC), output: open(folder + "/output", flags, 0o600),
      error: open(folder + "/errors", flags, 0o600))
    let environment = RunEnvironment(
      variables: variables, streams: streams, executable: CommandLine.arguments[0])
    let status = CofferMain.run(words, in: environment)
    for descriptor in [streams.input, streams.output, streams.error] { close(descriptor) }
    precondition(FileManager.default.currentDirectoryPath == kept, "a command leaves the folder as it is")
    try FileHandle.standardOutput.write(contentsOf: Data("\(status)\n".utf8))
  }
  exit(0)
}

if arguments.count == 2, arguments[0] == "--lines" { try runLines(in: arguments[1]) }
#if SecurityKeys
  let keys = variables["KEYS"].map { KeyFolder($0) }
  if arguments.first == "--keys", let keys {
    try keys.perform(Array(arguments.dropFirst()))
    exit(0)
  }
#else
  let keys: (any SecurityKeyFinder)? = nil
#endif
let derivation = variables["CHEAP_DERIVATION"] == nil ? nil : try cheapDerivation()
let name = URL(filePath: CommandLine.arguments[0]).lastPathComponent
exit(
  Argon2Costs.$current.withValue(derivation == nil ? .full : .least) {
    CofferMain.run(arguments, as: name) { environment in
      if let keys { environment.securityKeys = keys }
      if let derivation { environment.derivation = derivation }
    }
  })
