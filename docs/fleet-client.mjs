// Locks a car of a fleet at a hub and prints each state of the command, which the hub sends to a webhook of this
// program. Needs nothing but Node:   node fleet-client.mjs http://127.0.0.1:8080 local VF3VGEBENCH000001
// VIGIE_TOKEN: for a hub with registered cars, a fleet token with data:telemetry, remote:door:write, hub:monitor:write.
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const [hub, fleet, vin] = process.argv.slice(2);
const token = process.env.VIGIE_TOKEN;
const FINAL = ['Success', 'AlreadyDone', 'Failed'];

async function ask(method, path, body, more = {}) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }), ...more };
  const response = await fetch(new URL(path, hub), { method, headers, body: body && JSON.stringify(body) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
  return answer && JSON.parse(answer);
}

/** Whether the hub signed the body with the secret within the last minutes. */
function isSigned(header = '', body, secret) {
  const { t, v1 = '' } = Object.fromEntries(header.split(',').map((part) => part.split('=')));
  const wanted = createHmac('sha256', secret).update(`${t}.${body}`).digest();
  const given = Buffer.from(v1, 'hex');
  return given.length === wanted.length && timingSafeEqual(given, wanted) && Math.abs(Date.now() / 1000 - t) < 300;
}

let vehicle;
for (let page = `/fleets/${fleet}/vehicles`; page && !vehicle; ) {
  const { _embedded, _links } = await ask('GET', page);
  vehicle = _embedded.vehicles.find((one) => one.vin === vin);
  page = _links.next?.href;
}
if (vehicle === undefined) throw new Error(`${vin} is not in the fleet ${fleet}`);

const secret = randomBytes(32).toString('hex');
const seen = new Set(); // An event may arrive again, with the same id.
const { promise: ended, resolve: end } = Promise.withResolvers();
const server = createServer(async (request, response) => {
  const body = await text(request);
  const { 'vigie-signature': signature, 'vigie-event-id': id } = request.headers;
  const signed = isSigned(signature, body, secret);
  response.writeHead(signed ? 204 : 401).end();
  if (!signed || seen.has(id)) return;
  seen.add(id);
  for (const { eventDate, eventStatus } of JSON.parse(body).events) {
    console.log(eventDate, eventStatus.status, eventStatus.failureCause ?? '');
    if (FINAL.includes(eventStatus.status)) end(eventStatus.status);
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const webhook = { name: 'fleet-client', target: `http://127.0.0.1:${server.address().port}/`, secret };
const callbacks = `/fleets/${fleet}/remote/callbacks`;
const { callbackId } = await ask('POST', callbacks, { label: 'client', callback: { webhook }, remoteTypes: ['Doors'] });
const remotes = `/fleets/${fleet}/vehicles/${vehicle.id}/callbacks/${callbackId}/remotes`;
await ask('POST', remotes, { door: { state: 'Locked' } }, { 'idempotency-key': randomUUID() });
process.exitCode = (await ended) === 'Failed' ? 1 : 0;
await ask('DELETE', `${callbacks}/${callbackId}`);
server.close();
