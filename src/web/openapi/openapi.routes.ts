import { createHash } from 'node:crypto'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { describeApi } from './document.ts'

const PATH = '/api/openapi.json'

/** The endpoints together with the one that serves their description, its own included. */
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
      otherResponses: { 304: ['when it is still what the ETag in If-None-Match names'] },
      run: async ({ http }) => {
        const { text, etag } = description()
        http.etag = etag
        http.set('Cache-Control', 'no-cache') // to be asked for again, and answered 304 while it is the same
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
