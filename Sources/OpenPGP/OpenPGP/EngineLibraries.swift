// SPDX-License-Identifier: Apache-2.0

internal import CZlib
internal import LibCrypto

/// The libraries of the system that the engine uses.
public enum EngineLibraries {
  /// Name and version of each, as it runs.
  public static var versions: [String] {
    let zlib = unsafe zlibVersion().map { unsafe String(cString: $0) } ?? ""
    return [OpenSSL.version, "zlib \(zlib)"]
  }
}
