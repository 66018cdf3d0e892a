// SPDX-License-Identifier: Apache-2.0
//
// A backup of one identity: its private part under a passphrase of its own, in a file that every OpenPGP program of
// its profile reads. It counts as made only after the file was read back and opened.

internal import Glibc
public import KeyCustody
package import OpenPGP
internal import ProtectedData
public import Secrets

/// How the private part of a backup is protected (RFC 9580, section 3.7).
public enum BackupProtection: String, Sendable {
  /// Argon2id and OCB: version 6.
  case argon2id
  /// Iterated and salted, and CFB: version 4, which GnuPG reads.
  case iterated

  /// The protection of backups of this identity.
  public init(_ identity: Identity) { self = identity.version == 6 ? .argon2id : .iterated }
}

/// Where the octets of a backup go: a file that has no name until it is complete.
package protocol BackupFile: AnyObject {
  /// Receives the octets.
  var sink: any ByteSink { get }
  /// Gives the file its name.
  func commit() throws(OpenPGPError)
  /// Opens the named file for reading, from its storage if it has one; negative when it cannot be opened.
  func reopened() -> Int32
  /// Removes the named file.
  func remove()
}

/// A backup on a disk.
private final class BackupOnDisk: BackupFile {
  private let path: String
  private let file: AtomicFileSink
  var sink: any ByteSink { file }

  init(path: String) throws(OpenPGPError) {
    self.path = path
    file = try AtomicFileSink(path: path)
  }

  func commit() throws(OpenPGPError) { try file.commit() }

  func reopened() -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    // From the disk, not from memory; a file system that cannot do that says nothing.
    if descriptor >= 0 { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
    return descriptor
  }

  func remove() { unsafe unlink(path) }
}

/// A new file for a backup. It has no name until the backup is complete.
public final class BackupTarget {
  private let file: any BackupFile

  /// Makes sure that there is nothing at the path, and that a file can be made there.
  /// - Throws: ``IdentityError/cannotWrite(errno:)``, with EEXIST when there is something.
  public convenience init(path: String) throws(IdentityError) {
    let file: BackupOnDisk
    do { file = try BackupOnDisk(path: path) } catch { throw IdentityError(writing: error) }
    self.init(file)
  }

  /// A file that is not on a disk.
  package init(_ file: any BackupFile) { self.file = file }

  /// Writes a key that is open, under a passphrase, and gives the file its name.
  fileprivate func write(
    _ key: TransferableSecretKey, under passphrase: SharedSecretBytes
  ) throws(IdentityError) {
    do {
      try key.writeBackup(to: file.sink, under: passphrase)
      try file.commit()
    } catch { throw IdentityError(writing: error) }
  }

  /// Reads the file from the disk, opens what is in it, and compares.
  fileprivate func holds(_ key: RawSpan, under passphrase: SharedSecretBytes) throws(IdentityError) -> Bool {
    let descriptor = file.reopened()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let text: SecretBytes
    do throws(SecretReadError) {
      text = try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: KeyFile.byteCountLimit)
    } catch { return false }
    do throws(OpenPGPError) {
      let keys = try TransferableSecretKey.readAll(ArmorReader(MemorySource(SharedSecretBytes(text))))
      guard keys.count == 1, var found = keys.first else { return false }
      try found.changePassword(from: [passphrase], to: nil)
      let bytes: SecretBytes
      do { bytes = try found.secretBytes() } catch { return false }
      return bytes.withBytes { constantTimeEqual($0, key) }
    } catch {
      if case .notEnoughMemory = error { throw .engine(error) }
      return false
    }
  }

  fileprivate func remove() { file.remove() }
}

extension TransferableSecretKey {
  /// Writes this key, which is open, armored and under a passphrase.
  fileprivate func writeBackup(
    to sink: any ByteSink, under passphrase: SharedSecretBytes
  ) throws(OpenPGPError) {
    var locked = self
    try locked.changePassword(from: [], to: passphrase)
    let armor = try ArmorWriter(sink, kind: .privateKey)
    try locked.write(to: armor)
    try armor.finish()
  }
}

extension IdentityStore {
  /// The octets that a backup has, in memory. It counts as none: no date is noted. For the self-test.
  /// - Throws: as ``checkBackup(_:)``; `CustodyError`; `OpenPGPError`.
  package func backupOctets(
    _ identity: Identity, under passphrase: SharedSecretBytes, _ authorization: CustodyAuthorization
  ) throws -> [UInt8] {
    try checkBackup(identity)
    let sink = ArraySink()
    try custody.withPrivateKey(identity.key, authorization) { bytes, _ in
      try key(opened: bytes, stored(identity)).writeBackup(to: sink, under: passphrase)
    }
    return sink.bytes
  }

  /// Whether a backup can be made, as far as that can be told before anybody is asked for anything.
  /// - Throws: ``IdentityError/privatePartLost``; ``IdentityError/engine(_:)`` with `notEnoughMemory` (PG-16).
  public func checkBackup(_ identity: Identity) throws(IdentityError) {
    guard identity.hasPrivatePart else { throw .privatePartLost }
    do { try SecretKeyProtection.Profile.checkMemory(version: UInt8(clamping: identity.version)) } catch {
      throw .engine(error)
    }
  }

  /// Writes a backup, reads it back, and only then notes the date.
  /// - Parameters:
  ///   - passphrase: of the backup alone; check its strength first.
  ///   - now: seconds since 1970, UTC.
  /// - Throws: ``IdentityError/backupUnreadable``, and the file is gone; ``IdentityError/cannotWrite(errno:)``; as
  ///   ``checkBackup(_:)``; `CustodyError`; `ProtectedDataError`.
  public func backUp(
    _ identity: Identity, to target: BackupTarget, under passphrase: SharedSecretBytes,
    _ authorization: CustodyAuthorization, at now: Int64
  ) throws {
    try checkBackup(identity)
    let before = try stored(identity)
    try custody.withPrivateKey(identity.key, authorization) { bytes, _ in
      let key = try key(opened: bytes, before)
      let whole = try key.secretBytes()
      try target.write(key, under: passphrase)
      var isRight = false
      defer { if !isRight { target.remove() } }
      isRight = try whole.withBytes { try target.holds($0, under: passphrase) }
      guard isRight else { throw IdentityError.backupUnreadable }
    }
    try noteBackup(of: [identity.key: before.certificate], at: now)
  }

  /// The certificates as they are now, by their keys, for ``noteBackup(of:at:)``.
  package func certificates() throws -> [Fingerprint: [UInt8]] {
    try records.identities().reduce(into: [:]) { $0[$1.fingerprint] = $1.certificate }
  }

  /// Notes that the private parts are in a backup, which began when the certificates were these. One that has changed
  /// since is left out: a part that was added meanwhile may not be in the file.
  /// - Parameter now: seconds since 1970, UTC.
  package func noteBackup(of certificates: [Fingerprint: [UInt8]], at now: Int64) throws {
    try records.changeIdentities { identities in
      for index in identities.indices
      where certificates[identities[index].fingerprint] == identities[index].certificate {
        identities[index].backedUpAt = Timestamp(now).secondsSince1970
      }
    }
  }
}
