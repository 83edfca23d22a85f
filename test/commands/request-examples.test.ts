/** Sends the request bodies that the OpenAPI document gives as examples to a running agent. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bases, type Operation } from '../../protocol/interface/operation.ts';
import { operations } from '../../protocol/interface/operations.ts';
import { InterfaceBench } from '../rig/interface.ts';
import { addressOf, type Ids } from '../rig/interface-bodies.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';

interface Media {
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}
interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
}

const file = new URL('../../protocol/generated/openapi.json', import.meta.url);
const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};

function examplesOf({ side, path, method }: Operation): [name: string, value: unknown][] {
  const { requestBody } = paths[`${bases[side]}${path}`]?.[method.toLowerCase()] ?? {};
  const { examples = {} } = requestBody?.content['application/json'] ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value]);
}

/**
 * First callbacks, then their status, then resources under them. The last status example is Paused, so nothing is sent
 * to the addresses in the examples.
 */
const order = ['callbacks.create', 'callbacks.setStatus', 'monitors.create', 'monitors.setStatus', 'remotes.create'];
const place = ({ id, side }: Operation): number => {
  const found = order.indexOf(id.slice(side.length + 1));
  return found < 0 ? order.length : found;
};
const withBody = operations.filter(({ body }) => body !== undefined).toSorted((a, b) => place(a) - place(b));

let bench: InterfaceBench;
const ids: Record<Operation['side'], Ids> = { fleet: { fid: 'local' }, user: {} };

beforeAll(async () => {
  bench = await InterfaceBench.start({ lived: false });
  const { json } = await bench.ask('GET', '/connectedcar/v4/user/vehicles');
  const vid = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
  ids.fleet['vid'] = vid;
  ids.user['id'] = vid;
});
afterAll(() => bench.close());

test('every operation with a request body has an example', () => {
  expect(withBody.length).toBeGreaterThan(0);
  expect(withBody.filter((one) => examplesOf(one).length === 0).map(({ id }) => id)).toEqual([]);
});

test('the agent accepts every example body unchanged and answers as documented', async () => {
  const document = new InterfaceDocument();
  let sent = 0;
  for (const operation of withBody) {
    const { id, side, method, answers } = operation;
    for (const [name, body] of examplesOf(operation)) {
      const answer = await bench.ask(method, addressOf(operation, ids[side]), { body });
      expect([id, name, String(answer.status), answer.text]).toEqual([id, name, ...Object.keys(answers), answer.text]);
      expect([id, name, document.faultsOf(operation, answer)]).toEqual([id, name, []]);
      sent++;
      const { callbackId, monitorId } = answer.json as { callbackId?: string; monitorId?: string };
      if (callbackId !== undefined) ids[side]['cbid'] = callbackId;
      if (monitorId !== undefined) ids[side]['mid'] = monitorId;
    }
  }
  expect(sent).toBeGreaterThanOrEqual(withBody.length);
});
