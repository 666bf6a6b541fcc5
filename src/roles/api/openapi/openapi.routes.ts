import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import { createStaticContent } from '../../../core/http/static-content.ts'
import { describeApi } from './document.ts'

const PATH = '/api/openapi.json'

/** Returns the endpoints and the endpoint that serves the description of them all, itself included. */
export function withDescription(endpoints: readonly Endpoint[], baseUrl: string): Endpoint[] {
  const all: Endpoint[] = [...endpoints]
  const description = createStaticContent({
    type: 'json',
    load: () => JSON.stringify(describeApi({ endpoints: all, baseUrl })),
  })
  all.push(
    endpoint({
      method: 'get',
      path: PATH,
      summary: 'Returns this description of the API, as OpenAPI 3.1',
      access: 'public',
      response: [200],
      media: ['application/json'],
      otherResponses: { 304: ['when the ETag in If-None-Match still matches'] },
      run: ({ http }) => description.send(http),
    }),
  )
  return all
}
