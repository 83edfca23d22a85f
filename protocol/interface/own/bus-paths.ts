/** Frames on the buses, for OpenAPI. */
import { busFramesSchema, busIdentifiersSchema, busPrivacySchema, busValuesSchema } from './bus.ts';
import { BUS_SCOPE, MOST_SIGNALS } from './bus-access.ts';
import type { OwnPathParts } from './signal-paths.ts';

const PRIVACY =
  `A user needs the scope \`${BUS_SCOPE}\`. \`privacy\` says first, and whenever it changes, whether frames are shown: while the driver has chosen ` +
  'Full or Geolocation privacy, and while the car does not know what the driver chose, nothing else is sent.';

export const busPaths = ({ tag, refusals, refused }: OwnPathParts) => {
  const events = (schemas: readonly object[]): object => ({
    200: {
      description: 'Events. The schema is that of the data of one of them.',
      content: { 'text/event-stream': { schema: { anyOf: schemas } } },
    },
    ...refusals,
    404: refused('The car has no CAN bus to follow.'),
  });
  return {
    '/vigie/v1/bus': {
      get: {
        operationId: 'vigieBusGet',
        tags: [tag],
        summary: 'Follows the frames on the buses by identifier, for screens.',
        description:
          `Answers server-sent events (WHATWG HTML §9.2), ten times a second at most and only what changed. ${PRIVACY} \`identifiers\`: bus, identifier, and its ` +
          'message and signals in the DBC. `frames`: count, period, length, last bytes and changed bits of each identifier of which a frame came. The car does ' +
          'this work only while somebody follows.',
        responses: events([busPrivacySchema, busIdentifiersSchema, busFramesSchema]),
      },
    },
    '/vigie/v1/bus/signals': {
      get: {
        operationId: 'vigieBusSignalsGet',
        tags: [tag],
        summary: 'Follows the values of signals of the DBC, for plots.',
        description: `Answers server-sent events as \`/vigie/v1/bus\` does. ${PRIVACY} \`values\`: the newest value of each signal of which a frame came.`,
        parameters: [
          {
            name: 'signal',
            in: 'query',
            required: true,
            description: `Bus, identifier and signal, such as \`body/0A8/Speed\`; an identifier of 29 bits has eight digits. May be repeated, ${MOST_SIGNALS} times at most.`,
            schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MOST_SIGNALS },
          },
        ],
        responses: {
          ...events([busPrivacySchema, busValuesSchema]),
          400: refused('A signal has a wrong form or is not in the DBC.'),
        },
      },
    },
  };
};
