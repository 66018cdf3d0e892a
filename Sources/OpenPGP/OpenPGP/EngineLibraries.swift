// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import CZlib

/// The libraries of the system that the engine stands on.
public enum EngineLibraries {
  /// Name and version of each, as it runs.
  public static var versions: [String] {
    let openSSL = unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "OpenSSL"
    let zlib = unsafe zlibVersion().map { unsafe String(cString: $0) } ?? ""
    return [openSSL, "zlib \(zlib)"]
  }
}
