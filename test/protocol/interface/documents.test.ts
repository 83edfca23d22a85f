import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { describe, expect, it, test } from 'vitest';
import { asyncApi } from '../../../protocol/interface/asyncapi.ts';
import { openApi, operationIdOf } from '../../../protocol/interface/openapi.ts';
import { bases } from '../../../protocol/interface/operation.ts';
import { describedIds } from '../../../protocol/interface/operations/descriptions.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { ownPaths } from '../../../protocol/interface/own-paths.ts';
import { kinds } from '../../../protocol/schema/kind.ts';

const file = (name: string): string =>
  fileURLToPath(new URL(`../../../protocol/generated/${name}.json`, import.meta.url));
const committed = (name: string): unknown => JSON.parse(readFileSync(file(name), 'utf8'));

interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly responses: object;
}

interface OpenApi {
  readonly paths: Record<string, Record<string, OpenApiOperation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

async function findings(name: string, rules: Record<string, 'off'> = {}): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules });
  const problems = await lint({ ref: file(name), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

describe('the OpenAPI document', () => {
  const document = openApi() as OpenApi;

  it('equals the committed one', () => {
    expect(document).toEqual(committed('openapi'));
  });

  it('has no findings of a strict linter', async () => {
    expect(await findings('openapi')).toEqual([]);
  });

  it('lists every operation with its answers and errors', () => {
    for (const operation of operations) {
      const { side, path, method, answers, errors, deprecated } = operation;
      const described = document.paths[`${bases[side]}${path}`]?.[method.toLowerCase()];
      expect(described?.operationId).toBe(operationIdOf(operation));
      expect(described?.deprecated).toBe(deprecated);
      expect(Object.keys(described?.responses ?? {}).map(Number)).toEqual([
        ...Object.keys(answers).map(Number),
        ...(method === 'GET' ? [304] : []),
        ...errors,
      ]);
    }
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/openapi.json',
        '/live',
        '/vigie/v1/car',
        '/vigie/v1/agent',
        '/vigie/v1/signals/{name}',
      ]),
    );
  });

  test('every operation has a description that is longer than its summary and names its scopes', () => {
    const all = Object.values(document.paths).flatMap((path) => Object.values(path));
    const own = Object.values(ownPaths).flatMap((path) => Object.keys(path));
    expect(all).toHaveLength(operations.length + own.length);
    const words = (text = ''): number => text.split(/\s+/).filter((word) => word !== '').length;
    const short = all.filter(({ summary, description }) => words(description) <= words(summary));
    expect(short.map(({ operationId }) => operationId)).toEqual([]);
    for (const operation of operations) {
      const { side, path, method, scopes } = operation;
      const described = document.paths[`${bases[side]}${path}`]?.[method.toLowerCase()];
      const named = [...(described?.description ?? '').matchAll(/`((?:data|remote):[a-z:]+)`/g)].map(
        ([, name]) => name,
      );
      // Operations that any scope permits name no scope.
      const wanted = scopes.more === true ? [] : [...scopes.required, ...scopes.optional];
      expect([operation.id, named]).toEqual([operation.id, wanted]);
    }
  });

  test('every description belongs to an operation', () => {
    const ids = new Set(operations.flatMap(({ id, side }) => [id, id.slice(side.length + 1)]));
    expect(describedIds.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('has names that are valid in generated clients', () => {
    const names = [...operations.map(operationIdOf), ...Object.keys(document.components.schemas)];
    expect(names.filter((name) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(name))).toEqual([]);
    // Two schemas with one name on one side would get a number.
    expect(Object.keys(document.components.schemas).filter((name) => /\d$/.test(name))).toEqual([]);
  });
});

describe('the AsyncAPI document', () => {
  const document = asyncApi() as { readonly channels: Record<string, { readonly address: string }> };

  it('equals the committed one', () => {
    expect(document).toEqual(committed('asyncapi'));
  });

  it('follows its specification; security is omitted, because the document contains no brokers', async () => {
    expect(await findings('asyncapi', { 'security-defined': 'off' })).toEqual([]);
  });

  it('has a channel for every topic', () => {
    const addresses = Object.values(document.channels).map(({ address }) => address);
    const levels = kinds.map((kind) => (kind === 'catalog' ? 'catalog-{catalog}-{part}' : kind));
    const ups = levels.map((level) => `vigie/1/{vin}/up/${level}`);
    expect(addresses).toEqual(expect.arrayContaining(ups));
    expect(addresses).toEqual(expect.arrayContaining(['vigie/1/{vin}/presence', 'vigie/1/{vin}/down/remote']));
  });
});
