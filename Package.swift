// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
//
// The rooms of the house and the arrows between them. ARCHITECTURE.md explains; `scripts/lint` checks
// that every import in Sources/ goes to a lower floor.

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Tests keep the language mode and the warnings, and may use pointers without ceremony.
let strictTests: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
]

func systemLibrary(_ name: String, pkgConfig: String? = nil, apt: String) -> Target {
  .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strictTests)
}

/// What the tests of several rooms share; no product.
func support(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Tests/Support/\(name)", swiftSettings: strictTests)
}

/// Back ends that need a library of the system or the desktop; a target has them when the trait is on.
extension Target.Dependency {
  static func target(_ name: String, trait: String) -> Target.Dependency {
    .target(name: name, condition: .when(platforms: [.linux], traits: [trait]))
  }
}

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "coffer",
  products: [
    .library(
      name: "CofferKit",
      targets: [
        "CofferKit", "Agent", "KeyCustody", "ProtectedData", "Captures", "Vaults", "Keychains", "Enclaves",
        "UserAuthentication", "MessageFormats", "Storage", "Primitives", "Secrets",
      ]),
    .library(name: "CofferPrimitives", targets: ["Secrets", "Primitives"]),
    .library(name: "CofferOpenPGP", targets: ["OpenPGP", "Secrets"]),
    .executable(name: "coffer", targets: ["coffer"]),
    .executable(name: "coffer-sop", targets: ["coffer-sop"]),
  ],
  traits: [
    .default(enabledTraits: ["TPM", "SecretService", "Fingerprint", "Logind", "Pictures"]),
    .trait(name: "TPM", description: "Enclave keys in a TPM 2.0, through tss2-esys."),
    .trait(
      name: "SecretService", description: "A keychain in the desktop's Secret Service.",
      enabledTraits: ["DesktopBus"]),
    .trait(
      name: "Fingerprint", description: "Fingerprint readers, through fprintd.",
      enabledTraits: ["DesktopBus"]),
    .trait(
      name: "Logind", description: "Locking with the session, through systemd-logind.",
      enabledTraits: ["DesktopBus"]),
    .trait(name: "Pictures", description: "Thumbnails and pictures on the terminal: libjpeg-turbo, libpng."),
    .trait(name: "DesktopBus", description: "D-Bus through libsystemd; comes with what needs it."),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // C: system libraries, and the calls that Swift cannot import
    .target(name: "CSystem", path: "Sources/C/CSystem"),
    systemLibrary("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev"),
    systemLibrary("CArgon2", pkgConfig: "libargon2", apt: "libargon2-dev"),
    systemLibrary("CZxcvbn", apt: "libzxcvbn-dev"),
    systemLibrary("CUtf8proc", apt: "libutf8proc-dev"),
    systemLibrary("CTSS", apt: "libtss2-dev"),
    systemLibrary("CSystemdBus", apt: "libsystemd-dev"),
    systemLibrary("CTurboJPEG", apt: "libturbojpeg0-dev"),
    systemLibrary("CPNG", apt: "libpng-dev"),
    systemLibrary("CZlib", apt: "zlib1g-dev"),

    // 0
    room("Secrets", ["CSystem", "CUtf8proc"]),
    // 1
    room("Primitives", ["Secrets", "CSystem", "COpenSSL", "CArgon2", log]),
    room("Storage", ["CSystem", grdb, sqlite]),
    room("MessageFormats", ["Secrets", "CSystem", "CUtf8proc"]),
    room("DesktopBus", ["Secrets", "CSystem", .target("CSystemdBus", trait: "DesktopBus")]),
    room(
      "Pictures",
      [
        "Secrets", "CSystem", .target("CTurboJPEG", trait: "Pictures"), .target("CPNG", trait: "Pictures"),
      ]),
    // 2
    room("OpenPGP", ["Secrets", "Primitives", "CSystem", "COpenSSL", "CZlib"]),
    room("Enclaves", ["Secrets", "Primitives", "CSystem", .target("CTSS", trait: "TPM"), log]),
    room("UserAuthentication", ["Secrets", "CSystem", "DesktopBus"]),
    // 3
    room(
      "Keychains",
      ["Secrets", "Primitives", "Storage", "Enclaves", "DesktopBus", "CZxcvbn", "CUtf8proc", log]),
    // 4
    room("Vaults", ["Secrets", "Primitives", "Storage", "MessageFormats", "Keychains", log]),
    room("Captures", ["Secrets", "Primitives", "Storage", "MessageFormats", "Keychains", log]),
    room(
      "ProtectedData",
      ["Secrets", "Primitives", "Storage", "Enclaves", "UserAuthentication", "Keychains", log]),
    // 5
    room(
      "KeyCustody",
      [
        "Secrets", "Primitives", "Storage", "Enclaves", "UserAuthentication", "Keychains", "ProtectedData",
        log,
      ]),
    room("Agent", ["Secrets", "Primitives", "Keychains", "DesktopBus", "CSystem", log]),
    // 6
    room(
      "CofferKit",
      [
        "Secrets", "Primitives", "Storage", "MessageFormats", "Enclaves", "UserAuthentication", "Keychains",
        "Vaults", "Captures", "ProtectedData", "KeyCustody", "Agent", log,
      ]),
    // 7
    room(
      "CofferCommands",
      [
        "Secrets", "Primitives", "Storage", "MessageFormats", "Keychains", "UserAuthentication", "Vaults",
        "Enclaves", "Pictures", "Captures", "ProtectedData", "KeyCustody", "Agent", "CofferKit", "CSystem",
        argumentParser, log,
      ]),
    room("SOPCommands", ["Secrets", "Primitives", "OpenPGP", "CSystem"]),
    // 8
    .executableTarget(name: "coffer", dependencies: ["CofferCommands"], swiftSettings: strict),
    .executableTarget(name: "coffer-sop", dependencies: ["SOPCommands"], swiftSettings: strict),

    tests("SecretsTests", ["Secrets", "CSystem"]),
    // What several suites share.
    support("AgentLeash"),
    support("MemorySearch"),
    support("PseudoTerminals"),
    support("SpecExamples"),
    support("TemporaryHomes"),
    tests(
      "UserAuthenticationTests",
      [
        "UserAuthentication", "Secrets", "CSystem", "PseudoTerminals", "DesktopBus", "PrivateBus",
        "MemorySearch",
      ]),
    tests(
      "KeychainsTests",
      [
        "Keychains", "Secrets", "Primitives", "Storage", "Enclaves", "DesktopBus", "PrivateBus",
        "SoftwareTPM", "MemorySearch", "SpecExamples", "TemporaryHomes", "NumberedItemStores",
      ]),
    tests("OpenPGPTests", ["OpenPGP", "Secrets", "Primitives", "COpenSSL", "MemorySearch"]),
    // Sessions with the built command; the dependency is there so that it is built first.
    tests(
      "SOPCommandsTests",
      ["coffer-sop", "SOPCommands", "OpenPGP", "Secrets", "Primitives", "MemorySearch"]),
    tests("StorageTests", ["Storage", "TemporaryHomes", grdb, sqlite]),
    .target(name: "CFaultVFS", path: "Tests/Support/CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    tests(
      "VaultsTests",
      [
        "Vaults", "Keychains", "Storage", "MessageFormats", "Primitives", "Secrets", "CFaultVFS",
        "MemorySearch", "SpecExamples", "TemporaryHomes", sqlite,
      ]),
    tests("HouseTests", []),
    // Sessions with the built command; the dependency is there so that it is built first.
    .testTarget(
      name: "TranscriptTests", dependencies: ["coffer", "AgentLeash", "SoftwareTPM"],
      exclude: ["Transcripts"], swiftSettings: strictTests),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "coffer", "CofferCommands", "PseudoTerminals", "DesktopBus", "PrivateBus", argumentParser, sqlite,
      ], swiftSettings: strictTests),
    tests("MessageFormatsTests", ["MessageFormats"]),
    support("PrivateBus", ["DesktopBus"]),
    support("SoftwareTPM"),
    tests("DesktopBusTests", ["DesktopBus", "PrivateBus"]),
    tests("PicturesTests", ["Pictures", "Secrets", "MemorySearch", "decoder-probe"]),
    // The process that decodes pictures, and how it would misbehave if it were taken over.
    .executableTarget(
      name: "decoder-probe", dependencies: ["Pictures", "CSystem"], path: "Tests/Support/DecoderProbe",
      swiftSettings: strictTests),
    tests(
      "EnclavesTests",
      [
        "Enclaves", "Primitives", "Secrets", "COpenSSL", "SoftwareTPM", "MemorySearch", "SpecExamples",
        "TemporaryHomes",
      ]),
    tests(
      "CapturesTests",
      [
        "Captures", "Keychains", "Storage", "Primitives", "Secrets", "CFaultVFS", "MemorySearch",
        "SpecExamples", "TemporaryHomes",
      ]),
    tests(
      "AgentTests",
      [
        "coffer", "Agent", "DesktopBus", "Keychains", "Primitives", "Secrets", "CSystem", "MemorySearch",
        "PrivateBus",
      ]),
    tests("PrimitivesTests", ["Primitives", "Secrets", "CSystem", "COpenSSL", "MemorySearch"]),
    tests(
      "CofferKitTests",
      [
        "CofferKit", "Captures", "Vaults", "MessageFormats", "ProtectedData", "KeyCustody", "Enclaves",
        "Keychains",
        "Storage", "UserAuthentication", "Primitives", "Secrets", "SoftwareTPM", "TemporaryHomes", sqlite,
      ]),
    tests(
      "ProtectedDataTests",
      [
        "ProtectedData", "Keychains", "Enclaves", "UserAuthentication", "Storage", "Primitives", "Secrets",
        "MemorySearch", "SpecExamples", "TemporaryHomes",
      ]),
    tests(
      "KeyCustodyTests",
      [
        "KeyCustody", "ProtectedData", "Keychains", "Enclaves", "UserAuthentication", "Storage", "Primitives",
        "Secrets", "MemorySearch", "SoftwareTPM", "SpecExamples", "TemporaryHomes",
      ]),
    support("NumberedItemStores", ["Keychains"]),
    // Takes the calls of the C library over: for programs of its own, and no dependency of any tests, since
    // those would link it.
    // A disk whose every call is numbered, and that forgets what was not synchronised.
    .target(name: "CCrashDisk", path: "Tests/Support/CCrashDisk", linkerSettings: [.linkedLibrary("dl")]),
    support("CrashDisk", ["CCrashDisk", "Keychains"]),
    // Stops every operation at every call, twice, and prints what was lost.
    .executableTarget(
      name: "crash-table",
      dependencies: [
        "CrashDisk", "CofferKit", "KeyCustody", "ProtectedData", "Vaults", "Captures", "Keychains",
        "Enclaves", "UserAuthentication", "MessageFormats", "Storage", "Primitives", "Secrets", log,
      ], path: "Tests/Support/CrashTable", swiftSettings: strictTests),
    // Does one operation with known secrets and waits, so that its memory can be searched.
    .executableTarget(
      name: "leak-probe",
      dependencies: [
        "CofferKit", "KeyCustody", "ProtectedData", "Vaults", "Captures", "Keychains", "Enclaves", "OpenPGP",
        "UserAuthentication", "MessageFormats", "Storage", "Primitives", "Secrets", "CSystem",
      ], path: "Tests/Support/LeakProbe", swiftSettings: strictTests),
    tests("LeakTests", ["leak-probe", "SoftwareTPM", "TemporaryHomes"]),
    // What is left after flipped bytes, kill -9 and a full disk; the dependency is there so that it is built.
    tests(
      "CrashTests",
      [
        "coffer", "CofferKit", "Vaults", "Captures", "Keychains", "Storage", "Primitives", "Secrets",
        "MessageFormats", "CSystem", "AgentLeash", "SoftwareTPM", sqlite,
      ]),
  ]
)

// Programs of libFuzzer; only `scripts/fuzz` asks for them.
if Context.environment["FUZZ"] != nil {
  for name in ["fuzz-armor", "fuzz-packets", "fuzz-certificates", "fuzz-messages", "fuzz-cleartext"] {
    package.targets.append(
      .executableTarget(
        name: name, dependencies: ["OpenPGP", "Secrets"], path: "Fuzz/\(name)",
        swiftSettings: strictTests + [.unsafeFlags(["-parse-as-library"])]))
  }
}
