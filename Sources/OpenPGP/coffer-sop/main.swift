// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SOPCommands

exit(SOPMain.run(Array(CommandLine.arguments.dropFirst())))
