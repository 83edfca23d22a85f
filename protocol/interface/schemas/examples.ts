/** Request bodies that can be sent unchanged, only for the document: a server does not load them. */
import { remoteTypes } from '../../remote/table.ts';
import type { RequestName, Side } from '../operation.ts';
import { remoteKindsOf } from './delivery.ts';

/** Field `examples` of a media type. OpenAPI 3.1 §4.8.14. */
type Examples = Readonly<Record<string, { readonly summary: string; readonly value: object }>>;

/** A name that never resolves (RFC 2606 §2): an example sent unchanged notifies no server. */
const TARGET = 'https://receiver.example/notifications';

const triggerParam = {
  triggers: [{ name: 'fast', data: { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['130'] } }],
  boolExp: 'fast',
};
const extendedEventParam = ['vehicle.position'];

function remoteExamples(side: Side): Examples {
  return Object.fromEntries(
    remoteKindsOf(side).map(({ member, example: { summary, body } }) => [
      member,
      { summary, value: { label: summary, [member]: body } },
    ]),
  );
}

/** At least one example of each body. */
export const requestExamples: Readonly<Record<RequestName, Examples>> = {
  fleetMonitor: {
    speed: {
      summary: 'Report a speed above 130 km/h with the position',
      value: {
        label: 'Above 130 km/h',
        subscribeParam: {
          refreshEvent: 600,
          retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
          callback: {
            webhook: {
              target: TARGET,
              name: 'Fleet events',
              attributes: [{ type: 'Query', key: 'vin', value: '$vin' }],
            },
          },
        },
        extendedEventParam,
        triggerParam,
      },
    },
  },
  userMonitor: {
    speed: {
      summary: 'Report a speed above 130 km/h with the position',
      value: { label: 'Above 130 km/h', subscribeParam: { refreshEvent: 600 }, extendedEventParam, triggerParam },
    },
  },
  fleetCallback: {
    webhook: {
      summary: 'Send the states of all kinds of commands to a webhook',
      value: {
        label: 'States of commands',
        retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 },
        callback: { webhook: { target: TARGET, name: 'Fleet commands' } },
        remoteTypes: [...remoteTypes],
      },
    },
  },
  userCallback: {
    webhook: {
      summary: 'Send events of monitors and states of commands to a webhook',
      value: {
        label: 'My server',
        type: ['Monitor', 'Remote'],
        callback: {
          webhook: {
            target: TARGET,
            name: 'My server',
            attributes: [{ type: 'Header', key: 'X-Callback', value: '$CallbackID' }],
          },
        },
      },
    },
  },
  fleetRemote: remoteExamples('fleet'),
  userRemote: remoteExamples('user'),
  statusSetter: {
    resume: { summary: 'Resume', value: { status: 'Running' } },
    pause: { summary: 'Pause', value: { status: 'Paused' } },
  },
};
