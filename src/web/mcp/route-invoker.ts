import type { Context } from 'koa'
import { type Caller, type Endpoint, supportsIdempotencyKey } from '../../core/http/endpoint.ts'
import { type Idempotency, postFingerprint } from '../../core/http/idempotency.ts'
import { parseOptions } from '../../core/http/validation-messages.ts'
import type { Route } from './tools/tool.ts'

/** Who asks, and the request over HTTP that they ask in. */
export interface CallContext {
  readonly caller: Caller
  readonly http: Context
}

/** What a route is asked with, as it would come over REST. */
export interface RouteInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** As the header Idempotency-Key. */
  readonly idempotencyKey?: string | undefined
}

interface RouteResponse {
  readonly body: unknown
  /** It was carried out before, under the same key. */
  readonly replayed: boolean
  /** Entries of the list in all, where the route answers with a page and says so. */
  readonly total?: number | undefined
}

/** Calls routes of the REST API as REST would: the same access, the same checks, the same work. */
export interface RouteInvoker {
  /** @throws 403 when a route is not for this caller. */
  admit(route: Route, caller: Caller): void
  /** Admits the caller, checks the input, carries it out. @throws what REST would answer. */
  call(route: Route, input: RouteInput, context: CallContext): Promise<RouteResponse>
}

export type FindRoute = (route: Route) => Endpoint

/** @throws by whoever asks for a route that there is not. */
export function findRoutes(endpoints: readonly Endpoint[]): FindRoute {
  const known = new Map(endpoints.map((spec) => [`${spec.method.toUpperCase()} ${spec.path}`, spec]))
  return (route) => {
    const spec = known.get(route)
    if (!spec) throw new Error(`There is no route ${route}`)
    if (spec.media || spec.upload)
      throw new Error(`${route} is more than JSON, so it can only be asked over REST`)
    return spec
  }
}

export function createRouteInvoker(deps: {
  find: FindRoute
  authorize: (caller: Caller, access: Exclude<Endpoint['access'], 'public'>) => void
  once: Idempotency['once']
}): RouteInvoker {
  const { find, authorize, once } = deps
  const admit = (route: Route, caller: Caller) => {
    const { access } = find(route)
    if (access !== 'public') authorize(caller, access)
  }

  async function call(
    route: Route,
    given: RouteInput,
    { caller, http }: CallContext,
  ): Promise<RouteResponse> {
    admit(route, caller)
    const spec = find(route)
    let total: number | undefined
    const input = {
      caller,
      params: spec.params?.parse(given.params, parseOptions),
      query: spec.query?.parse(given.query ?? {}, parseOptions),
      body: spec.body?.parse(given.body, parseOptions),
      http: captureResponseHeaders(http, (name, value) => {
        if (name === 'X-Total-Count') total = Number(value)
      }),
    }
    const key = supportsIdempotencyKey(spec) ? given.idempotencyKey : undefined
    if (key === undefined) return { body: await spec.run(input), replayed: false, total }
    const fingerprint = postFingerprint(pathOf(spec, given), given.body)
    const { body, replayed = false } = await once({ scope: caller.userId, key, fingerprint }, async () => ({
      status: spec.response[0],
      body: await spec.run(input),
    }))
    return { body, replayed }
  }

  return { admit, call }
}

/** The request as a route may look at it. What the route says of its answer over REST goes to `set`. */
const captureResponseHeaders = (http: Context, set: (name: string, value: unknown) => void): Context =>
  Object.create(http, { set: { value: set } })

/** The path as it would be asked for over REST. */
const pathOf = ({ path }: Endpoint, { params = {} }: RouteInput) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]))
