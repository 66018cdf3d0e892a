// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// Names a message.
public typealias MessageID = RecordID
