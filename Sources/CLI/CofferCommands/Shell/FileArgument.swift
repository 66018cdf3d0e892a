// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The name of a file where no standard stream can take its place.
enum FileArgument {
  /// Refuses `-`, which is a standard stream in other commands: a file of that name would hide what was wanted.
  static func check(_ path: String?) throws {
    if path == "-" { throw ValidationError("'-' is not a standard stream here; ./- is a file of that name") }
  }
}
