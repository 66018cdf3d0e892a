// SPDX-License-Identifier: Apache-2.0
//
// The variables of the environment that agents depend on, as a value.

internal import Glibc

/// What an agent and those who look for it take from the environment.
public struct AgentVariables: Sendable {
  /// The places of its socket and of the system bus, and the variables of the loader, the C library and coverage
  /// measurement. An agent gets no others.
  private static let names = [
    "XDG_RUNTIME_DIR", "DBUS_SYSTEM_BUS_ADDRESS", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LLVM_PROFILE_FILE",
  ]

  private let values: [String: String]

  /// Those of an environment.
  public init(_ variables: [String: String]) {
    values = variables.filter { Self.names.contains($0.key) }
  }

  private init(values: [String: String]) { self.values = values }

  /// Those of this process.
  public static var ofProcess: AgentVariables {
    var values: [String: String] = [:]
    for name in names { values[name] = unsafe getenv(name).map { unsafe String(cString: $0) } }
    return AgentVariables(values: values)
  }

  /// `$XDG_RUNTIME_DIR`, if it is a path.
  var runtimeDirectory: String? { values["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } }

  /// As the system has them.
  /// - Parameter runtime: replaces `$XDG_RUNTIME_DIR`.
  func entries(runtime: String?) -> [String] {
    var values = values
    if let runtime { values["XDG_RUNTIME_DIR"] = runtime }
    return values.map { "\($0)=\($1)" }
  }
}
