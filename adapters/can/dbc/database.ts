/**
 * A CAN network description (DBC) after loading: all names are resolved, and deviations from the format corrected. Bit
 * positions, byte orders and value types are those of the Vector DBC file format 1.0.5.
 */

/** Value of an attribute: numbers for INT, HEX and FLOAT, text for STRING, the label for ENUM. */
export type AttributeValue = number | string;
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Raw value to name, from `VAL_`. */
export type Choices = ReadonlyMap<number, string>;

/**
 * Condition for a signal to be in the frame: the raw value of `multiplexor` lies in one of the ranges, ends included.
 */
export interface Selection {
  readonly multiplexor: Signal;
  readonly ranges: readonly (readonly [low: number, high: number])[];
}

export type ValueType = 'unsigned' | 'signed' | 'float';

/** Position of the bits of a value in a payload. */
export interface BitField {
  /**
   * Bit number as in DBC: byte × 8 + bit within the byte, where bit 0 is the least significant. It is the least
   * significant bit of the value for `little`, and the most significant for `big`.
   */
  readonly start: number;
  /** Width in bits, 1..64. */
  readonly length: number;
  /** `little` is Intel (`@1`), `big` is Motorola (`@0`). */
  readonly byteOrder: 'little' | 'big';
}

export interface Signal extends BitField {
  /** The long name if the file has one (SystemSignalLongSymbol), else the symbol. */
  readonly name: string;
  /** The name in `SG_`, at most 32 characters in well-formed files. */
  readonly symbol: string;
  /** `float` is IEEE 754 of 16, 32 or 64 bits. */
  readonly type: ValueType;
  /** Physical value = raw × factor + offset. */
  readonly factor: number;
  readonly offset: number;
  /** Physical range. Omitted if the file has none (`[0|0]`). */
  readonly range?: readonly [minimum: number, maximum: number];
  readonly unit: string;
  readonly receivers: readonly string[];
  /** True if this signal selects other signals of the message. */
  readonly multiplexor: boolean;
  readonly selection?: Selection;
  readonly choices?: Choices;
  readonly comment?: string;
  readonly attributes: Attributes;
  /** Line of `SG_`, 1-based. */
  readonly line: number;
}

export interface SignalGroup {
  readonly name: string;
  readonly repetitions: number;
  readonly signals: readonly string[];
}

export interface DbcMessage {
  /** Identifier with bit 31 set for 29-bit ones, unsigned. */
  readonly id: number;
  /** The long name if the file has one (SystemMessageLongSymbol), else the symbol. */
  readonly name: string;
  readonly symbol: string;
  /** Payload length in bytes. More than 64 only in transport protocols. */
  readonly length: number;
  /** True for the CAN FD frame format. `bitRateSwitch`: true if the data phase has the higher bit rate. */
  readonly fd: boolean;
  readonly bitRateSwitch: boolean;
  /** Matched by parameter group number instead of the complete identifier (SAE J1939-21). */
  readonly j1939: boolean;
  /** False for Vector's pseudo message, which contains signals that no frame carries. */
  readonly onBus: boolean;
  readonly senders: readonly string[];
  readonly signals: readonly Signal[];
  readonly groups: readonly SignalGroup[];
  /** GenMsgCycleTime in milliseconds, if it is set and not 0. */
  readonly cycleTime?: number;
  readonly comment?: string;
  readonly attributes: Attributes;
  /** Line of `BO_`, 1-based. */
  readonly line: number;
}

export interface NetworkNode {
  readonly name: string;
  readonly symbol: string;
  readonly comment?: string;
  readonly attributes: Attributes;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly symbol: string;
  readonly type: number;
  readonly unit: string;
  readonly initial: number;
  readonly choices?: Choices;
  readonly comment?: string;
  readonly attributes: Attributes;
}

export type AttributeScope = 'network' | 'node' | 'message' | 'signal' | 'environment';

export interface AttributeDefinition {
  readonly name: string;
  readonly scope: AttributeScope;
  readonly type: 'INT' | 'HEX' | 'FLOAT' | 'STRING' | 'ENUM';
  /** Labels of an ENUM, in order. */
  readonly labels: readonly string[];
  readonly initial?: AttributeValue;
}

export interface Database {
  readonly file: string;
  readonly version: string;
  readonly nodes: readonly NetworkNode[];
  /** In the order of the file. */
  readonly messages: readonly DbcMessage[];
  readonly valueTables: ReadonlyMap<string, Choices>;
  readonly environmentVariables: readonly EnvironmentVariable[];
  readonly definitions: ReadonlyMap<string, AttributeDefinition>;
  readonly attributes: Attributes;
  readonly comment?: string;
}

/** Finds a message by its long name or its symbol. */
export function messageNamed(database: Database, name: string): DbcMessage | undefined {
  return (
    database.messages.find((message) => message.name === name) ??
    database.messages.find((message) => message.symbol === name)
  );
}

/** Finds a signal by its long name or its symbol. */
export function signalNamed(message: DbcMessage, name: string): Signal | undefined {
  return (
    message.signals.find((signal) => signal.name === name) ?? message.signals.find((signal) => signal.symbol === name)
  );
}
