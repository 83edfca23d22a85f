/** What the server has beside the interface, described as OpenAPI paths. */

export const ownTag = { name: 'Server', description: 'The document itself, and changes as they happen.' };

const refused = (description: string): object => ({ description });

export const ownPaths = {
  '/openapi.json': {
    get: {
      operationId: 'openApiGet',
      tags: [ownTag.name],
      summary: 'Reads this document.',
      description:
        'Answers the OpenAPI 3.1 document of the interface as JSON, for generators of clients. No credentials are needed.',
      security: [],
      responses: {
        200: { description: 'The document.', content: { 'application/json': { schema: { type: 'object' } } } },
        421: refused('The request names a host that this server is not.'),
        429: refused('Too many requests.'),
      },
    },
  },
  '/live': {
    get: {
      operationId: 'liveGet',
      tags: [ownTag.name],
      summary: 'Follows what changes in the state of the car, for screens.',
      description:
        'Answers server-sent events (WHATWG HTML §9.2) until the reader disconnects. A reader that is slower than the car gets the latest value of each ' +
        'member, not every value. A fleet user sees all members; on the user side `data:telemetry` shows the members other ' +
        'than positions, and `data:position` shows positions.',
      security: [{ BasicAuth: [], ClientId: [] }, { UserToken: ['data:telemetry'] }, { UserToken: ['data:position'] }],
      responses: {
        200: { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        401: refused('The request does not prove whose it is.'),
        403: refused('The caller may not do this.'),
        406: refused('The caller takes no events.'),
        421: refused('The request names a host that this server is not.'),
        429: refused('Too many readers or requests.'),
        500: refused('A fault of the agent.'),
      },
    },
  },
} as const;
