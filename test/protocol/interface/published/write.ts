/** Rewrites `generated/` from the shared digest: `node test/protocol/interface/published/write.ts`. */
import { writeFileSync } from 'node:fs';
import { readFacts, readOperatorsByData, readRequestedEntries } from './digest.ts';
import { type Facts, releases } from './facts.ts';

const write = (name: string, text: string): void =>
  writeFileSync(new URL(`generated/${name}.json`, import.meta.url), `${text}\n`);

/** One line for each operation, model or enumeration. */
function linesOf({ operations, models, enumerations }: Facts): string {
  const entries = (record: object): string =>
    Object.entries(record)
      .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n');
  return `{
  "operations": [
${operations.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}
  ],
  "models": {
${entries(models)}
  },
  "enumerations": {
${entries(enumerations)}
  }
}`;
}

for (const release of Object.values(releases)) write(release, linesOf(readFacts(release)));
write('monitor-operators', JSON.stringify(readOperatorsByData(), null, 2));
write('requested-entries', JSON.stringify(readRequestedEntries(), null, 2));
