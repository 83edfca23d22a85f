/** The connected-vehicle interface over HTTP: `vigie/http`. Needs `hono`, `@hono/node-server` and `jose`. */
import type { HttpConfiguration } from '../../config/http.ts';
import { defaultsOf, type InterfaceSettings, interfaceSettings } from '../../protocol/settings.ts';
import type { InterfaceOptions } from '../interface.ts';
import { checkValue, type OptionRule } from './checks.ts';

/** HTTP interface that the agent serves. */
export interface HttpInterface {
  readonly http: InterfaceOptions['http'];
}

const PORT_RULE: OptionRule = [
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
  'a port from 0 to 65535',
];

/** Both APIs of the interface on the loopback address, without access control. @param port 0: any free port */
export function localInterface(port = 0): HttpInterface {
  checkValue(port, PORT_RULE, 'localInterface');
  return { http: { local: true, port } };
}

export type GuardedInterface = Omit<HttpConfiguration, keyof InterfaceSettings | 'vehicle'> &
  Partial<InterfaceSettings> &
  Partial<Pick<HttpConfiguration, 'vehicle'>>;

/** The interface with its users and bearer tokens, like the section `http` of vigie.yaml; paths must be absolute. */
export function httpInterface(options: GuardedInterface): HttpInterface {
  return { http: { ...defaultsOf(interfaceSettings), vehicle: {}, ...options } };
}
