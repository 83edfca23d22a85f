import type { Condition } from '../protocol/profile.ts';
import type { Findings } from './findings.ts';
import { type FixedValue, misfit, slotAt } from './values.ts';

/**
 * Reads a condition on a path of Status and reports its faults.
 * @param fed paths that can have a value. A condition on another path never holds; `otherwise` says what follows from
 * this
 */
export function readCondition<C extends Condition>(
  input: C,
  at: string,
  fed: ReadonlySet<string>,
  otherwise: string,
  findings: Findings,
): C | undefined {
  const { path, equals, includes, atMost, atLeast } = input;
  const slot = slotAt(path, `${at}/path`, findings);
  const given = (['equals', 'includes', 'atMost', 'atLeast'] as const).filter((member) => input[member] !== undefined);
  const [member] = given;
  if (member === undefined || given.length > 1) {
    findings.error(at, 'exactly one of `equals`, `includes`, `atMost` and `atLeast` is required');
    return undefined;
  }
  if (slot === undefined) return undefined;
  const bound = atMost ?? atLeast;
  if (bound !== undefined && slot.kind !== 'quantity') {
    findings.error(`${at}/${member}`, `${path} is not a number`, 'write equals: or includes:');
    return undefined;
  }
  if (bound === undefined && (slot.kind === 'set') !== (includes !== undefined)) {
    findings.error(`${at}/${member}`, `${path} is ${slot.kind === 'set' ? 'a' : 'not a'} set of names`);
    return undefined;
  }
  const fault = misfit(slot, bound ?? (includes === undefined ? (equals as FixedValue) : [includes]));
  if (fault !== undefined) findings.error(`${at}/${member}`, fault.message, fault.fix);
  else if (!fed.has(path)) {
    findings.error(`${at}/path`, `nothing under status gives ${path} a value: ${otherwise}`, 'add it to status');
  } else return input;
  return undefined;
}
