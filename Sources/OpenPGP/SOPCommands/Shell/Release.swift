// SPDX-License-Identifier: Apache-2.0
//
// Data come out when everything else that a subcommand has to write is written. The engine asks whether it may
// release them; a failure cannot pass through it, and waits here.

/// Whether data may come out, and why not.
struct Release {
  private var failure: Failure?

  /// Whether what has to come before the data could be done.
  mutating func isAllowed(_ prepare: () throws(Failure) -> Void) -> Bool {
    do {
      try prepare()
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Throws what was in the way, if anything was.
  func throwFailure() throws(Failure) {
    if let failure { throw failure }
  }
}
