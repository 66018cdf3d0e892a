// SPDX-License-Identifier: Apache-2.0
//
// The table of operations. A topic has a file with a list of its own; adding an operation is one entry in a
// list, adding a topic one word below.

/// Something that people do with secrets.
struct Operation: Sendable {
  /// What it takes beside this program.
  enum Need: String, Sendable {
    case nothing
    /// A TPM, or swtpm in its place.
    case chip
    /// Not for the table: it leaves behind what it should not, or has not let go yet.
    case control
  }

  let name: String
  let needs: Need
  /// What is given back stays alive while the parent searches; only controls give anything.
  let run: @Sendable (Workspace) throws -> (any Sendable)?

  init(_ name: String, _ run: @escaping @Sendable (Workspace) throws -> Void) {
    self.init(name, needs: .nothing, run)
  }

  init(_ name: String, needs: Need, _ run: @escaping @Sendable (Workspace) throws -> Void) {
    self.name = name
    self.needs = needs
    self.run = {
      try run($0)
      return nil
    }
  }

  private init(control name: String, keeping run: @escaping @Sendable (Workspace) throws -> any Sendable) {
    self.name = name
    needs = .control
    self.run = run
  }

  static func control(
    _ name: String, _ run: @escaping @Sendable (Workspace) throws -> any Sendable
  ) -> Operation {
    Operation(control: name, keeping: run)
  }

  static let all =
    unlocking + slots + phrases + keychainItems + messages + transfers + captures + protectedData
    + privateKeys + securityKeys + identities + backups + accounts + tutorial
    + openPGP + letters + enclaveKeys + ciphers + controls
}

/// An operation did not end as it should; what it left says nothing.
struct Unexpected: Error {
  let what: String

  init(_ what: String) { self.what = what }
}

/// Runs what must not succeed.
func expectThrow(_ what: String, _ body: () throws -> Void) throws {
  do { try body() } catch { return }
  throw Unexpected("\(what) succeeded")
}

func expect(_ isTrue: Bool, _ what: String) throws {
  if !isTrue { throw Unexpected(what) }
}
