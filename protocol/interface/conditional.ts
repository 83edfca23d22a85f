/** Conditional requests (RFC 9110 §13) in the OpenAPI documents. */

export const conditionalComponents = {
  parameters: {
    IfNoneMatch: {
      name: 'If-None-Match',
      in: 'header',
      required: false,
      description: 'The `ETag` of the answer that the client has. RFC 9110 §13.1.2.',
      schema: { type: 'string' },
    },
  },
  headers: { ETag: { description: 'Names this answer. RFC 9110 §8.8.3.', schema: { type: 'string' } } },
  responses: {
    NotModified: {
      description: 'The client has the answer already.',
      headers: { ETag: { $ref: '#/components/headers/ETag' } },
    },
  },
};

/** Optional headers of every GET that is not a stream, and of its responses. */
export const conditional = {
  parameter: { $ref: '#/components/parameters/IfNoneMatch' },
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
  responses: { 304: { $ref: '#/components/responses/NotModified' } },
};
