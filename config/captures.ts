/** The `captures` section of a profile. */
import { defined } from '../protocol/defined.ts';
import { suggestion } from '../protocol/nearest.ts';
import type { CaptureRule, CaptureRules } from '../protocol/profile.ts';
import type { BusNames } from './buses.ts';
import type { CaptureInput, CapturesInput } from './capture-schema.ts';
import { profileDefaults } from './defaults.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import { readDuration } from './quantities.ts';

/** Longest time in ms before or after an event. */
const LONGEST = 600_000;
const EXTENDED = 0x8000_0000;

/** Reads `captures`. Returns undefined if no event is to cause a capture. */
export function readCaptures(
  section: CapturesInput | undefined,
  buses: BusNames,
  findings: Findings,
): CaptureRules | undefined {
  if (section === undefined || !findings.sound('/captures')) return undefined;
  const { collision, command, monitors = {}, positionFree = {} } = section;
  if (collision === undefined && command === undefined && Object.keys(monitors).length === 0) {
    findings.warning('/captures', 'nothing asks for a capture', 'add collision, monitors or command');
    return undefined;
  }
  const free = Object.entries(positionFree).flatMap(([bus, identifiers]) =>
    isBus(bus, pointer('captures', 'positionFree', bus), buses, findings)
      ? [{ buses: [bus], identifiers: identifiers.map(identifierOf) }]
      : [],
  );
  return {
    ...(collision === undefined ? {} : { collision: ruleOf(collision, '/captures/collision', buses, findings) }),
    ...(command === undefined ? {} : { command: ruleOf(command, '/captures/command', buses, findings) }),
    monitors: Object.fromEntries(
      Object.entries(monitors).map(([id, rule]) => [
        id,
        ruleOf(rule, pointer('captures', 'monitors', id), buses, findings),
      ]),
    ),
    positionFree: free,
  };
}

function ruleOf(input: CaptureInput, at: string, buses: BusNames, findings: Findings): CaptureRule {
  const { before, after } = profileDefaults.capture;
  const rule = {
    before: input.before === undefined ? before : readDuration(input.before),
    after: input.after === undefined ? after : readDuration(input.after),
  };
  for (const member of ['before', 'after'] as const) {
    if (rule[member] > LONGEST) findings.error(`${at}/${member}`, 'a capture is at most 10m long on each side');
  }
  for (const [index, bus] of (input.buses ?? []).entries()) {
    isBus(bus, `${at}/buses/${index}`, buses, findings);
  }
  return {
    ...rule,
    ...defined({ buses: input.buses }),
    ...(input.identifiers === undefined ? {} : { identifiers: input.identifiers.map(identifierOf) }),
  };
}

function isBus(name: string, at: string, { buses }: BusNames, findings: Findings): boolean {
  const known = buses.filter(({ kind }) => kind === 'can').map((bus) => bus.name);
  if (known.includes(name)) return true;
  const fix = suggestion(name, known) ?? `known: ${known.join(', ') || 'none'}`;
  findings.error(at, `the profile has no bus ${quoted(name)} with frames`, fix);
  return false;
}

function identifierOf(written: number): number {
  return written > 0x7ff ? written + EXTENDED : written;
}
