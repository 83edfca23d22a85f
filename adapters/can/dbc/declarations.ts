/**
 * Statements of a network description before names and ids are resolved. Statements may come in any order, so they
 * refer to each other only by id and name.
 */
import type { AttributeDefinition, AttributeScope } from './database.ts';

export interface SignalDeclaration {
  symbol: string;
  /** `M`, `m3`, `m3M`, or empty. */
  multiplexing: string;
  start: number;
  length: number;
  byteOrder: 'little' | 'big';
  signed: boolean;
  factor: number;
  offset: number;
  minimum: number | undefined;
  maximum: number | undefined;
  unit: string;
  receivers: string[];
  line: number;
}

export interface MessageDeclaration {
  /** As written: bit 31 marks a 29-bit identifier. */
  id: number;
  symbol: string;
  length: number;
  sender: string;
  signals: SignalDeclaration[];
  line: number;
}

/** Owner of a comment, an attribute or a value table. */
export interface AttributeTarget {
  readonly scope: AttributeScope;
  /** Message id as written, for messages and signals. */
  readonly id?: number;
  /** Name of the signal, node or environment variable. */
  readonly name?: string;
  readonly line: number;
}

export interface EnvironmentDeclaration {
  readonly symbol: string;
  readonly type: number;
  readonly unit: string;
  readonly initial: number;
  readonly line: number;
}

export interface Declarations {
  version: string;
  readonly nodes: { symbol: string; line: number }[];
  readonly messages: MessageDeclaration[];
  readonly valueTables: Map<string, Map<number, string>>;
  readonly environment: EnvironmentDeclaration[];
  readonly senders: { id: number; senders: string[]; line: number }[];
  readonly comments: { target: AttributeTarget; text: string }[];
  readonly definitions: Map<string, AttributeDefinition>;
  readonly initials: { name: string; value: number | string; line: number }[];
  readonly attributes: { name: string; target: AttributeTarget; value: number | string }[];
  readonly choices: { target: AttributeTarget; choices: Map<number, string>; table?: string }[];
  readonly valueTypes: { target: AttributeTarget; type: number }[];
  readonly selections: { target: AttributeTarget; multiplexor: string; ranges: [number, number][] }[];
  readonly groups: { id: number; name: string; repetitions: number; signals: string[]; line: number }[];
}

export function noDeclarations(): Declarations {
  return {
    version: '',
    nodes: [],
    messages: [],
    valueTables: new Map(),
    environment: [],
    senders: [],
    comments: [],
    definitions: new Map(),
    initials: [],
    attributes: [],
    choices: [],
    valueTypes: [],
    selections: [],
    groups: [],
  };
}
