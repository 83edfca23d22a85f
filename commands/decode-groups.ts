/** J1939 in a log: parameter groups that consist of several packets, and fault codes (DM1, DM2). */
import { type BoundDatabase, type DbcFrameReader, parameterGroup, type ReadFrame } from '../adapters/can/dbc/index.ts';
import { DM1, DM2, type J1939Fault, type J1939Faults, readFaultCodes } from '../adapters/can/j1939/fault-codes.ts';
import type { J1939Transport, ParameterGroup } from '../adapters/can/j1939/transport.ts';
import { EXTENDED, type FrameBatch } from '../agent/ports.ts';

/** A frame or group with its signals and, if there are any, its fault codes. */
export type Decoded = ReadFrame & Partial<J1939Faults>;

const NAMES: ReadonlyMap<number, string> = new Map([
  [DM1, 'DM1'],
  [DM2, 'DM2'],
]);

/** Returns the groups whose last packet is in the batch, in order. */
export function groupsIn(batch: FrameBatch, transport: J1939Transport): ParameterGroup[] {
  const { id, bus, at, data, offset, length } = batch;
  const groups: ParameterGroup[] = [];
  for (let i = 0; i < batch.count; i++) {
    const group = transport.receive(
      id[i] as number,
      bus[i] as number,
      at[i] as number,
      data,
      offset[i] as number,
      length[i] as number,
    );
    if (group !== undefined) groups.push(group);
  }
  return groups;
}

/** Reads frames and groups with descriptions of J1939 networks. */
export class ParameterGroupReader {
  readonly #reader: DbcFrameReader;
  /** True if one of the descriptions is of a J1939 network. */
  readonly isJ1939: boolean;

  constructor(reader: DbcFrameReader, databases: readonly BoundDatabase[]) {
    this.#reader = reader;
    this.isJ1939 = databases.some(({ database }) => database.messages.some(({ j1939 }) => j1939));
  }

  frame(batch: FrameBatch, i: number): Decoded | undefined {
    const decoded = this.#reader.decode(batch, i);
    const id = batch.id[i] as number;
    const name = this.isJ1939 && id >= EXTENDED ? NAMES.get(parameterGroup(id)) : undefined;
    if (name === undefined) return decoded;
    const from = batch.offset[i] as number;
    return withFaults(decoded, name, batch.data.subarray(from, from + (batch.length[i] as number)));
  }

  group({ id, bus, data }: ParameterGroup): Decoded | undefined {
    const decoded = this.#reader.read(id, bus, data, 0, data.length);
    const name = this.isJ1939 ? NAMES.get(parameterGroup(id)) : undefined;
    return name === undefined ? decoded : withFaults(decoded, name, data);
  }
}

function withFaults(decoded: ReadFrame | undefined, name: string, data: Uint8Array): Decoded | undefined {
  const codes = readFaultCodes(data);
  return codes === undefined ? decoded : { ...(decoded ?? { message: name, signals: {} }), ...codes };
}

/** Returns the fault codes in a human-readable form; empty if there are none. */
export function faultWords({ lamps, faults }: Decoded): readonly string[] {
  if (lamps === undefined || faults === undefined) return [];
  const on = Object.entries(lamps).filter(([, lamp]) => lamp !== 'off');
  const shown = [...on.map(([name, lamp]) => `${name}=${lamp}`), ...faults.map(codeText)];
  return shown.length === 0 ? ['no faults'] : shown;
}

function codeText({ spn, fmi, count, olderSpn }: J1939Fault): string {
  return `SPN${spn}/FMI${fmi}${count === undefined ? '' : `×${count}`}${olderSpn === true ? ' (SPN in an older form)' : ''}`;
}
