// SPDX-License-Identifier: Apache-2.0

import CrashDisk

/// Every operation, over every kind of store that it can run over.
enum AllScenarios {
  static var sound: [any CrashScenario] {
    var all: [any CrashScenario] = []
    for kind in KeychainKind.all {
      for count in 1...5 { all.append(KeychainBatch(kind, count: count)) }
      for operation in PrivateKeyOperation.all(kind) { all.append(operation) }
      for operation in IdentityOperation.all(kind) { all.append(operation) }
      for operation in ProtectedOperation.all(kind) { all.append(operation) }
      all.append(ContactOperation(kind))
      for operation in VaultOperation.all(kind) { all.append(operation) }
    }
    for operation in IndexOperation.all { all.append(operation) }
    for operation in CofferOperation.all { all.append(operation) }
    all.append(CofferCreation())
    all.append(BackupOperation())
    all.append(RestoreOperation())
    for operation in AccountOperation.all { all.append(operation) }
    return all
  }

  /// Stores that lose something: an enumeration that finds nothing here finds nothing anywhere.
  static var guilty: [any CrashScenario] {
    [UnsynchronisedFile(), UnsynchronisedFolder(), TwoSteps()]
  }
}
