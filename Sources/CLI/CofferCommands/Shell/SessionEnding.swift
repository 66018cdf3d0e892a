// SPDX-License-Identifier: Apache-2.0
//
// The session of a coffer ends when somebody is no longer to open it: with a slot that is removed, a
// passphrase that is changed or reset, a machine that is forgotten.

internal import Agent
internal import CofferKit

/// The end of a session after a change that is made already.
struct SessionEnding {
  /// Whether there was a session, or an agent that had one.
  let wasThere: Bool
  private let failure: AgentError?

  init(_ coffer: Coffer) {
    do throws(AgentError) {
      wasThere = try coffer.endSession()
      failure = nil
    } catch {
      wasThere = false
      failure = error
    }
  }

  /// Says that the session has ended. To be called last, since what was done must not be reported as failed.
  /// - Throws: when an agent may still have the keys, which the person must know.
  func tell(_ context: CommandContext) throws {
    if wasThere { context.remark("The session has ended; 'coffer unlock' starts another.") }
    guard let failure else { return }
    var told = Failure(failure)
    told.message = "the change was made, but the session is still open: \(told.message)"
    throw told
  }
}
