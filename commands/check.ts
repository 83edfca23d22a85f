import { isAbsolute, relative } from 'node:path';
import { Command, Option } from 'commander';
import { FORMAT, readFormat } from '../adapters/store/index.ts';
import { checkKeys } from '../assembly/checked-keys.ts';
import { checkMonitors } from '../assembly/monitors.ts';
import { inspectVehicle, readDbc, type Vehicle } from '../assembly/vehicle.ts';
import { compareWithVss } from '../assembly/vss.ts';
import { loadConfiguration } from '../config/configuration.ts';
import { checkInputs } from '../config/inputs.ts';
import { readVss } from '../config/vss.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { formatDiagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
import { finishUnread, formatOf, Lines } from './output.ts';

interface Options {
  readonly config?: string;
  readonly profile?: string[];
  readonly dbc?: string[];
  readonly vss?: string;
  readonly format?: string;
}

export function checkCommand(): Command {
  return new Command('check')
    .summary('lists the faults in configuration, profile and DBC')
    .description(
      `Checks hand-written files: configuration, vehicle profile, network descriptions. Every fault is a \
line {file, line, severity, message, fix?}. Exit status 0, or 2 when any is an error.`,
    )
    .option('-c, --config <file>', 'configuration, with the profile and DBC it names')
    .option('-p, --profile <name-or-path...>', 'vehicle profiles, with their DBC')
    .option('--dbc <file...>', 'network descriptions')
    .option('--vss <file>', 'COVESA VSS as JSON: compare names, types and units of custom signals with it')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText(
      'after',
      `
Examples:
  vigie check -c vigie.yaml
  vigie check --profile bench
  vigie check --profile ./my-car --vss vss.json
  vigie check --dbc car.dbc --format text`,
    )
    .action(check);
}

async function check(options: Options): Promise<void> {
  finishUnread();
  const { config, profile = [], dbc = [], vss } = options;
  if (config === undefined && profile.length + dbc.length === 0) {
    throw new VigieError('usage.wrong', 'nothing to check: give -c vigie.yaml, --profile NAME or --dbc FILE');
  }
  if (vss !== undefined && config === undefined && profile.length === 0) {
    throw new VigieError(
      'usage.wrong',
      '--vss compares the signals of a profile: give -c vigie.yaml or --profile NAME',
    );
  }
  const tree = vss === undefined ? undefined : readVss(vss);
  const compared = (vehicle: Vehicle | undefined) =>
    vehicle === undefined || tree === undefined ? [] : compareWithVss(vehicle, tree);
  const found: Diagnostic[] = [];
  if (config !== undefined) {
    const { configuration, diagnostics } = loadConfiguration(config, process.env);
    found.push(...diagnostics);
    if (configuration !== undefined) {
      const { vehicle, diagnostics: faults } = inspectVehicle(configuration.profile);
      found.push(...faults, ...(vehicle === undefined ? [] : checkInputs(configuration, vehicle.profile)));
      found.push(...checkKeys(configuration, 'error'));
      found.push(...checkMonitors(configuration, vehicle?.profile));
      found.push(...checkRecords(configuration.data), ...compared(vehicle));
    }
  }
  for (const name of profile) {
    const { vehicle, diagnostics } = inspectVehicle(name);
    found.push(...diagnostics, ...compared(vehicle));
  }
  for (const file of dbc) found.push(...readDbc(file).diagnostics);

  const lines = new Lines();
  const format = formatOf(options.format);
  for (const diagnostic of found.map(fromHere)) {
    lines.line(format === 'ndjson' ? JSON.stringify(diagnostic) : formatDiagnostic(diagnostic));
  }
  await lines.flush();
  const errors = found.filter((diagnostic) => diagnostic.severity === 'error').length;
  process.stderr.write(
    errors === 0 ? `no errors, ${counted(found.length, 'finding')}\n` : `${counted(errors, 'error')}\n`,
  );
  if (errors > 0) process.exitCode = 2;
}

/** Returns the finding. If its file is below the working directory, it is named relative to that directory. */
function fromHere(diagnostic: Diagnostic): Diagnostic {
  const { file } = diagnostic;
  const near = relative(process.cwd(), file);
  return isAbsolute(file) && near !== '' && !near.startsWith('..') ? { ...diagnostic, file: near } : diagnostic;
}

/** Returns findings about what a start would do to the folder of records. */
function checkRecords(data: string): Diagnostic[] {
  const find = (severity: Diagnostic['severity'], message: string, fix?: string): Diagnostic[] => [
    { file: data, line: 0, severity, message, ...defined({ fix }) },
  ];
  try {
    const { format, fault } = readFormat(data);
    if (format > FORMAT) {
      return find(
        'error',
        `the records have format ${format} of a newer agent, this one knows ${FORMAT}`,
        'run the newer agent, or name another folder with --data',
      );
    }
    return fault === undefined ? [] : find('warning', fault, 'the next start writes the number again');
  } catch (error) {
    // If this user may not read the folder, this is not a fault of the configuration.
    return find('info', `the records cannot be looked at: ${(error as Error).message}`);
  }
}
