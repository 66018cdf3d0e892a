// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
//
// The modules, in the order of the layers: each may import only what is above it here and in its own
// list. `scripts/check-imports` reads this file and checks every import; ARCHITECTURE.md explains.
//
// MODULES=Secrets,OpenPGP in the environment leaves only the tests of these modules and what they need
// (`scripts/test --module`); FUZZ adds the fuzz targets (`scripts/fuzz`); BENCHMARKS adds the benchmarks of what is not
// public (`scripts/bench`); OPTIMIZED says what of ours a release build optimizes: `computing` those modules alone that
// tests would wait for (`scripts/test`; all of them take four times as long to compile), `modules` all but tests
// (`scripts/test --sanitize`); SMALL makes small what need not be fast (`scripts/package`).

import PackageDescription

let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Says whose bytes a span lends; Secrets/Spans.swift alone needs it.
    .enableExperimentalFeature("Lifetimes"),
  ]

/// Not built small where the others are.
let fast = ["Secrets", "Primitives", "PostQuantum", "OpenPGP", "SearchIndex", "Storage", "Vaults"]
/// Optimized in the build of the tests, which would wait for them; the tests themselves never are.
let computing = ["Secrets", "Primitives", "PostQuantum", "Keychains", "CrashDisk"]
let unoptimized: [SwiftSetting] =
  Context.environment["OPTIMIZED"] == nil ? [] : [.unsafeFlags(["-Onone"])]
func optimized(_ name: String) -> [SwiftSetting] {
  Context.environment["OPTIMIZED"] == "computing" && !computing.contains(name) ? unoptimized : []
}
let small: [SwiftSetting] = Context.environment["SMALL"] == nil ? [] : [.unsafeFlags(["-Osize"])]

/// Tests keep the language mode and the warnings, and may use pointers without ceremony.
let strictTests: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

func systemLibrary(_ name: String, pkgConfig: String? = nil, apt: String) -> Target {
  .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func desktopTrait(_ name: String, _ description: String) -> Trait {
  .trait(name: name, description: description, enabledTraits: ["DesktopBus"])
}

/// The folders of Sources/ and Tests/. `openPGP` imports `base` alone.
enum Layer: String {
  case base = "Base"
  case openPGP = "OpenPGP"
  case platform = "Platform"
  case vault = "Vault"
  case cli = "CLI"
  /// Tests of several modules together.
  case system = "System"
}

func module(_ name: String, in layer: Layer, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(layer.rawValue)/\(name)",
    swiftSettings: strict + optimized(name) + (fast.contains(name) ? [] : small))
}

func command(_ name: String, in layer: Layer, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/\(layer.rawValue)/\(name)",
    swiftSettings: strict + optimized(name))
}

/// The programs that the tests of a module start. They are no dependencies: each time that one is linked, the tests would be
/// compiled again. `scripts/changed-modules` sets STARTED, so that they are in the graph that it reads.
nonisolated(unsafe) var started: [String: [String]] = [:]

func tests(
  _ name: String, in layer: Layer, _ dependencies: [Target.Dependency], starts programs: [String] = [],
  exclude: [String] = []
) -> Target {
  started[name] = programs
  let programs = Context.environment["STARTED"] == nil ? [] : programs
  return .testTarget(
    name: name, dependencies: dependencies + programs.map { .byName(name: $0) },
    path: "Tests/\(layer.rawValue)/\(name)", exclude: exclude, swiftSettings: strictTests + unoptimized)
}

/// What the tests of several modules share; no product.
func support(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/\(name)", exclude: exclude,
    swiftSettings: strictTests + optimized(name))
}

/// A program that tests start.
func probe(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Support/\(path)",
    swiftSettings: strictTests + unoptimized)
}

/// Back ends that need a library of the system or the desktop; a target has them when the trait is on.
extension Target.Dependency {
  static func target(_ name: String, trait: String) -> Target.Dependency {
    .target(name: name, condition: .when(platforms: [.linux], traits: [trait]))
  }
}

