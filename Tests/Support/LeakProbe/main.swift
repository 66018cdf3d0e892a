// SPDX-License-Identifier: Apache-2.0
//
// A program that does one operation with known secrets, lets go of everything, and waits, so that its
// parent can search its memory, its core dump and its files (Tests/LeakTests).
//
//   leak-probe list                              each operation: its name, a tab, what it needs
//   leak-probe dumpable|product NAME SEARCHED GIVEN [TCTI]
//
// SEARCHED is a folder for the coffer and all that the operation may write, with a folder `work` in which
// this program runs; GIVEN one for what is plain by
// its nature: mailboxes that come in, exports. What the parent is told goes through standard output; the
// end of standard input ends the process. A `dumpable` process can be read by its parent and leaves a core;
// `product` is as the commands have it, but that it may leave a core if the kernel lets it.

import CSystem
import Glibc
import Secrets

let words = Array(CommandLine.arguments.dropFirst())

if words == ["list"] {
  for operation in Operation.all { print("\(operation.name)\t\(operation.needs.rawValue)") }
  exit(0)
}
guard words.count >= 4, ["dumpable", "product"].contains(words[0]),
  let operation = Operation.all.first(where: { $0.name == words[1] })
else {
  complain("usage: leak-probe list | dumpable|product NAME SEARCHED GIVEN [TCTI]")
  exit(2)
}
guard chdir(words[2] + "/work") == 0 else { exit(5) }
if words[0] == "product" {
  try SecretMemory.prepare()
  guard coffer_is_dumpable() == 0 else { exit(3) }
}
// A core of any size that the limits of this user allow.
var limit = rlimit()
getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
limit.rlim_cur = words[0] == "product" ? rlim_t.max : limit.rlim_max
if words[0] == "product" { limit.rlim_max = rlim_t.max }
setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)

func complain(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Everything that the operation had is gone when this returns, but what `kept` says.
@inline(never)
func perform(_ operation: Operation) -> (any Sendable)? {
  let workspace = Workspace(searched: words[2], given: words[3], tcti: words.dropFirst(4).first)
  do {
    return try operation.run(workspace)
  } catch {
    complain("\(operation.name): \(error)")
    exit(1)
  }
}

let kept = perform(operation)
SecretReport.tellReady()
var byte: UInt8 = 0
while read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
withExtendedLifetime(kept) {}
