/** Converts a program's inputs to the form that `sourcesOf` accepts, with defaults. */

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { hasCode } from '../../adapters/keys/files.ts';
import { readLineAddress } from '../../adapters/lines/index.ts';
import type { FrameSource, ReadingSource } from '../../agent/ports.ts';
import type { CanInput, ObdInput } from '../../config/inputs.ts';
import { checkInputs } from '../../config/inputs.ts';
import { defined } from '../../protocol/defined.ts';
import type { Diagnostic } from '../../protocol/diagnostic.ts';
import { VigieError } from '../../protocol/errors.ts';
import { withPackage } from '../../protocol/missing-package.ts';
import type { InputsOfCar } from '../control-units.ts';
import { FilesRefused } from '../refused.ts';
import type { Vehicle } from '../vehicle.ts';
import { type CanDescription, type InputDescription, isFrameSource, type ObdDescription } from './source.ts';

/** Stands for the place of a fault in messages, since there is no file. */
const WHERE = 'sources';

/** Advice for findings about inputs, in terms of program code. */
const fixes = {
  can: (bus: string) => `add a source of it, such as socketcan('can0', { bus: '${bus}' })`,
  obd: 'add elm327(…) or isotp()',
};

/**
 * @param own the program's own sources, which feed their buses like inputs do
 * @param warn receives findings about unusual but usable inputs
 * @throws VigieError `configuration.wrong` for inputs that do not match the profile, or more than one `obd` or `gnss`
 */
export function inputsOf(
  given: readonly InputDescription[],
  own: readonly (FrameSource | ReadingSource)[],
  { profile }: Vehicle,
  commanded: boolean,
  warn: (finding: Diagnostic) => void,
): InputsOfCar {
  const buses = profile.buses.filter(({ kind }) => kind === 'can').map(({ name }) => name);
  const can = given.filter((input): input is CanDescription => 'can' in input).map((input) => canInput(input, buses));
  const obd = onlyOne(
    given.flatMap((input) => ('obd' in input ? [input.obd] : [])),
    'obd',
  );
  const gnss = onlyOne(
    given.flatMap((input) => ('gnss' in input ? [input.gnss] : [])),
    'gnss',
  );
  const record = onlyOne(
    given.flatMap((input) => ('record' in input ? [input.record] : [])),
    'record',
  );
  const inputs: InputsOfCar = {
    file: WHERE,
    can,
    ...(obd === undefined ? {} : { obd: obdInput(obd, can) }),
    ...(gnss === undefined ? {} : { gnss: { ...gnss, line: 0 } }),
    ...defined({ record }),
    ...(commanded ? { commands: {} } : {}),
  };
  const fed = own.filter(isFrameSource).flatMap(({ buses: names }) => names);
  // Each reading source of the program may be the one that polls the bus.
  const isPolled = own.some((source) => !isFrameSource(source));
  const findings = checkInputs(inputs, profile, { fed, isPolled, fixes });
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    throw new FilesRefused(errors.map(({ message, fix }) => `${message}${fix ? ` (${fix})` : ''}`).join('; '), errors);
  }
  for (const finding of findings) warn(finding);
  return inputs;
}

/**
 * Loads the packages that the inputs need: if one is missing now, it will also be missing later.
 * @throws VigieError `package.missing` if a package is not installed
 */
export async function loadPackages({ can, obd, gnss }: InputsOfCar): Promise<void> {
  const lines = [
    ...can.flatMap((input) => (input.kind === 'slcan' ? [input.address] : [])),
    ...(obd?.kind === 'elm327' ? [obd.address] : []),
    ...(gnss?.kind === 'nmea' ? [gnss.address] : []),
  ];
  if (can.some(({ kind }) => kind === 'socketcan')) await installed(() => import('koffi'));
  // The speed has no effect here.
  if (lines.some((address) => readLineAddress(address, 9_600, WHERE).kind === 'serial'))
    await installed(() => import('serialport'));
}

/** @throws VigieError `input.unreadable` for a recording that cannot be read, since waiting would not help */
export async function checkRecordings({ can }: InputsOfCar): Promise<void> {
  for (const input of can) {
    if (input.kind !== 'log') continue;
    await access(input.log, constants.R_OK).catch((cause: Error) => {
      const reason = hasCode(cause, 'ENOENT') ? 'there is no such file' : cause.message;
      throw new VigieError('input.unreadable', `the log of a CAN input cannot be read: ${reason}`, {
        where: input.log,
        cause,
      });
    });
  }
}

/** Ignores a package that is installed but fails to load: its source reports that and retries. */
async function installed(load: () => Promise<unknown>): Promise<void> {
  await withPackage(load).catch((error: unknown) => {
    if (error instanceof VigieError) throw error;
  });
}

function canInput({ can, bus: named }: CanDescription, buses: readonly string[]): CanInput {
  const bus = named ?? (buses.length === 1 ? buses[0] : undefined);
  if (bus !== undefined) return { ...can, bus, line: 0 };
  const fix = buses.length === 0 ? 'the profile has no CAN bus: name one for `isotp`' : `one of ${buses.join(', ')}`;
  throw new VigieError('configuration.wrong', `a CAN input needs the name of its bus, { bus: … }: ${fix}`);
}

function obdInput(obd: ObdDescription['obd'], can: readonly CanInput[]): ObdInput {
  if (obd.kind === 'elm327') return { ...obd, line: 0 };
  const over = obd.over ?? (can.length === 1 ? can[0]?.bus : undefined);
  if (over !== undefined && can.some(({ bus }) => bus === over)) return { kind: 'isotp', over, line: 0 };
  const known = can.map(({ bus }) => bus).join(', ') || 'none';
  throw new VigieError('configuration.wrong', `isotp needs the bus of a CAN input to ask over (known: ${known})`);
}

function onlyOne<T>(given: readonly T[], what: string): T | undefined {
  if (given.length < 2) return given[0];
  throw new VigieError('configuration.wrong', `an agent has at most one source of ${what}; ${given.length} are given`);
}