/// What both sides of the courier have.
let carried: [Target.Dependency] = ["Secrets", "Remotes", "CourierProtocol"]
/// What many tests start from: those of what is sealed, and those of what an enclave protects.
let sealed: [Target.Dependency] = ["Keychains", "Storage", "Primitives", "Secrets"]
let protected = sealed + ["ProtectedData", "OpenPGP", "Enclaves"]
/// What those programs of tests start from that do everything with whole coffers.
let whole =
  protected + [
    "CofferKit", "Captures", "Identities", "KeyCustody", "Vaults", "Histories", "Syncing", "Remotes",
    "MessageFormats", "ScriptedPrompts", "SecurityKeys", "UserAuthentication",
  ]
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
/// For CCryptoBoringSSL, the C module below it.
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "coffer",
  products: [
    .library(
      name: "CofferKit",
      targets: [
        "CofferKit", "Agent", "Backups", "Contacts", "Correspondence", "Identities", "KeyCustody",
        "ProtectedData", "Captures", "Vaults", "Keychains", "Enclaves", "UserAuthentication",
        "MessageFormats", "Storage", "OpenPGP", "Primitives", "Secrets",
      ]),
    .library(name: "CofferPrimitives", targets: ["Secrets", "Primitives"]),
    .library(name: "CofferOpenPGP", targets: ["OpenPGP", "Secrets"]),
    .executable(name: "coffer", targets: ["coffer"]),
    .executable(name: "coffer-sop", targets: ["coffer-sop"]),
    .executable(name: "coffer-courier", targets: ["coffer-courier"]),
  ],
  traits: [
    .default(enabledTraits: ["TPM", "SecretService", "Fingerprint", "Logind", "Pictures", "SecurityKeys"]),
    .trait(name: "TPM", description: "Enclave keys in a TPM 2.0, through tss2-esys."),
    desktopTrait("SecretService", "A keychain in the desktop's Secret Service."),
    desktopTrait("Fingerprint", "Fingerprint readers, through fprintd."),
    desktopTrait("Logind", "Locking with the session, through systemd-logind."),
    .trait(name: "Pictures", description: "Thumbnails and QR codes: libjpeg-turbo, libpng, libqrencode."),
    .trait(name: "SecurityKeys", description: "FIDO2 security keys, through libfido2."),
    .trait(name: "DesktopBus", description: "D-Bus through libsystemd; comes with what needs it."),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // For its C module, which is not a product: another version may have other functions.
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
  ],
  targets: [
    // C: libraries of the system, and calls that Swift cannot import
    // CKeccak, ours: Keccak-f[1600] on several states at once. CBase64, ours: base64 with vectors.
    // BoringSSL's ML-KEM and ML-DSA, without its headers.
    .target(name: "CModuleLattice", dependencies: [crypto], path: "Sources/C/CModuleLattice"),
    // BoringSSL's AES-256-GCM and PBKDF2, without its headers.
    .target(name: "CSymmetric", dependencies: [crypto, "CSystem"], path: "Sources/C/CSymmetric"),
    systemLibrary("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev"),
    systemLibrary("CArgon2", pkgConfig: "libargon2", apt: "libargon2-dev"),
    systemLibrary("CZxcvbn", apt: "libzxcvbn-dev"),
    // coffer-courier alone links these two.
    systemLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    systemLibrary("CPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev"),
    systemLibrary("CUtf8proc", apt: "libutf8proc-dev"),
    systemLibrary("CZlib", apt: "zlib1g-dev"),
    // Few commands need these libraries, so they are opened when first used; the others of this kind are listed below.
    .target(name: "CLoader", path: "Sources/C/CLoader", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CZbar", path: "Sources/C/CZbar", linkerSettings: [.linkedLibrary("dl")]),

    // Base: texts, secrets in memory, libcrypto, and primitives from well-kept libraries
    module("Texts", in: .base, ["CBase64"]),
    module("Secrets", in: .base, ["CSystem", "CUtf8proc"]),
    module("LibCrypto", in: .base, ["Secrets", "CSystem", "COpenSSL"]),
    module("Primitives", in: .base, ["Secrets", "LibCrypto", "CSystem", "CSymmetric", "CArgon2", log]),
    module("PostQuantum", in: .base, ["Secrets", "Primitives", "CSystem", "CKeccak", "CModuleLattice"]),

    // OpenPGP: the engine and coffer-sop
    module(
      "OpenPGP", in: .openPGP,
      ["Texts", "Secrets", "LibCrypto", "Primitives", "PostQuantum", "CSystem", "CZlib"]),
    module("SOPCommands", in: .openPGP, ["Texts", "Secrets", "OpenPGP", "CSystem"]),
    command("coffer-sop", in: .openPGP, ["SOPCommands"]),

    // Platform: the disk, the desktop, the TPM, the reader of fingers, the decoder of pictures
    module("Storage", in: .platform, ["CSystem", grdb, sqlite]),
    module("Remotes", in: .platform, ["Secrets", "CSystem"]),
    module("CourierProtocol", in: .platform, ["Secrets", "Remotes"]),
    module("S3Remotes", in: .platform, carried + ["Texts", "Primitives"]),
    module("PostgreSQLRemotes", in: .platform, carried + ["Texts", "Primitives"]),
    command(
      "coffer-courier", in: .platform,
      carried + ["S3Remotes", "PostgreSQLRemotes", "Primitives", "CSystem", "CCurl", "CPostgreSQL"]),
    module("DesktopBus", in: .platform, [.target("CSystemdBus", trait: "DesktopBus")]),
    module(
      "Pictures", in: .platform,
      [
        "Texts", "Secrets", "CSystem", .target("CTurboJPEG", trait: "Pictures"),
        .target("CPNG", trait: "Pictures"), .target("CQRencode", trait: "Pictures"),
        .target("CZbar", trait: "Pictures"),
      ]),
    module(
      "Enclaves", in: .platform, ["Secrets", "Primitives", "CSystem", .target("CTSS", trait: "TPM")]),
    module("UserAuthentication", in: .platform, ["Texts", "Secrets", "CSystem", "DesktopBus"]),
    module(
      "SecurityKeys", in: .platform, ["Secrets", "Primitives", .target("CFido2", trait: "SecurityKeys")]),
    module("GnuPG", in: .platform, ["Secrets", "Primitives", "CSystem"]),
    module("ChildProcesses", in: .platform, ["CSystem"]),
    module("Couriers", in: .platform, carried + ["ChildProcesses"]),
    module("Editing", in: .platform, ["Secrets", "CSystem", "ChildProcesses"]),
    module("Clipboards", in: .platform, ["Texts", "Secrets", "CSystem", "ChildProcesses"]),
    module("Pagers", in: .platform, ["CSystem", "ChildProcesses"]),

    // Vault: keys, messages, captures, protected data, the custody of private keys, and the coffer itself
    module("MessageFormats", in: .vault, ["Texts", "Secrets", "CSystem", "CUtf8proc", "CZlib"]),
    module(
      "Keychains", in: .vault,
      [
        "Secrets", "Primitives", "Storage", "Enclaves", "SecurityKeys", "DesktopBus", "CZxcvbn",
        "CUtf8proc", log,
      ]),
    module("SearchIndex", in: .vault, ["Secrets", "Primitives", "Storage", "MessageFormats"]),
    module("Histories", in: .vault, ["Secrets", "Primitives"]),
    module(
      "Vaults", in: .vault,
      ["Texts", "Secrets", "Primitives", "Storage", "MessageFormats", "SearchIndex", "Keychains", log]),
    module(
      "Captures", in: .vault,
      ["Texts", "Secrets", "Primitives", "Storage", "MessageFormats", "Keychains", log]),
    module(
      "ProtectedData", in: .vault,
      ["Secrets", "Primitives", "OpenPGP", "Storage", "Enclaves", "UserAuthentication", "Keychains", log]),
    module(
      "KeyCustody", in: .vault,
      [
        "Secrets", "Primitives", "OpenPGP", "Storage", "Enclaves", "SecurityKeys", "UserAuthentication",
        "Keychains", "ProtectedData", log,
      ]),
    module(
      "Identities", in: .vault, ["Texts", "Secrets", "Primitives", "OpenPGP", "ProtectedData", "KeyCustody"]),
    module("Contacts", in: .vault, ["Texts", "Secrets", "Primitives", "OpenPGP", "ProtectedData"]),
    module(
      "Correspondence", in: .vault,
      ["Secrets", "Primitives", "OpenPGP", "MessageFormats", "ProtectedData", "Identities", "Contacts"]),
    module("Agent", in: .vault, ["Secrets", "Primitives", "Keychains", "DesktopBus", "CSystem"]),
    module("Backups", in: .vault, ["Secrets", "Primitives", "Storage", "MessageFormats", "Keychains"]),
    module("Syncing", in: .vault, sealed + ["Enclaves", "Remotes", "Vaults", "Captures", "Histories"]),
    module(
      "CofferKit", in: .vault,
      protected + [
        "MessageFormats", "SecurityKeys", "UserAuthentication", "Vaults", "Captures", "KeyCustody",
        "Identities", "Contacts", "Correspondence", "Agent", "Backups", "Syncing", log,
      ]),

    // CLI: the command coffer
    module(
      "CofferCommands", in: .cli,
      protected + [
        "Texts", "MessageFormats", "UserAuthentication", "Vaults", "SecurityKeys", "Pictures", "Captures",
        "KeyCustody", "Identities", "Contacts", "Correspondence", "Agent", "Backups", "CofferKit", "CSystem",
        "Histories", "Remotes", "Couriers", "Syncing", "GnuPG", "Editing", "Clipboards", "Pagers", log,
        argumentParser,
      ]),
    command("coffer", in: .cli, ["CofferCommands"]),

    // What tests share
    // Functions of BoringSSL that take the randomness from the caller.
    .target(name: "CBoringSSLInternals", dependencies: [crypto], path: "Tests/Support/CBoringSSLInternals"),
    support("InMemoryKeychains", ["Keychains"]), support("NumberedItemStores", ["Keychains"]),
    support("LoggedLines", [log]),
    support("PrivateBus", ["DesktopBus", "Extents"]),
    // Checks for every kind of remote, a server that speaks S3, and one of PostgreSQL.
    support("RemoteConformance", ["Remotes"]), support("S3Server", ["Primitives"]),
    support("PostgreSQLServer", ["Remotes", "Secrets"]),
    support("ScriptedPrompts", ["UserAuthentication", "Secrets"]),
    // A FIDO2 authenticator in software, which talks to libfido2 in the same process.
    support(
      "SoftwareSecurityKey",
      [
        "SecurityKeys", "Secrets", "Primitives", "COpenSSL", .target("CFido2", trait: "SecurityKeys"),
        .target("CFidoHooks", trait: "SecurityKeys"),
      ]),
    .target(name: "CFidoHooks", dependencies: ["CLoader"], path: "Tests/Support/CFidoHooks"),
    // How much a run plays, and which share of it.
    support("Extents", ["SeededGenerators"], exclude: ["Failed.txt"]),
    support("SpecExamples", ["Repository"]), support("TestVectors", ["Repository"]),
    // Command lines in the process of the test.
    support("CommandRuns", ["CofferCommands", "CSystem", "Enclaves", "Keychains", "OpenPGP", "Primitives"]),
    .target(name: "CFaultVFS", path: "Tests/Support/CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    // A disk whose every call is numbered, and that forgets what was not synchronised. It takes the calls of
    // the C library over: for programs of its own, and no dependency of any tests, since those would link it.
    .target(name: "CCrashDisk", path: "Tests/Support/CCrashDisk", linkerSettings: [.linkedLibrary("dl")]),
    support("CrashDisk", ["CCrashDisk", "SeededGenerators"]),
    // Devices, users, faults and servers around histories, from seeds; and a program that plays many.
    support("HistoriesSimulator", ["Histories", "Primitives", "Secrets", "SeededGenerators"]),
    probe("simulate-histories", path: "SimulateHistories", ["HistoriesSimulator"]),
    // Stops every operation at every call, twice, and prints what was lost.
    probe("crash-table", path: "CrashTable", whole + ["CrashDisk", "CCrashDisk", "Contacts", log]),
    // The same for a folder of objects.
    probe("crash-remotes", path: "CrashRemotes", ["CrashDisk", "Remotes"]),
    probe("courier-probe", path: "CourierProbe", ["CSystem"]),
    // The process that decodes pictures, and how it would misbehave if it were taken over.
    probe("decoder-probe", path: "DecoderProbe", ["Pictures", "CSystem"]),
    // The process that runs an editor, and one that asks it to.
    probe("editor-probe", path: "EditorProbe", ["Editing", "Secrets"]),
    // The command with security keys in software and with cheap keys, or many command lines of it; only tests start it.
    probe(
      "coffer-with-keys", path: "CofferWithKeys",
      ["CofferCommands", "Keychains", "OpenPGP", "Primitives", "SecurityKeys", "SoftwareSecurityKey"]),
    // Does one operation with known secrets and waits, so that its memory can be searched.
    probe(
      "leak-probe", path: "LeakProbe",
      whole + [
        "CofferCommands", "Correspondence", "CSystem", "InMemoryKeychains", "GnuPG", "SoftwareSecurityKey",
      ]),

    // Tests, module by module, and the programs that they start.
    tests("TextsTests", in: .base, ["Texts", "MemorySearch"]),
    tests("SecretsTests", in: .base, ["Secrets", "CSystem"]),
    tests("LibCryptoTests", in: .base, ["LibCrypto", "Secrets"]),
    tests(
      "PrimitivesTests", in: .base,
      [
        "Primitives", "Secrets", "CSystem", "COpenSSL", "Extents", "LoggedLines", "MemorySearch",
        "TestVectors",
      ]),
    tests(
      "PostQuantumTests", in: .base,
      [
        "PostQuantum", "Secrets", "Primitives", "COpenSSL", "CKeccak", "CBoringSSLInternals", "Extents",
        "MemorySearch", "TestVectors",
      ]),
    tests(
      "OpenPGPTests", in: .openPGP,
      ["Extents", "OpenPGP", "Secrets", "LibCrypto", "Primitives", "MemorySearch", "TestVectors"]),
    tests(
      "SOPCommandsTests", in: .openPGP,
      [
        "Extents", "SOPCommands", "OpenPGP", "Secrets", "Primitives", "MemorySearch", "Repository",
        "TestVectors",
      ], starts: ["coffer-sop"]),
    tests("StorageTests", in: .platform, ["Extents", "Storage", "TemporaryHomes", grdb, sqlite]),
    tests(
      "RemotesTests", in: .platform,
      ["Extents", "Remotes", "RemoteConformance", "Secrets", "SmallDisks", "TemporaryHomes"],
      starts: ["crash-remotes"]),
    tests("CourierProtocolTests", in: .platform, carried + ["SeededGenerators", "SpecExamples"]),
    tests(
      "S3RemotesTests", in: .platform, carried + ["Extents", "S3Remotes", "Primitives", "SeededGenerators"]),
    tests("PostgreSQLRemotesTests", in: .platform, carried + ["PostgreSQLRemotes", "Primitives"]),
    tests(
      "CouriersTests", in: .platform,
      carried + [
        "Extents", "Couriers", "RemoteConformance", "S3Server", "PostgreSQLServer",
      ], starts: ["coffer-courier", "courier-probe"]),
    tests("DesktopBusTests", in: .platform, ["Extents", "DesktopBus", "PrivateBus", "CLoader"]),
    tests(
      "PicturesTests", in: .platform, ["Extents", "Pictures", "Secrets", "MemorySearch"],
      starts: ["decoder-probe"]),
    tests(
      "EnclavesTests", in: .platform,
      [
        "Enclaves", "Extents", "Primitives", "SeededGenerators", "Secrets", "COpenSSL", "SoftwareTPM",
        "MemorySearch", "SpecExamples", "TemporaryHomes",
      ]),
    tests(
      "UserAuthenticationTests", in: .platform,
      [
        "Extents", "UserAuthentication", "Secrets", "CSystem", "PseudoTerminals", "DesktopBus", "PrivateBus",
        "MemorySearch", "ScriptedPrompts",
      ]),
    tests(
      "SecurityKeysTests", in: .platform,
      ["SecurityKeys", "Secrets", "Primitives", "SoftwareSecurityKey", "MemorySearch"]),
    tests("GnuPGTests", in: .platform, ["GnuPG", "Secrets", "Primitives"]),
    tests(
      "EditingTests", in: .platform,
      ["Extents", "Editing", "Secrets", "MemorySearch", "PseudoTerminals"], starts: ["editor-probe"]),
    tests(
      "MessageFormatsTests", in: .vault,
      ["Extents", "MessageFormats", "Secrets", "SeededGenerators", "SpecExamples", "Texts"]),
    tests(
      "KeychainsTests", in: .vault,
      sealed + [
        "Extents", "Enclaves", "DesktopBus", "PrivateBus", "SecurityKeys", "SoftwareSecurityKey",
        "SoftwareTPM",
        "MemorySearch", "SpecExamples", "TemporaryHomes", "TestVectors", "NumberedItemStores",
        "InMemoryKeychains", "LoggedLines",
      ]),
    tests(
      "SearchIndexTests", in: .vault,
      [
        "Extents", "SearchIndex", "MessageFormats", "Storage", "Primitives", "Secrets", "MemorySearch",
        "SpecExamples", "TemporaryHomes", "SeededGenerators",
      ]),
    // Its tests play few scenarios; scripts/simulate plays thousands with the same target.
    tests(
      "HistoriesTests", in: .vault,
      [
        "Extents", "Histories", "HistoriesSimulator", "MemorySearch", "Primitives",
        "Remotes", "Secrets", "SeededGenerators", "SpecExamples", "TemporaryHomes",
      ], starts: ["simulate-histories"]),
    tests(
      "VaultsTests", in: .vault,
      sealed + [
        "Extents", "Vaults", "SearchIndex", "MessageFormats", "Texts", "CFaultVFS", "SeededGenerators",
        "MemorySearch",
        "SpecExamples", "TemporaryHomes", "TestVectors", sqlite, "InMemoryKeychains",
      ]),
    tests(
      "CapturesTests", in: .vault,
      sealed + [
        "Captures", "CFaultVFS", "Extents", "MemorySearch", "SpecExamples", "TemporaryHomes",
        "SeededGenerators",
      ]),
    tests(
      "ProtectedDataTests", in: .vault,
      protected + ["UserAuthentication", "MemorySearch", "SpecExamples", "TemporaryHomes", "ScriptedPrompts"]),
    tests(
      "KeyCustodyTests", in: .vault,
      protected + [
        "KeyCustody", "UserAuthentication", "MemorySearch", "SecurityKeys", "SoftwareSecurityKey",
        "SoftwareTPM", "SpecExamples", "TemporaryHomes", "LoggedLines",
      ]),
    tests(
      "IdentitiesTests", in: .vault,
      protected + ["Extents", "Identities", "KeyCustody", "MemorySearch", "TemporaryHomes"]),
    tests("ContactsTests", in: .vault, protected + ["Contacts", "SpecExamples", "TemporaryHomes"]),
    tests(
      "CorrespondenceTests", in: .vault,
      protected + [
        "Correspondence", "Contacts", "Identities", "KeyCustody", "MessageFormats", "MemorySearch",
        "TemporaryHomes",
      ]),
    tests(
      "BackupsTests", in: .vault,
      protected + [
        "Backups", "CofferKit", "KeyCustody", "Identities", "Contacts", "Captures", "Vaults",
        "MessageFormats", "SoftwareTPM", "InMemoryKeychains", "SpecExamples", "TemporaryHomes",
      ]),
    tests(
      "AgentTests", in: .vault,
      sealed + ["Extents", "Agent", "DesktopBus", "CSystem", "MemorySearch", "PrivateBus"],
      starts: ["coffer"]),
    tests(
      "SyncingTests", in: .vault,
      sealed + [
        "Syncing", "CofferKit", "Histories", "Remotes", "Vaults", "Captures", "Enclaves", "MessageFormats",
        "Extents", "MemorySearch", "SeededGenerators", "TemporaryHomes", sqlite, "Couriers", "S3Server",
      ], starts: ["coffer-courier"]),
    tests(
      "CofferKitTests", in: .vault,
      protected + [
        "Extents", "CofferKit", "Agent", "Captures", "Identities", "Vaults", "MessageFormats", "KeyCustody",
        "UserAuthentication", "SoftwareTPM", "TemporaryHomes", sqlite, "InMemoryKeychains", "ScriptedPrompts",
        "LoggedLines",
      ]),
    tests(
      "TranscriptTests", in: .cli, ["AgentLeash", "Extents", "Repository", "SoftwareTPM"],
      starts: ["coffer", "coffer-with-keys"], exclude: ["Transcripts"]),
    tests(
      "CommandTests", in: .cli,
      [
        "Extents", "CofferCommands", "CofferKit", "Vaults", "Keychains", "Storage", "Editing", "Enclaves",
        "Pictures", "Primitives", "SecurityKeys", "PseudoTerminals",
        "DesktopBus", "PrivateBus", "PostgreSQLServer", "Repository", "Secrets", "UserAuthentication",
        argumentParser, sqlite, "OpenPGP", "AgentLeash", "SoftwareTPM", "CommandRuns", "SeededGenerators",
      ], starts: ["coffer", "coffer-courier", "coffer-with-keys", "coffer-sop"]),
    // What is left after flipped bytes, kill -9 and a full disk.
    tests(
      "CrashTests", in: .system,
      sealed + [
        "Agent", "CofferKit", "Vaults", "Captures", "MessageFormats", "CSystem", "AgentLeash", "Extents",
        "Repository", "SoftwareTPM", sqlite, "SeededGenerators", "SmallDisks",
      ], starts: ["coffer", "coffer-with-keys", "crash-table"]),
    tests(
      "LeakTests", in: .system, ["Extents", "MemorySearch", "SoftwareTPM", "TemporaryHomes"],
      starts: ["leak-probe"]),
    tests("RepositoryTests", in: .system, ["Extents", "Repository", "TestVectors"]),
  ]
)
// The programs of Examples/, which is a package of its own for readers, from the same build.
package.targets += [
  "EncryptFile": ["OpenPGP", "Secrets"], "VerifySignature": ["OpenPGP", "Secrets"],
  "ReadVault": whole,
].sorted { $0.key < $1.key }.map { name, dependencies in
  .executableTarget(
    name: name, dependencies: dependencies, path: "Examples/Sources/\(name)",
    swiftSettings: strictTests + [.enableUpcomingFeature("MemberImportVisibility")])
}
package.targets += ["CSystem", "CKeccak", "CBase64"].map { .target(name: $0, path: "Sources/C/\($0)") }
package.targets += ["CTSS", "CSystemdBus", "CFido2", "CTurboJPEG", "CPNG", "CQRencode"].map {
  .target(name: $0, dependencies: ["CLoader"], path: "Sources/C/\($0)")
}
// What tests share and what needs no other module.
package.targets += [
  "AgentLeash", "MemorySearch", "PseudoTerminals", "Repository", "SeededGenerators", "SmallDisks",
  "SoftwareTPM", "TemporaryHomes",
].map { support($0) }

if Context.environment["FUZZ"] != nil {
  func fuzz(_ name: String, _ dependencies: [Target.Dependency]) {
    package.targets.append(
      .executableTarget(
        name: name, dependencies: dependencies + ["Secrets"], path: "Fuzz/\(name)",
        swiftSettings: strictTests + [.unsafeFlags(["-parse-as-library"])]))
  }
  for name in ["fuzz-armor", "fuzz-packets", "fuzz-certificates", "fuzz-messages", "fuzz-cleartext"] {
    fuzz(name, ["OpenPGP"])
  }
  fuzz("fuzz-urls", ["Contacts"])
  fuzz("fuzz-mail", ["Correspondence", "MessageFormats"])
  fuzz("fuzz-codes", ["Pictures"])
  fuzz("fuzz-accounts", ["Syncing", "Captures", "MessageFormats", "S3Remotes", "CourierProtocol"])
}

if Context.environment["BENCHMARKS"] != nil {
  package.targets.append(
    .executableTarget(
      name: "bench-post-quantum", dependencies: ["PostQuantum", "Primitives", "Secrets"],
      path: "Benchmarks",
      exclude: ["OpenPGP", "Package.swift", "RESULTS.md", "PostQuantum/with_cryptography.py"],
      sources: ["PostQuantum", "Sources/bench/Harness.swift", "Sources/bench/Table.swift"],
      swiftSettings: strictTests + [.unsafeFlags(["-parse-as-library"])]))
}

if let modules = Context.environment["MODULES"]?.split(separator: ",") {
  let byName = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set<String> = []
  func keep(_ name: String) {
    guard let target = byName[name], kept.insert(name).inserted else { return }
    started[name]?.forEach(keep)
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): keep(name)
      default: break
      }
    }
  }
  for module in modules { keep("\(module)Tests") }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
}
