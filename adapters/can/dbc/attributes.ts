/** Attribute values after applying their definitions, and message properties from well-known attributes. */
import { EXTENDED } from '../../../agent/ports.ts';
import type { AttributeDefinition, AttributeValue } from './database.ts';
import type { Declarations } from './declarations.ts';
import type { DbcFindings } from './findings.ts';

/** Converts an ENUM value, written as an index or as a label, to its label. */
function labelled(value: AttributeValue, definition: AttributeDefinition | undefined): AttributeValue {
  return definition?.type === 'ENUM' && typeof value === 'number' ? (definition.labels[value] ?? value) : value;
}

export class AttributeSet {
  readonly definitions = new Map<string, AttributeDefinition>();
  readonly #findings: DbcFindings;

  constructor(declarations: Declarations, findings: DbcFindings) {
    this.#findings = findings;
    for (const [name, definition] of declarations.definitions) this.definitions.set(name, definition);
    for (const { name, value, line } of declarations.initials) {
      const definition = this.definitions.get(name);
      if (definition === undefined) {
        findings.add('info', line, `attribute '${name}' is not defined; its default was left out`);
      } else {
        this.definitions.set(name, { ...definition, initial: labelled(value, definition) });
      }
    }
  }

  /** Returns the value to store. An attribute without definition is stored unchanged. */
  value(name: string, value: AttributeValue, line: number): AttributeValue {
    const definition = this.definitions.get(name);
    if (definition === undefined) this.#findings.add('info', line, `attribute '${name}' is used but not defined`);
    return labelled(value, definition);
  }

  /** Returns the set value, or else the default of the definition. */
  effective(attributes: ReadonlyMap<string, AttributeValue>, name: string): AttributeValue | undefined {
    return attributes.get(name) ?? this.definitions.get(name)?.initial;
  }
}

interface FrameFormat {
  readonly fd: boolean;
  readonly bitRateSwitch: boolean;
  readonly j1939: boolean;
}

/**
 * Returns the frame format from VFrameFormat (0 standard, 1 extended, 3 J1939 PG, 14 and 15 the FD ones, or their
 * labels). If the attribute is missing, ProtocolType makes extended messages J1939, and a length of 9 to 64 makes FD.
 */
export function frameFormat(
  set: AttributeSet,
  message: { readonly id: number; readonly length: number; readonly attributes: ReadonlyMap<string, AttributeValue> },
  network: ReadonlyMap<string, AttributeValue>,
): FrameFormat {
  const extended = message.id >= EXTENDED;
  const format = set.effective(message.attributes, 'VFrameFormat');
  const bitRateSwitch = Number(set.effective(message.attributes, 'CANFD_BRS') ?? 0) === 1;
  if (format === undefined) {
    const j1939 = extended && set.effective(network, 'ProtocolType') === 'J1939';
    const fd = !j1939 && message.length > 8 && message.length <= 64;
    return { fd, bitRateSwitch: fd && bitRateSwitch, j1939 };
  }
  const j1939 = extended && (format === 3 || format === 'J1939PG');
  const fd = format === 14 || format === 15 || (typeof format === 'string' && format.endsWith('CAN_FD'));
  return { fd, bitRateSwitch: fd && bitRateSwitch, j1939 };
}
