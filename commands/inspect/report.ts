/** Formats findings as lines of NDJSON for programs, or as tables for people. */
import type { BoundDatabase } from '../../adapters/can/dbc/index.ts';
import { MessageFinder } from '../../adapters/can/dbc/index.ts';
import {
  type Correlator,
  compareTraffic,
  rankCoverage,
  type SignalStatistics,
  type Traffic,
} from '../../adapters/can/inspect/index.ts';
import type { Format } from '../output.ts';
import { correlationLinesOf, correlationText } from './correlation-lines.ts';
import { coverageText, databaseLineOf } from './coverage-lines.ts';
import { differenceLinesOf, differenceText } from './difference-lines.ts';
import type { IdentifierLine } from './schema.ts';
import { signalLineOf, signalText } from './signal-lines.ts';
import { busLineOf, identifierLineOf, trafficText } from './traffic-lines.ts';

interface Report {
  readonly traffic: Traffic;
  readonly databases: readonly BoundDatabase[];
  readonly signals: readonly SignalStatistics[] | undefined;
  /** True to omit identifiers and signals that never changed. */
  readonly onlyChanged: boolean;
}

/** Yields line by line: garbage logs have millions of identifiers. @param width longest line, in characters */
export function* reportLines(report: Report, format: Format, width: number): Generator<string> {
  const { traffic, databases, signals, onlyChanged } = report;
  const isShown = ({ changes }: { readonly changes: number }): boolean => !onlyChanged || changes > 0;
  const coverage = rankCoverage(
    databases.map(({ database }) => database),
    traffic,
  ).map(databaseLineOf);
  const values = signals?.filter(isShown).map(signalLineOf);
  if (format === 'ndjson') {
    for (const bus of traffic.buses) yield JSON.stringify(busLineOf(bus));
    for (const line of identifiersOf(traffic, databases)) if (isShown(line)) yield JSON.stringify(line);
    for (const line of [...coverage, ...(values ?? [])]) yield JSON.stringify(line);
    return;
  }
  const parts = [
    trafficText(traffic, [...identifiersOf(traffic, databases)].filter(isShown), width),
    coverage.length === 0 ? [] : coverageText(coverage, width),
    values === undefined ? [] : signalText(values, width),
  ];
  yield* parts.filter((part) => part.length > 0).flatMap((part, i) => (i === 0 ? part : ['', ...part]));
}

/** @param width longest line for people, in characters */
export function comparisonLines(
  first: Traffic,
  second: Traffic,
  databases: readonly BoundDatabase[],
  format: Format,
  width: number,
): string[] {
  const begin = { first: beginOf(first), second: beginOf(second) };
  const lines = differenceLinesOf(compareTraffic(first, second), databases, begin);
  return format === 'ndjson' ? lines.map((line) => JSON.stringify(line)) : differenceText(lines, width);
}

/** Smallest coefficient that is shown, and largest number of shown fields. */
const LEAST = 0.5;
const MOST = 20;

/** @param width longest line for people, in characters */
export function correlationLines(
  correlator: Correlator,
  databases: readonly BoundDatabase[],
  format: Format,
  width: number,
): string[] {
  const lines = correlationLinesOf(correlator.correlations(LEAST, MOST), databases);
  return format === 'ndjson' ? lines.map((line) => JSON.stringify(line)) : correlationText(lines, width);
}

function beginOf({ buses }: Traffic): number {
  return Math.min(...buses.map(({ first }) => first));
}

function* identifiersOf(traffic: Traffic, databases: readonly BoundDatabase[]): Generator<IdentifierLine> {
  const finder = new MessageFinder(databases);
  for (const bus of traffic.buses) {
    for (const message of bus.messages) {
      yield identifierLineOf(bus, message, finder.find(bus.name, message.id));
    }
  }
}
