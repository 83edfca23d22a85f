/** Decides which of several DBC files describe a log. */
import type { BoundDatabase } from '../../adapters/can/dbc/index.ts';
import { type Coverage, rankCoverage, type Traffic } from '../../adapters/can/inspect/index.ts';

export interface DatabaseChoice {
  /** Files that describe the log, the best first, regardless of the order in which they were given. */
  readonly used: readonly BoundDatabase[];
  /** Files that probably describe another car. */
  readonly wrong: readonly Coverage[];
}

/** Smallest share of the log's frames that a DBC of the car describes, or of its own messages that are in the log. */
const LEAST = 0.5;

/** If no DBC fits, uses the best one, which is still reported as wrong. If no DBC describes any frame, uses all. */
export function chooseDatabases(databases: readonly BoundDatabase[], traffic: Traffic): DatabaseChoice {
  const ranked = rankCoverage(
    databases.map(({ database }) => database),
    traffic,
  ).sort((one, other) => fitOf(other) - fitOf(one) || (one.database.file < other.database.file ? -1 : 1));
  if (ranked.every(({ known }) => known === 0)) return { used: databases, wrong: [] };
  const wrong = ranked.filter((coverage) => !isPlausible(coverage));
  const good = ranked.filter(isPlausible);
  const used = (good.length > 0 ? good : ranked.slice(0, 1)).flatMap(
    ({ database }) => databases.find((bound) => bound.database === database) ?? [],
  );
  return { used, wrong };
}

function isPlausible(coverage: Coverage): boolean {
  return coverage.fitting >= LEAST * coverage.frames || shareSeen(coverage) >= LEAST;
}

/**
 * Rates a DBC by the share of frames that fit it with values in their ranges, and the share of its messages that are in
 * the log. Many identifiers in a log may occur in a foreign DBC, but few of all its identifiers are in the log.
 */
function fitOf(coverage: Coverage): number {
  const { frames, fitting, values, inRange } = coverage;
  const share = frames === 0 ? 0 : fitting / frames;
  return share * (values === 0 ? 1 : inRange / values) + shareSeen(coverage);
}

function shareSeen({ messages, database }: Coverage): number {
  const all = database.messages.filter(({ onBus }) => onBus).length;
  return all === 0 ? 0 : messages / all;
}
