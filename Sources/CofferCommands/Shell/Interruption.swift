// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C during a long piece of work: the batch that is under way is finished, then the command ends and
// says what is safe. A second Ctrl-C ends it at once, which is as safe.

internal import Glibc
internal import Synchronization

enum Interruption {
  private static let wasRequested = Atomic(false)

  /// From here, the first SIGINT only asks.
  static func catchOnce() {
    signal(SIGINT) { _ in
      Interruption.wasRequested.store(true, ordering: .relaxed)
      signal(SIGINT, SIG_DFL)
    }
  }

  static var isRequested: Bool { wasRequested.load(ordering: .relaxed) }
}
