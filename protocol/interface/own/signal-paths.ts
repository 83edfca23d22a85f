/** Custom signals for OpenAPI. Only a car with custom signals in its profile has them (docs/signals.md). */

/** Common parts of all paths of the server that are not in the interface. */
export interface OwnPathParts {
  readonly tag: string;
  readonly refusals: Readonly<Record<number, object>>;
  readonly refused: (description: string) => object;
}

const nameParameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the signal in the profile.',
  schema: { type: 'string' },
};

export const queryParameter = (name: string, description: string, schema: object) => ({
  name,
  in: 'query',
  description,
  schema,
});

export const answered = (description: string, schema: object = { type: 'object' }): object => ({
  description,
  content: { 'application/json': { schema } },
});

export const signalPaths = ({ tag, refusals, refused }: OwnPathParts) => ({
  '/vigie/v1/signals': {
    get: {
      operationId: 'signalsGet',
      tags: [tag],
      summary: 'Reads all custom signals as they stand.',
      description: 'Signals that say where the car is need `data:position`, all others `data:telemetry`.',
      responses: {
        200: answered('The signals, in the order of the profile.'),
        ...refusals,
        404: refused('The car has no such signal, or no custom signals at all.'),
      },
    },
  },
  '/vigie/v1/signals/{name}': {
    get: {
      operationId: 'signalGet',
      tags: [tag],
      summary: 'Reads one custom signal as it stands.',
      description: 'Without a value where the car has not said it, and where privacy hides it.',
      parameters: [nameParameter],
      responses: {
        200: answered('The signal.'),
        ...refusals,
        404: refused('The car has no such signal, or no custom signals at all.'),
      },
    },
  },
  '/vigie/v1/signals/{name}/history': {
    get: {
      operationId: 'signalHistoryGet',
      tags: [tag],
      summary: 'Reads what was recorded of a custom signal.',
      description:
        'Readings of the period by ascending time, also those recorded under earlier profiles. What is still being gathered, ' +
        'for a minute at most, is not among them. With `more` the period has further readings.',
      parameters: [
        nameParameter,
        queryParameter('from', 'First moment; an hour before `to` unless given.', {
          type: 'string',
          format: 'date-time',
        }),
        queryParameter('to', 'Moment before which it ends; now unless given.', { type: 'string', format: 'date-time' }),
        queryParameter('limit', 'Most readings.', { type: 'integer', minimum: 1, maximum: 10_000, default: 10_000 }),
      ],
      responses: {
        200: answered('The readings.'),
        400: refused('A parameter has a wrong form.'),
        ...refusals,
        404: refused('The car has no such signal, or no custom signals at all.'),
      },
    },
  },
  '/vigie/v1/live': {
    get: {
      operationId: 'signalsLiveGet',
      tags: [tag],
      summary: 'Follows what changes of the custom signals, for screens.',
      description:
        'Answers server-sent events as `/live` does: `change` with the value, `removed` when the car says that there is none.',
      responses: {
        200: { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        ...refusals,
        404: refused('The car has no such signal, or no custom signals at all.'),
      },
    },
  },
});
