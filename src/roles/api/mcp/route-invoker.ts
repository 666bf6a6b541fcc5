import type { Context } from 'koa'
import { type Caller, type Endpoint, supportsIdempotencyKey } from '../../../core/http/endpoint.ts'
import { type Idempotency, idempotencyScope, postFingerprint } from '../../../core/http/idempotency.ts'
import { parseOptions } from '../../../core/http/validation-messages.ts'
import type { ThreadTime } from '../../../core/process/thread-time.ts'
import type { Route } from './tools/tool.ts'

/** The caller, and the HTTP request of the call. */
export interface CallContext {
  readonly caller: Caller
  readonly http: Context
}

/** The input of a route, as a REST request contains it. */
export interface RouteInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** The value of the header Idempotency-Key. */
  readonly idempotencyKey?: string | undefined
}

interface RouteResponse {
  readonly body: unknown
  /** True for the stored response to an earlier request with the same key. */
  readonly replayed: boolean
  /** The total number of entries of a paged list. */
  readonly total?: number | undefined
}

/** Calls routes of the REST API with the same authorization and validation as over REST. */
export interface RouteInvoker {
  /**
   * Authorizes a caller for a route.
   * @throws 403 when the route does not allow this caller.
   */
  admit(route: Route, caller: Caller): void
  /**
   * Authorizes the caller, validates the input and runs the route.
   * @throws the error that REST would send.
   */
  call(route: Route, input: RouteInput, context: CallContext): Promise<RouteResponse>
}

export type FindRoute = (route: Route) => Endpoint

/** Returns a function that finds a route by method and path. The function throws for an unknown route. */
export function findRoutes(endpoints: readonly Endpoint[]): FindRoute {
  const known = new Map(endpoints.map((spec) => [`${spec.method.toUpperCase()} ${spec.path}`, spec]))
  return (route) => {
    const spec = known.get(route)
    if (!spec) throw new Error(`The route ${route} does not exist`)
    if (spec.media || spec.upload)
      throw new Error(`${route} does not use JSON only, so only REST can call it`)
    return spec
  }
}

export function createRouteInvoker(deps: {
  find: FindRoute
  authorize: (caller: Caller, access: Exclude<Endpoint['access'], 'public'>, method: string) => void
  once: Idempotency['once']
  threadTime: ThreadTime
}): RouteInvoker {
  const { find, authorize, once, threadTime } = deps
  const admit = (route: Route, caller: Caller) => {
    const { access, method } = find(route)
    if (access !== 'public') authorize(caller, access, method)
  }

  async function call(
    route: Route,
    given: RouteInput,
    { caller, http }: CallContext,
  ): Promise<RouteResponse> {
    admit(route, caller)
    const spec = find(route)
    let total: number | undefined
    const step = <T>(work: () => T): T => threadTime.measure(route, caller.userId, work)
    const input = step(() => ({
      caller,
      params: spec.params?.parse(given.params, parseOptions),
      query: spec.query?.parse(given.query ?? {}, parseOptions),
      body: spec.body?.parse(given.body, parseOptions),
      text: '',
      http: captureResponseHeaders(http, (name, value) => {
        if (name === 'X-Total-Count') total = Number(value)
      }),
    }))
    const key = supportsIdempotencyKey(spec) ? given.idempotencyKey : undefined
    if (key === undefined) return { body: await step(() => spec.run(input)), replayed: false, total }
    const fingerprint = postFingerprint(pathOf(spec, given), given.body)
    const { body, replayed = false } = await once(
      { scope: idempotencyScope(caller), key, fingerprint },
      async () => ({
        status: spec.response[0],
        body: await step(() => spec.run(input)),
      }),
    )
    return { body, replayed }
  }

  return { admit, call }
}

/** Returns the request for a route. Response headers that the route sets are passed to `set`. */
const captureResponseHeaders = (http: Context, set: (name: string, value: unknown) => void): Context =>
  Object.create(http, { set: { value: set } })

/** Returns the path of the equivalent REST request. */
const pathOf = ({ path }: Endpoint, { params = {} }: RouteInput) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]))
