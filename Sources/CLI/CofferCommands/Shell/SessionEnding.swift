// SPDX-License-Identifier: Apache-2.0
//
// A session ends when somebody may no longer open the coffer: a slot is removed, a passphrase is changed or reset, or a
// machine is forgotten.

internal import Agent
internal import CofferKit

/// The end of a session, after the change was made.
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

  /// Says that the session has ended. Call this last, because the change itself must not be reported as failed.
  /// - Throws: when an agent may still have the keys, which the user must know.
  func tell(_ context: CommandContext) throws {
    if wasThere { context.remark("The session has ended; 'coffer unlock' starts another.") }
    guard let failure else { return }
    var told = Failure(failure)
    told.message = "the change was made, but the session is still open: \(told.message)"
    throw told
  }
}
