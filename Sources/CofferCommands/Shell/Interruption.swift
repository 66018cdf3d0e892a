// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C during a long piece of work: the batch that is under way is finished, then the command ends and
// says what is safe. A second Ctrl-C ends it at once, which is as safe.

internal import Glibc
internal import Synchronization

enum Interruption {
  private static let wasRequested = Atomic(false)

  /// From here, the first SIGINT only asks. Where a shell lets us ignore it, as in the background, it is
  /// still ignored.
  static func catchOnce() {
    var current = sigaction()
    unsafe sigaction(SIGINT, nil, &current)
    if isIgnored(current) { return }
    signal(SIGINT) { _ in
      Interruption.wasRequested.store(true, ordering: .relaxed)
      signal(SIGINT, SIG_DFL)
    }
  }

  /// Handlers cannot be compared in Swift; SIG_IGN is the address 1.
  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  static var isRequested: Bool { wasRequested.load(ordering: .relaxed) }
}
