// SPDX-License-Identifier: Apache-2.0
//
// Public parts out of GnuPG, by the ordinary rules for contacts. One that cannot be taken is named, and keeps no other
// one out.

internal import Contacts
internal import GnuPG
internal import Secrets

/// Public parts that gpg has given out.
struct GnuPGPublicParts {
  /// One that was left out.
  struct Omission {
    let key: GnuPGKey
    /// For programs; stable.
    let reason: String
    /// For people.
    let words: String
  }

  /// Nil when there are none.
  let parts: PublicParts?
  let omissions: [Omission]

  /// Asks for keys in batches, and of a batch that cannot be read for one after the other.
  /// - Throws: `GnuPGError.notAnswering`
  init(_ keys: [GnuPGKey], of gpg: GnuPG) throws {
    var found: [PublicParts] = []
    var omissions: [Omission] = []
    for start in stride(from: 0, to: keys.count, by: GnuPG.publicPartBatch) {
      let batch = keys[start..<min(start + GnuPG.publicPartBatch, keys.count)]
      if case .success(let parts) = try Self.read(Array(batch), of: gpg) {
        found.append(parts)
        continue
      }
      for key in batch {
        switch try Self.read([key], of: gpg) {
        case .success(let parts): found.append(parts)
        case .failure(let problem):
          omissions.append(Omission(key: key, reason: problem.reason, words: problem.words))
        }
      }
    }
    parts = found.isEmpty ? nil : PublicParts(joining: found)
    self.omissions = omissions
  }

  private struct Problem: Error {
    let reason: String
    let words: String
  }

  private static func read(_ keys: [GnuPGKey], of gpg: GnuPG) throws -> Result<PublicParts, Problem> {
    do {
      let bytes = SharedSecretBytes(try gpg.publicParts(keys.map(\.fingerprint)))
      let parts = try PublicParts(bytes)
      guard parts.count == keys.count else {
        return .failure(Problem(reason: "malformed", words: "it cannot be read"))
      }
      return .success(parts)
    } catch GnuPGError.notAnswering {
      throw GnuPGError.notAnswering
    } catch ContactError.certificateTooLarge {
      return .failure(Problem(reason: "certificate_too_large", words: "its owner says too much in it"))
    } catch GnuPGError.tooLong {
      return .failure(
        Problem(
          reason: "certificate_too_large",
          words: "strangers have added too much to it; 'gpg --edit-key' has 'clean'"))
    } catch is GnuPGError {
      return .failure(Problem(reason: "gpg_failed", words: "GnuPG does not give it out"))
    } catch is ContactError {
      return .failure(Problem(reason: "malformed", words: "it cannot be read"))
    }
  }
}
