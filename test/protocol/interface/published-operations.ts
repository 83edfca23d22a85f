/** Operations and parameters of a release, read from the digest of the published interface. */
import { readFileSync } from 'node:fs';
import { sharedData } from '../../shared.ts';

export interface PublishedParameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  /** What follows the name, e.g. `integer minimum=1 maximum=60 default=60`. */
  readonly type: string;
}

export interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly deprecated: boolean;
  readonly scopes: readonly string[];
  readonly parameters: readonly PublishedParameter[];
  /** Name of the schema of the body. */
  readonly body: string | undefined;
  /** Statuses of success. */
  readonly statuses: readonly number[];
  /** Media type and schema of the answer; undefined: without body. */
  readonly media: string | undefined;
  readonly schema: string | undefined;
}

const digest = (release: string): string => readFileSync(`${sharedData}../reference/${release}.txt`, 'utf8');

function section(text: string, name: string): string[] {
  const [, rest = ''] = text.split(`=== ${name}\n`);
  return (rest.split('\n=== ')[0] ?? '').split('\n').filter((line) => line !== '');
}

export function publishedParameters(release: string): ReadonlyMap<string, PublishedParameter> {
  return new Map(
    section(digest(release), 'parameters').map((line) => {
      const [, name = '', place = '', wire = '', star, type = ''] = /^(\w+) (\w+):([\w-]*)(\*?):(.*)$/.exec(line) ?? [];
      return [name, { in: place, name: wire, required: star === '*', type }];
    }),
  );
}

export function publishedOperations(release: string): PublishedOperation[] {
  const text = digest(release);
  const parameters = publishedParameters(release);
  const responses = new Map(section(text, 'responses').map((line) => [line.slice(0, line.indexOf(' ')), line]));
  const blocks = (text.split('\n=== ')[0] ?? '').split(/\n(?=[A-Z]+ \/)/).slice(1);
  return blocks.map((block) => {
    const [, method = '', path = '', deprecated] = /^([A-Z]+) (\S+)( DEPRECATED)?/.exec(block) ?? [];
    const names = /params: (.*)/.exec(block)?.[1]?.match(/\w+/g) ?? [];
    const statuses = [...block.matchAll(/^ +(2\d\d) (.*)$/gm)];
    const answer = statuses[0]?.[2] ?? '';
    const described = answer.startsWith('@') ? (responses.get(answer.slice(1)) ?? '') : answer;
    return {
      method,
      path,
      deprecated: deprecated !== undefined,
      scopes: [...(/scopes=(.*)/.exec(block)?.[1] ?? '').matchAll(/'([\w]+:[\w:]+)'/g)].map(([, scope]) => scope ?? ''),
      parameters: names.flatMap((name) => parameters.get(name) ?? []),
      body: /body: .*'@(\w+)'/.exec(block)?.[1],
      statuses: statuses.map(([, status]) => Number(status)),
      media: /'(application\/[^']*)'/.exec(described)?.[1]?.trim(),
      schema: /'(?:allOf\()?@(\w+)/.exec(described)?.[1],
    };
  });
}
