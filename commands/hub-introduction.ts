/** First lines that a hub prints: all addresses and folders, and who may use it. */

import type { Hub } from '../hub/start/hub.ts';
import { defined } from '../protocol/defined.ts';
import { programName } from './program-name.ts';

interface IntroducedHub {
  readonly data: string;
  readonly isPostgres: boolean;
  /** Name of the hub in its certificate. */
  readonly name?: string;
}

/** Largest number of fleets that the lines list. */
const MAX_FLEETS = 3;

export function introduction(hub: Hub, { data, isPostgres, name }: IntroducedHub): string {
  const { broker, enrolment, metrics, trust } = hub;
  const { url } = hub.interface;
  const { fleet = 'local', cars, page } = hub.fleets === undefined ? withoutRegistry(hub) : withRegistry(hub, data);
  return `ready: hub on ${broker}
${enrolment === undefined ? '' : `Cars get their certificates from https://${name}:${enrolment} (vigie enroll).\n`}${cars}
The page: ${page}
The HTTP interface: ${url}/docs for people, ${url}/fleets/${fleet}/vehicles and ${url}/user/vehicles for programs,
${url}/vigie/v1/vehicles/{VIN}/numbers for what of a car arrived and what is missing,
${url}/vigie/v1/vehicles/{VIN}/remotes for commands; a car obeys that has ${trust} as its trust file.
${metrics === undefined ? '' : `Metrics: http://${metrics}/metrics\n`}${isPostgres ? 'The messages are in PostgreSQL, the keys' : 'Everything is'} in ${data}; a second start goes on with it.
Ctrl-C ends the hub.
`;
}

interface Access {
  readonly fleet?: string;
  readonly cars: string;
  readonly page: string;
}

function withoutRegistry({ broker, interface: { url } }: Hub): Access {
  return {
    cars: `Cars publish to ${broker}; each car is known from its first message on.`,
    page: `${url}/ shows all cars.`,
  };
}

function withRegistry({ broker, fleets = [], interface: { url } }: Hub, data: string): Access {
  const [fleet] = fleets;
  const more = fleets.length > MAX_FLEETS ? ', …' : '';
  const named = fleets.length === 0 ? '' : ` of the fleets ${fleets.slice(0, MAX_FLEETS).join(', ')}${more}`;
  const owner = fleet === undefined ? '--user USER' : `--fleet ${fleet}`;
  return {
    ...defined({ fleet }),
    cars: `Registered cars publish to ${broker}; other cars are refused (${programName} hub list).`,
    page: `${url}/ shows the cars${named} to those who have a token, as does the interface:
  ${programName} hub token ${owner} --data ${data}`,
  };
}
