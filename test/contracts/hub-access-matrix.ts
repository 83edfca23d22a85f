/**
 * Requests every route of a running hub as every kind of caller, and compares the answers with the access table and the
 * published scopes.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '../../assembly/view.ts';
import { signToken } from '../../hub/http/access.ts';
import type { HubOptions } from '../../hub/start/hub.ts';
import { defined } from '../../protocol/defined.ts';
import { type AccessRow, accessTable } from '../../protocol/interface/access.ts';
import { namedScopes, reservedScopes, scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { foreignSigner } from '../hub/hub-tokens.ts';
import { markedMessages, marks, PRIVATE } from '../hub/marked-messages.ts';
import { NORTH, RegisteredHub } from '../hub/registered-hub.ts';
import { addressOf, askAll, expectedOf, holds, type MatrixAnswer, published, rowKey } from '../rig/access-matrix.ts';

const ids = { fid: 'north', vid: idOf(NORTH), id: idOf(NORTH), vin: NORTH, tid: 'aa01', sid: 'aa05' };
const allScopes = [...scopeNames, ...namedScopes, 'data:bus', 'bench:write'];
const rows = accessTable.filter(({ servers }) => servers.includes('hub'));
const routes = rows.filter(({ principal }) => principal !== 'anyone');

/** `database` returns the options that choose the database. */
export function hubAccessContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`the routes of a hub on ${name}`, () => {
    const rig = new RegisteredHub();
    const signIn = { issuer: 'http://127.0.0.1:9', clientId: 'vigie', scope: 'openid', groups: 'groups', permits: [] };

    beforeAll(async () => {
      await rig.start({ ...(await database()), signIn, metrics: 0 });
      await rig.publish(NORTH, ...markedMessages);
      const all = await rig.bearer({ fleets: ['north'], scopes: scopeNames });
      const places = { navigation: { positions: [{ coordinates: [2.294513, 48.858415] }] } };
      expect((await rig.ask(`/vigie/v1/vehicles/${NORTH}/remotes`, all, places)).status).toBe(202);
    });
    afterAll(() => rig.remove());

    const ask = (asked: readonly AccessRow[], authorization?: string): Promise<readonly MatrixAnswer[]> =>
      askAll(asked, (row) => ({
        url: `${rig.hub.interface.url}${addressOf(row, ids)}`,
        headers: defined({ authorization }),
      }));

    test('the hub serves exactly the routes of the access table', () => {
      const served = rig.hub.interface.routes.filter(({ path }) => !path.endsWith('/stolen/'));
      expect(served.map(rowKey).sort()).toEqual(rows.map(rowKey).sort());
    });

    test('only open routes answer requests without credentials, with another hub’s or with expired ones', async () => {
      const times = { issued: Date.now() - 900_000, expires: Date.now() - 300_000 };
      const foreign = { id: randomUUID(), name: 'ops', fleets: ['north'], scopes: allScopes, issued: Date.now() };
      const callers = [
        undefined,
        await rig.bearer({ fleets: ['north'], scopes: allScopes, ...times }),
        `Bearer ${await signToken(foreignSigner, { ...foreign, expires: Date.now() + 600_000 })}`,
        'Bearer none',
      ];
      for (const caller of callers) {
        for (const { row, status } of await ask(routes, caller)) {
          expect([rowKey(row), [401, 429].includes(status)]).toEqual([rowKey(row), true]);
        }
      }
      for (const { row, status } of await ask(rows.filter(({ principal }) => principal === 'anyone'))) {
        expect([rowKey(row), [401, 403, 404].includes(status)]).toEqual([rowKey(row), false]);
      }
    });

    test.each(['fleet', 'user'] as const)(
      'a %s token with a single scope gets exactly the access that the table allows',
      async (kind) => {
        for (const scope of allScopes) {
          const isReserved = kind === 'user' && (reservedScopes as readonly string[]).includes(scope);
          const token = isReserved
            ? await rig.forged('ada', { scope })
            : await rig.bearer({ scopes: [scope], ...(kind === 'user' ? { name: 'ada' } : { fleets: ['north'] }) });
          const held = new Set(isReserved ? [] : [scope]);
          for (const { row, status, text } of await ask(routes, token)) {
            const expected = expectedOf(row, kind, held);
            expect([scope, rowKey(row), status === 403 ? 'refused' : 'admitted']).toEqual([
              scope,
              rowKey(row),
              expected,
            ]);
            for (const [other, mark] of Object.entries(marks)) {
              if (!held.has(other))
                expect([scope, rowKey(row), other, mark.test(text)]).toEqual([scope, rowKey(row), other, false]);
            }
            if (kind === 'fleet') expect([rowKey(row), text.includes(PRIVATE)]).toEqual([rowKey(row), false]);
          }
        }
      },
    );

    test('a token with all scopes can use every route of its side, and reads existing data', async () => {
      const token = await rig.bearer({ fleets: ['north'], scopes: allScopes });
      const answers = await ask(routes, token);
      for (const { row, status } of answers) {
        expect([rowKey(row), status === 403]).toEqual([rowKey(row), row.principal === 'user']);
      }
      // Otherwise only the id itself may not exist.
      const unread = answers.filter(({ row, status }) => {
        return (
          row.method === 'GET' &&
          row.principal !== 'user' &&
          status !== 200 &&
          !/\{(cbid|mid|rid|oid|cid|name)\}/.test(row.path)
        );
      });
      expect(unread.map(({ row, status }) => [rowKey(row), status])).toEqual([]);
    });

    test.each([
      ['another fleet', { fleets: ['south'] }],
      ['another user', { name: 'bob' }],
    ] as const)('a token of %s with all scopes gets no data of the car', async (_name, holder) => {
      const kind = 'fleets' in holder ? 'fleet' : 'user';
      const scopes =
        kind === 'user'
          ? allScopes.filter((scope) => !(reservedScopes as readonly string[]).includes(scope))
          : allScopes;
      const token = await rig.bearer({ ...(kind === 'user' ? { name: 'bob' } : { fleets: ['south'] }), scopes });
      for (const { row, status, text } of await ask(routes, token)) {
        const namesCar = /\{(vid|id|vin|fid)\}/.test(row.path);
        // The form of a request is checked before the car is looked up.
        if (namesCar) expect([rowKey(row), [400, 403, 404, 415].includes(status)]).toEqual([rowKey(row), true]);
        for (const mark of Object.values(marks)) expect([rowKey(row), mark.test(text)]).toEqual([rowKey(row), false]);
        if (!namesCar) expect([rowKey(row), text.includes(NORTH)]).toEqual([rowKey(row), false]);
      }
    });

    test('the user side accepts exactly the published scopes', async () => {
      for (const { row, scopes } of published('user')) {
        const all = await rig.bearer({ name: 'ada', scopes });
        const [admitted] = await ask([row], all);
        if (scopes.length > 0) expect([rowKey(row), admitted?.status === 403]).toEqual([rowKey(row), false]);
        for (const scope of scopeNames.filter((one) => !scopes.includes(one))) {
          expect([rowKey(row), scope, holds(row, new Set([scope]))]).toEqual([
            rowKey(row),
            scope,
            // The list of vehicles and the user resource need any one scope (interface §3).
            row.scopes.more === true || scopes.length === 0,
          ]);
        }
      }
    });

    test('metrics and health have their own port, need no credentials and contain no data of cars', async () => {
      const beside = accessTable.filter(({ servers }) => servers.includes('hub metrics'));
      for (const { path } of beside) {
        const answer = await fetch(`http://${rig.hub.metrics}${path}`);
        expect([path, answer.status]).toEqual([path, 200]);
        expect(await answer.text()).not.toContain(NORTH);
      }
      const missing = await fetch(`http://${rig.hub.metrics}/fleets`);
      expect([missing.status, await missing.text()]).toEqual([404, 'there are /metrics and /health\n']);
    });
  });
}
