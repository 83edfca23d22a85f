/** Compares the facts in `generated/` with the digest of the published interface, if that is present. */
import { describe, expect, test } from 'vitest';
import { describeShared } from '../../../shared.ts';
import { readFacts, readOperatorsByData, readRequestedEntries } from './digest.ts';
import { factsOf, type Model, operatorsByData, releases, requestedEntries } from './facts.ts';

/** Names of the models to which a model refers. */
function references(model: Model): string[] {
  const { $ref, properties = {}, items, allOf = [], oneOf = [] } = model;
  const within = [...Object.values(properties), ...allOf, ...oneOf, ...(items ? [items] : [])];
  return [...($ref === undefined ? [] : [$ref.slice('#/$defs/'.length)]), ...within.flatMap(references)];
}

describe.each(Object.values(releases))('the published facts of %s', (release) => {
  test('refer only to models that exist', () => {
    const { operations, models } = factsOf(release);
    const named = [
      ...operations.flatMap(({ body, schema, parameters }) => [
        ...[body, schema].filter((name) => name !== undefined),
        ...parameters.flatMap((parameter) => references(parameter.schema)),
      ]),
      ...Object.values(models).flatMap(references),
    ];
    expect(named.length).toBeGreaterThan(300);
    expect(named.filter((name) => models[name] === undefined)).toEqual([]);
  });

  test('contain only names, types and numbers, and no sentences', () => {
    const strings: string[] = [];
    JSON.stringify(factsOf(release), (_, value: unknown) => {
      if (typeof value === 'string') strings.push(value);
      return value;
    });
    expect(strings.filter((text) => text.includes(' '))).toEqual([]);
  });
});

describeShared('the digest beside the project', () => {
  test.each(Object.values(releases))('of %s equal the digest', (release) => {
    expect(readFacts(release)).toEqual(factsOf(release));
  });

  test('equal the digest for the operators of data names and the requested entries', () => {
    expect(new Map(Object.entries(readOperatorsByData()))).toEqual(operatorsByData());
    expect(new Map(Object.entries(readRequestedEntries()))).toEqual(requestedEntries());
  });
});
