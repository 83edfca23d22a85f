/** Captures for OpenAPI. Only a car with captures in its profile has them (docs/captures.md). */

/** Common parts of all paths of the server that are not in the interface. */
interface Common {
  readonly tag: string;
  readonly refusals: Readonly<Record<number, object>>;
  readonly refused: (description: string) => object;
}

const rights = 'A user needs `data:telemetry` and `data:position`.';

export const capturePaths = ({ tag, refusals, refused }: Common) => ({
  '/vigie/v1/captures': {
    get: {
      operationId: 'capturesGet',
      tags: [tag],
      summary: 'Lists the captures of raw frames that the car keeps.',
      description: `Oldest first, with cause, times, frames and bytes; \`complete\` when all parts are made. ${rights}`,
      responses: {
        200: {
          description: 'The captures.',
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        ...refusals,
        404: refused('The profile of the car asks for no captures.'),
      },
    },
  },
  '/vigie/v1/captures/{id}': {
    get: {
      operationId: 'captureGet',
      tags: [tag],
      summary: 'Reads the frames of a capture as a candump log.',
      description: `As \`candump -l\` of can-utils writes it. ${rights}`,
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'Id of the capture.', schema: { type: 'string' } },
      ],
      responses: {
        200: { description: 'The frames.', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...refusals,
        404: refused('There is no such capture.'),
      },
    },
  },
});
