import { createHash } from 'node:crypto'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { describeApi } from './document.ts'

const PATH = '/api/openapi.json'

/** Returns the endpoints and the endpoint that serves the description of them all, itself included. */
export function withDescription(endpoints: readonly Endpoint[], baseUrl: string): Endpoint[] {
  const all: Endpoint[] = [...endpoints]
  let cached: { text: string; etag: string } | undefined
  const description = () => {
    cached ??= withEtag(JSON.stringify(describeApi({ endpoints: all, baseUrl })))
    return cached
  }
  all.push(
    endpoint({
      method: 'get',
      path: PATH,
      summary: 'Returns this description of the API, as OpenAPI 3.1',
      access: 'public',
      response: [200],
      media: ['application/json'],
      otherResponses: { 304: ['when the ETag in If-None-Match still matches'] },
      run: async ({ http }) => {
        const { text, etag } = description()
        http.etag = etag
        http.set('Cache-Control', 'no-cache') // caches must revalidate, and get 304 while it is unchanged
        if (http.fresh) http.status = 304
        else {
          http.type = 'json'
          http.body = text
        }
      },
    }),
  )
  return all
}

const withEtag = (text: string) => ({ text, etag: createHash('sha256').update(text).digest('base64url') })
