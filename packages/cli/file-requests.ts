import { answerOf } from '@wheelhouse/sdk'
import type { Identity } from './credentials/identity.ts'
import { Failure } from './failure.ts'
import { isRedirect, type Requests } from './requests.ts'

const MAX_REDIRECTS = 3

/**
 * Requests a file at a path of the platform, with more headers. Follows a redirect to the storage.
 * @returns a successful response @throws ApiError, Failure
 */
export type FetchFile = (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>

/** Creates a function that requests files. Only the platform gets the credential: the address of a redirect contains its own. */
export function createFileRequests(deps: {
  readonly server: string
  readonly identity: Identity
  readonly requests: Pick<Requests, 'fetchOnce' | 'sendAs'>
}): FetchFile {
  const { server, identity, requests } = deps

  async function fromStorage(
    address: string | null,
    from: string,
    headers: Readonly<Record<string, string>>,
    hops = 1,
  ) {
    const target = URL.parse(address ?? '', from)
    if (!target || !/^https?:$/.test(target.protocol) || hops > MAX_REDIRECTS)
      throw new Failure('refused', `${server} redirects the download to an address that cannot be used.`)
    const response = await requests.fetchOnce(new Request(target, { headers }))
    if (isRedirect(response)) {
      await response.body?.cancel()
      return await fromStorage(response.headers.get('Location'), target.href, headers, hops + 1)
    }
    if (response.ok) return response
    await response.body?.cancel()
    const { status } = response
    // The platform issues another address for the next attempt.
    const outcome = status >= 500 || status === 403 || status === 429 ? 'unreachable' : 'refused'
    throw new Failure(outcome, `The storage of the platform (${target.origin}) answered ${status}.`)
  }

  return async (path, more = {}) => {
    const url = new URL(path, server)
    if (url.origin !== server)
      throw new Failure(
        'refused',
        `${server} names a file at ${url.origin}, which does not get the credential.`,
      )
    // A compressed response has no ranges.
    const headers = { 'Accept-Encoding': 'identity', ...more }
    const response = await requests.sendAs(identity, new Request(url, { headers }), 'returned')
    if (isRedirect(response)) {
      await response.body?.cancel()
      return await fromStorage(response.headers.get('Location'), url.href, headers)
    }
    const error: unknown = response.ok ? undefined : await response.json().catch(() => undefined)
    return await answerOf(Promise.resolve({ data: response, error, response }))
  }
}
